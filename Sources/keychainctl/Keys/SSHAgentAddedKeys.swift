// SPDX-License-Identifier: Apache-2.0
// The keys that clients have added to an SSH agent. They are in no file and not in the vault.

import Foundation
import KeychainAuthenticators
import KeychainKeys
import KeychainKit
import SecretMemory

/// What the client that adds a key demands of the agent.
struct SSHAgentConstraints: Equatable {
    /// The key is removed after that time.
    var lifetime: Duration?
    /// The user is asked about each use.
    var needsConfirmation = false

    /// - Returns: `nil` if a constraint is unknown, given twice or malformed: the agent could not observe it.
    static func read(_ reader: inout SSHMessageReader) -> SSHAgentConstraints? {
        var constraints = SSHAgentConstraints()
        while !reader.isAtEnd {
            switch reader.byte() {
            case 1:
                guard constraints.lifetime == nil, let seconds = reader.number(), seconds > 0 else { return nil }
                constraints.lifetime = .seconds(seconds)
            case 2:
                guard !constraints.needsConfirmation else { return nil }
                constraints.needsConfirmation = true
            default: return nil
            }
        }
        return constraints
    }
}

/// Private keys in secret memory, wiped when they are removed, when their lifetime ends, and with this object.
final class SSHAgentAddedKeys {
    struct Added {
        let key: PrivateKey
        let encoding: Data
        let comment: String
        let needsConfirmation: Bool
        let end: ContinuousClock.Instant?
    }

    /// Limits the memory that clients can take, and the length of the list of keys.
    static let most = 128
    static let longestComment = 1024

    private var keys: [Added] = []
    private let now: () -> ContinuousClock.Instant

    /// - Parameter now: The time. It also passes while the machine sleeps.
    init(now: @escaping () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// In the order in which they were added.
    var all: [Added] {
        removeExpired()
        return keys
    }

    func key(_ encoding: Data) -> Added? { all.first { $0.encoding == encoding } }

    /// Adds a key. A key that is there already gets the new comment and constraints.
    func add(_ key: PrivateKey, _ comment: String, _ constraints: SSHAgentConstraints) throws(KeychainError) {
        guard let encoding = key.publicKey.sshEncoding, comment.utf8.count <= Self.longestComment else {
            throw KeychainError(
                .tooLarge, "A key was not added: its comment has more than \(Self.longestComment) bytes.")
        }
        let added = Added(
            key: key, encoding: encoding, comment: comment.escapingControls(),
            needsConfirmation: constraints.needsConfirmation, end: constraints.lifetime.map { now() + $0 })
        removeExpired()
        if let index = keys.firstIndex(where: { $0.encoding == encoding }) { return keys[index] = added }
        guard keys.count < Self.most else {
            throw KeychainError(.tooLarge, "A key was not added: the agent has \(Self.most). Remove some: ssh-add -D")
        }
        keys.append(added)
    }

    /// - Returns: Whether it was there.
    func remove(_ encoding: Data) -> Bool {
        guard let index = all.firstIndex(where: { $0.encoding == encoding }) else { return false }
        keys.remove(at: index)
        return true
    }

    func removeAll() { keys = [] }

    /// Wipes keys whose lifetime is over. Call it often: until then nobody can use them, but they are in memory.
    func removeExpired() {
        guard keys.contains(where: { $0.end != nil }) else { return }
        let now = now()
        keys.removeAll { $0.end.map { $0 <= now } ?? false }
    }
}
