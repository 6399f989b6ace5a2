// SPDX-License-Identifier: Apache-2.0
// Keys whose type is known only at run time, for the tool.

package import Foundation
package import KeychainEngine
package import KeychainKeys
import KeychainKit

extension KeyStore {
    /// - Parameter replacing: Whether a key of the tag is replaced. If not, it is `duplicateItem`.
    package func put(
        _ key: PrivateKey, tag: String, label: String?, replacing: Bool
    ) throws(KeychainError) {
        let form = KeyForm(key)
        try call { (requests) throws(KeychainError) in
            if replacing { try requests.save(form, tag, label) } else { try requests.create(form, tag, label) }
        }
    }

    /// Removes the key of a tag as ``remove(tag:)-swift.method``, if `check` allows it.
    ///
    /// - Parameter check: Takes the keys of the tag without their private bytes, in the transaction that removes them. If it
    ///   throws, nothing is removed.
    package func remove(
        tag: String, if check: @escaping @Sendable ([StoredKey]) throws(KeychainError) -> Void
    ) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.remove(tag, if: check) }
    }

    /// The key of a tag, whatever its type.
    ///
    /// - Throws: `unsupported` for ML-KEM, ML-DSA and X-Wing; otherwise the errors of `read`.
    package func privateKey(tag: String) throws(KeychainError) -> UntypedKey? {
        try call { (requests) throws(KeychainError) in try requests.privateKey(tag) }
    }

    /// A listed key with its private bytes; `nil` if it was removed meanwhile.
    package func privateKey(of stored: StoredKey) throws(KeychainError) -> UntypedKey? {
        try call { (requests) throws(KeychainError) in try requests.privateKey(of: stored) }
    }
}

extension KeyStore {
    /// The public half of the key of a tag. Of a key on a token, nobody is asked.
    ///
    /// - Throws: As `privateKey(tag:)`.
    package func publicKey(tag: String) throws(KeychainError) -> PublicKey? {
        try call { (requests) throws(KeychainError) in
            if let key = try requests.only(tag).map({ StoredKey($0, publicKey: nil) }), key.isOnToken {
                guard let publicKey = key.publicKey else { throw .notAKey }
                return publicKey
            }
            return try requests.privateKey(tag)?.key.publicKey
        }
    }

    /// The key of a tag, opened to sign.
    ///
    /// - Throws: As `privateKey(tag:)`, and the errors of its token.
    package func openSigningKey(tag: String) throws(KeychainError) -> OpenSigningKey? {
        try call { (requests) throws(KeychainError) in
            guard let found = try requests.only(tag) else { return nil }
            return try requests.openSigningKey(StoredKey(found, publicKey: nil))
        }
    }

    /// A listed key, opened to sign; `nil` if it was removed meanwhile.
    package func openSigningKey(of stored: StoredKey) throws(KeychainError) -> OpenSigningKey? {
        try call { (requests) throws(KeychainError) in try requests.openSigningKey(stored) }
    }
}

extension KeyRequests {
    fileprivate func openSigningKey(_ stored: StoredKey) throws(KeychainError) -> OpenSigningKey? {
        guard stored.isOnToken else { return try privateKey(of: stored).map { .software($0.key) } }
        guard let publicKey = stored.publicKey else { throw .notAKey }
        return .token(publicKey, try open(stored, publicKey))
    }
}

/// A key that signs, whose type and place are known only at run time. It is opened for a few signatures at once.
package enum OpenSigningKey: Sendable {
    case software(PrivateKey)
    case token(PublicKey, OpenTokenKey)

    package var publicKey: PublicKey {
        switch self {
        case .software(let key): key.publicKey
        case .token(let key, _): key
        }
    }

    /// - Parameter data: The message or the digest, depending on the algorithm.
    package func sign(_ data: Data, _ algorithm: KeyAlgorithm) throws(KeychainError) -> Data {
        guard case .token(let publicKey, let opened) = self else {
            return try software { (key) throws(KeyFailure) in try key.loaded().sign(data, algorithm) }
        }
        return try publicKey.signature(of: data, algorithm) { opened }
    }

    /// A signature as the SSH protocol has it.
    package func sshSignature(of data: Data, rsaHash: KeyHash) throws(KeychainError) -> Data {
        guard case .token(let publicKey, _) = self else {
            return try software { (key) throws(KeyFailure) in
                try key.loaded().sshSignature(of: data, rsaHash: rsaHash)
            }
        }
        let raw = try sign(data, .ecdsaSignature(.message(.sha256), .raw))
        do throws(KeyFailure) {
            return try publicKey.sshSignature(ofRaw: raw)
        } catch {
            throw error.inKeychainWords("The key")
        }
    }

    private func software(_ body: (PrivateKey) throws(KeyFailure) -> Data) throws(KeychainError) -> Data {
        guard case .software(let key) = self else { throw .notAKey }
        do throws(KeyFailure) {
            return try body(key)
        } catch {
            throw error.inKeychainWords("The key")
        }
    }
}

/// A key whose type is known only at run time.
package struct UntypedKey: Sendable {
    package let key: PrivateKey
    /// Whether a program that exports keys may export it (`kSecAttrIsExtractable`).
    package let isExtractable: Bool
}
