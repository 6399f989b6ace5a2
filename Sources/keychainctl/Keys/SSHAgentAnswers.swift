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
    /// The public keys with their comments.
    func identities() throws(KeychainError) -> [(encoding: Data, comment: String)]
    /// - Returns: `nil` if there is no such key.
    func key(_ encoding: Data) throws(KeychainError) -> OpenSigningKey?
}

/// It lists keys and signs with them. Clients can lock it, and cannot add or remove keys.
final class SSHAgentAnswers<Keys: SSHAgentKeys> {
    private enum Request {
        static var identities: UInt8 { 11 }
        static var sign: UInt8 { 13 }
        static var lock: UInt8 { 22 }
        static var unlock: UInt8 { 23 }
    }

    private static var failure: Data { Data([5]) }
    private static var success: Data { Data([6]) }

    private let keys: Keys
    private let complain: (String) -> Void
    /// A digest of the passphrase that a client has locked the agent with.
    private var lock: SHA256Digest?
    private let salt = SymmetricKey(size: .bits256)
    private var wrongPassphrases: UInt32 = 0

    /// - Parameter complain: Takes why a request failed: the protocol has no words for it.
    init(_ keys: Keys, complain: @escaping (String) -> Void) { (self.keys, self.complain) = (keys, complain) }

    func answer(to message: Data) -> Data {
        defer { scrubResidue() }
        var reader = SSHMessageReader(message)
        do throws(KeychainError) {
            switch reader.byte() {
            case Request.identities: return lock == nil ? try identities() : Self.list([])
            case Request.sign: return lock == nil ? try signature(&reader) : Self.failure
            case Request.lock: return setLock(&reader)
            case Request.unlock: return removeLock(&reader)
            default: return Self.failure
            }
        } catch {
            complain(error.message)
            return Self.failure
        }
    }

    private func identities() throws(KeychainError) -> Data { Self.list(try keys.identities()) }

    private static func list(_ identities: [(encoding: Data, comment: String)]) -> Data {
        var answer = SSHMessageWriter(12)
        answer.number(UInt32(identities.count))
        for (encoding, comment) in identities {
            answer.string(encoding)
            answer.string(Data(comment.utf8))
        }
        return answer.message
    }

    private func signature(_ reader: inout SSHMessageReader) throws(KeychainError) -> Data {
        guard let encoding = reader.string(), let data = reader.string(), let flags = reader.number(), reader.isAtEnd
        else { return Self.failure }
        guard let key = try keys.key(encoding) else { return Self.failure }
        // Without a flag it is SHA-1 for RSA, which is refused.
        let hash: KeyHash = flags & 4 != 0 ? .sha512 : flags & 2 != 0 ? .sha256 : .sha1
        var answer = SSHMessageWriter(14)
        answer.string(try key.sshSignature(of: data, rsaHash: hash))
        return answer.message
    }

    // MARK: - Locking by a client

    private func setLock(_ reader: inout SSHMessageReader) -> Data {
        guard lock == nil, let passphrase = reader.string(), reader.isAtEnd else { return Self.failure }
        lock = digest(passphrase)
        return Self.success
    }

    private func removeLock(_ reader: inout SSHMessageReader) -> Data {
        guard let lock, let passphrase = reader.string(), reader.isAtEnd else { return Self.failure }
        guard digest(passphrase) == lock else {
            // Slows down guessing.
            wrongPassphrases = min(wrongPassphrases + 1, 10)
            usleep(wrongPassphrases * 100_000)
            return Self.failure
        }
        (self.lock, wrongPassphrases) = (nil, 0)
        return Self.success
    }

    private func digest(_ passphrase: Data) -> SHA256Digest {
        var hash = SHA256()
        salt.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: passphrase)
        return hash.finalize()
    }
}

/// Reads the parts of a message.
struct SSHMessageReader {
    private var rest: Data

    init(_ message: Data) { rest = message }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func number() -> UInt32? {
        guard rest.count >= 4 else { return nil }
        defer { rest = rest.dropFirst(4) }
        return rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func string() -> Data? {
        guard let count = number(), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Data(rest.prefix(Int(count)))
    }
}

/// Writes the parts of a message.
struct SSHMessageWriter {
    private(set) var message: Data

    init(_ type: UInt8) { message = Data([type]) }

    mutating func number(_ number: UInt32) {
        withUnsafeBytes(of: number.bigEndian) { message.append(contentsOf: $0) }
    }

    mutating func string(_ bytes: Data) {
        number(UInt32(bytes.count))
        message.append(bytes)
    }
}
