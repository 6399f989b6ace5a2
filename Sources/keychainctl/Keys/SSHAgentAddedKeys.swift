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

    /// - Returns: `nil` if a constraint is unknown, given twice or malformed: the agent could not enforce it.
    static func read(_ reader: inout SSHReader) -> SSHAgentConstraints? {
        var constraints = SSHAgentConstraints()
        while !reader.isAtEnd {
            switch try? reader.byte() {
            case 1:
                guard constraints.lifetime == nil, let seconds = try? reader.number(), seconds > 0 else { return nil }
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

        /// The length of its entry in the list of keys.
        var listedLength: Int { SSHAgentList.length(of: (encoding, comment)) }
    }

    /// Limits the memory that clients can take.
    static let most = 128
    /// In bits. Smaller RSA keys sign only if they were imported into the vault.
    static let smallestRSA = 2048
    /// The bytes of these keys in the list of keys: half of it, since keys of the vault are in it as well.
    static let longestList = SSHAgentList.longest / 2

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
        // Escaped before it is measured: a control character becomes several bytes.
        let comment = comment.escapingControls()
        guard let encoding = key.publicKey.sshEncoding, comment.utf8.count <= SSHAgentList.longestComment else {
            throw KeychainError(
                .tooLarge, "A key was not added: its comment has more than \(SSHAgentList.longestComment) bytes.")
        }
        let added = Added(
            key: key, encoding: encoding, comment: comment,
            needsConfirmation: constraints.needsConfirmation, end: constraints.lifetime.map { now() + $0 })
        removeExpired()
        let index = keys.firstIndex { $0.encoding == encoding } ?? keys.count
        try checkRoom(for: added, beside: keys[..<index] + keys[index...].dropFirst())
        keys.replaceSubrange(index..<min(index + 1, keys.count), with: [added])
    }

    private func checkRoom(for key: Added, beside others: ArraySlice<Added>) throws(KeychainError) {
        let length = others.reduce(key.listedLength) { $0 + $1.listedLength }
        guard others.count < Self.most, length <= Self.longestList else {
            throw KeychainError(
                .tooLarge,
                "A key was not added: the agent has \(others.count) others and no room for it. Remove some: ssh-add -D")
        }
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
