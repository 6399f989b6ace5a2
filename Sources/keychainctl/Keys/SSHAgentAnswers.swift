// SPDX-License-Identifier: Apache-2.0
// The answers of an SSH agent to messages of its clients (draft-ietf-sshm-ssh-agent), without sockets.

import Crypto
import Foundation
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import SecretMemory

/// The keys that an agent offers.
protocol SSHAgentKeys {
    /// The public keys with their comments. A key may be there several times.
    func identities() throws(KeychainError) -> [SSHAgentList.Identity]
    /// - Returns: `nil` if there is no such key.
    func key(_ encoding: Data) throws(KeychainError) -> OpenSigningKey?
    /// How to open a key that is in hardware, which may take a minute to answer. `nil` for all others.
    func opening(_ encoding: Data) throws(KeychainError) -> Opening?
}

extension SSHAgentKeys {
    typealias Opening = @Sendable () throws(KeychainError) -> OpenSigningKey?

    func opening(_ encoding: Data) throws(KeychainError) -> Opening? { nil }
}

/// It lists keys and signs with them. Clients can add and remove keys of their own, and lock the agent.
final class SSHAgentAnswers<Keys: SSHAgentKeys> {
    /// Asks the user a question of several lines.
    typealias Confirming = ([String]) throws(KeychainError) -> Bool

    private static var failure: Data { Data([5]) }
    private static var success: Data { Data([6]) }

    private let keys: Keys
    private let added: SSHAgentAddedKeys
    private let confirm: Confirming
    private let complain: (String) -> Void
    /// A digest of the passphrase that a client has locked the agent with.
    private var lock: SHA256Digest?
    private let salt = SymmetricKey(size: .bits256)
    private var wrongPassphrases: UInt32 = 0

    /// - Parameters:
    ///   - keys: The keys of the vault.
    ///   - added: The keys of clients.
    ///   - confirm: Asks about the use of keys that were added so.
    ///   - complain: Takes why a request failed: the protocol has no words for it.
    init(
        _ keys: Keys, added: SSHAgentAddedKeys, confirm: @escaping Confirming, complain: @escaping (String) -> Void
    ) {
        (self.keys, self.added, self.confirm, self.complain) = (keys, added, confirm, complain)
    }

    /// The answer, also if it waits for hardware.
    func answer(to message: SecretBytes) -> Data {
        switch reply(to: message) {
        case .now(let answer): answer
        case .later(let work): self.message(of: work())
        }
    }

    func reply(to message: SecretBytes) -> SSHAgentAnswer {
        defer { scrubResidue() }
        var reader = SSHReader(message)
        guard let number = try? reader.byte(), let request = SSHAgentRequest(rawValue: number) else {
            return .now(Self.failure)
        }
        do throws(KeychainError) {
            return try lock == nil ? answer(to: request, &reader) : .now(answerLocked(request, &reader))
        } catch {
            return .now(self.message(of: .failure(error)))
        }
    }

    func message(of result: Result<Data, KeychainError>) -> Data {
        do throws(KeychainError) {
            return try result.get()
        } catch {
            complain(error.message)
            return Self.failure
        }
    }

    private func answer(to request: SSHAgentRequest, _ reader: inout SSHReader) throws(KeychainError) -> SSHAgentAnswer
    {
        switch request {
        case .identities: .now(try identities())
        case .sign: try signature(&reader)
        case .add, .addConstrained: .now(try add(&reader, isConstrained: request == .addConstrained))
        case .remove: .now(remove(&reader))
        case .removeAll: .now(removeAll(reader))
        case .lock: .now(setLock(&reader))
        case .unlock: .now(Self.failure)
        }
    }

    private func answerLocked(_ request: SSHAgentRequest, _ reader: inout SSHReader) -> Data {
        switch request {
        case .identities: list([])
        case .unlock: removeLock(&reader)
        default: Self.failure
        }
    }

    // MARK: - Listing and signing

    /// Keys that were added come first: the client that added one wants it.
    private func identities() throws(KeychainError) -> Data {
        let added: [SSHAgentList.Identity] = added.all.map { ($0.encoding, $0.comment) }
        let ofVault: [SSHAgentList.Identity]
        do throws(KeychainError) {
            ofVault = try keys.identities()
        } catch {
            // A vault that is locked does not take away keys that are not in it.
            guard !added.isEmpty else { throw error }
            complain(error.message)
            return list(added)
        }
        return list(added + ofVault)
    }

    private func list(_ identities: [SSHAgentList.Identity]) -> Data {
        let list = SSHAgentList(identities)
        if let complaint = list.complaint { complain(complaint) }
        return list.message
    }

    private func signature(_ reader: inout SSHReader) throws(KeychainError) -> SSHAgentAnswer {
        guard let encoding = try? reader.data(), let data = try? reader.data(), let flags = try? reader.number(),
            reader.isAtEnd
        else { return .now(Self.failure) }
        // Without a flag it is SHA-1 for RSA, which is refused.
        let hash: KeyHash = flags & 4 != 0 ? .sha512 : flags & 2 != 0 ? .sha256 : .sha1
        guard added.key(encoding) == nil, let opening = try keys.opening(encoding) else {
            return .now(try Self.signature(by: key(encoding), data, hash))
        }
        return .later {
            defer { scrubResidue() }
            return Result { () throws(KeychainError) in try Self.signature(by: opening(), data, hash) }
        }
    }

    private static func signature(
        by key: OpenSigningKey?, _ data: Data, _ hash: KeyHash
    ) throws(KeychainError) -> Data {
        guard let key else { return failure }
        var answer = SSHMessageWriter(14)
        answer.string(try key.sshSignature(of: data, rsaHash: hash))
        return answer.message
    }

    /// A key that was added is used with its constraints, also if the vault has the same key.
    private func key(_ encoding: Data) throws(KeychainError) -> OpenSigningKey? {
        guard let question = question(encoding) else {
            if let key = added.key(encoding)?.key { return .software(key) }
            return try keys.key(encoding)
        }
        guard try confirm(question) else { throw Self.refused }
        // Its lifetime may have ended while the question was open.
        return added.key(encoding).map { .software($0.key) }
    }

    /// - Returns: `nil` if the key may be used without one. The key itself is not kept while the user thinks.
    private func question(_ encoding: Data) -> [String]? {
        guard let found = added.key(encoding), found.needsConfirmation else { return nil }
        return [
            "Allow use of key '\(found.comment)'?", "Key fingerprint: \(found.key.publicKey.fingerprint ?? "none")",
        ]
    }

    private static var refused: KeychainError {
        KeychainError(.authenticationFailed, "The user did not allow the use of a key.")
    }

    // MARK: - Adding and removing

    private func add(_ reader: inout SSHReader, isConstrained: Bool) throws(KeychainError) -> Data {
        let key: PrivateKey
        do throws(KeyFailure) {
            key = try reader.privateKey()
            guard key.kind != .rsa || key.sizeInBits >= SSHAgentAddedKeys.smallestRSA else {
                throw .unsupportedSize(key.sizeInBits)
            }
        } catch {
            throw error.inKeychainWords("A key was not added: it")
        }
        guard let comment = try? reader.data(), isConstrained || reader.isAtEnd else { return Self.failure }
        guard let constraints = SSHAgentConstraints.read(&reader) else { throw Self.unknownConstraint }
        try added.add(key, String(decoding: comment, as: UTF8.self), constraints)
        return Self.success
    }

    private static var unknownConstraint: KeychainError {
        KeychainError(
            .unsupported,
            "A key was not added: this agent does not know one of its constraints. It knows those of ssh-add -t and -c."
        )
    }

    private func remove(_ reader: inout SSHReader) -> Data {
        guard let encoding = try? reader.data(), reader.isAtEnd else { return Self.failure }
        if added.remove(encoding) { return Self.success }
        complain("A key was not removed: no client has added it. Keys of the vault: keychainctl key delete")
        return Self.failure
    }

    /// The keys of the vault stay.
    private func removeAll(_ reader: SSHReader) -> Data {
        guard reader.isAtEnd else { return Self.failure }
        added.removeAll()
        return Self.success
    }

    // MARK: - Locking by a client

    private func setLock(_ reader: inout SSHReader) -> Data {
        guard let passphrase = try? reader.secret(), reader.isAtEnd else { return Self.failure }
        lock = digest(passphrase)
        return Self.success
    }

    private func removeLock(_ reader: inout SSHReader) -> Data {
        guard let lock, let passphrase = try? reader.secret(), reader.isAtEnd else { return Self.failure }
        guard digest(passphrase) == lock else {
            // Slows down guessing.
            wrongPassphrases = min(wrongPassphrases + 1, 10)
            usleep(wrongPassphrases * 100_000)
            return Self.failure
        }
        (self.lock, wrongPassphrases) = (nil, 0)
        return Self.success
    }

    private func digest(_ passphrase: SecretBytes) -> SHA256Digest {
        var hash = SHA256()
        salt.withUnsafeBytes { hash.update(bufferPointer: $0) }
        passphrase.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.finalize()
    }
}
