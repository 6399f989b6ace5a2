// SPDX-License-Identifier: Apache-2.0
// Signs with a stored key.

public import Foundation
package import KeychainKeys
public import KeychainKit

/// A private key of a ``KeyStore`` that signs without giving its bytes to the caller.
///
/// ```swift
/// guard let signer = try await keys.signer(tag: "com.example.signing") else { return }
/// let signature = try await signer.sign(message, using: .ecdsaSHA256)
/// ```
///
/// Each signature opens the key in the keychain, in locked memory that is wiped when the call ends, or lets the hardware sign
/// that holds it. So a signer stops when
/// the keychain is locked, and a key that requires authentication is asked for each time. A key that was removed or
/// replaced since the signer was made does not sign, even if the new one has the same tag.
///
/// The asynchronous form works on a thread of the store, blocks no other and has the store's ``KeyStore/timeout``.
///
/// Does not protect against the program itself: it can also read the key, unless that is in hardware.
public struct KeychainSigner: Sendable {
    private let store: KeyStore
    /// The key, without its private bytes.
    public let key: StoredKey
    package let publicHalf: PublicKey

    /// - Throws: `unsupported` for a key that does not sign.
    init(_ store: KeyStore, _ key: StoredKey, _ publicHalf: PublicKey) throws(KeychainError) {
        (self.store, self.key, self.publicHalf) = (store, key, publicHalf)
        guard !algorithms.isEmpty else { throw .doesNotSign(type) }
    }

    /// The type of the key.
    public var type: KeyType { KeyType(kind: publicHalf.kind) }

    /// The public key as SubjectPublicKeyInfo in DER, which swift-crypto reads:
    ///
    /// ```swift
    /// let verifier = try P256.Signing.PublicKey(derRepresentation: signer.publicKey)
    /// ```
    ///
    /// The last 32 bytes of that of an Ed25519 key are its `rawRepresentation`.
    public var publicKey: Data { publicHalf.subjectPublicKeyInfo }

    /// What the key signs with.
    public var algorithms: [SigningAlgorithm] { SigningAlgorithm.all.filter { $0.isSupported(by: publicHalf) } }

    /// Signs a message, on the caller's thread.
    ///
    /// - Throws: `unsupported` if the key does not sign with the algorithm; `itemNotFound` if it was removed or replaced;
    ///   `locked`; `cancelled`, `authenticationFailed` or `interactionNotAllowed` for a key that requires authentication;
    ///   and errors of the store.
    public func sign(
        _ message: some DataProtocol, using algorithm: SigningAlgorithm
    ) throws(KeychainError) -> Data {
        try check(algorithm)
        let (message, signer) = (Data(message), self)
        return try store.call { (requests) throws(KeychainError) in
            try requests.signature(of: message, algorithm, by: signer)
        }
    }

    /// Signs a message without blocking a thread.
    public nonisolated(nonsending) func sign(
        _ message: some DataProtocol, using algorithm: SigningAlgorithm
    ) async throws(KeychainError) -> Data {
        try check(algorithm)
        let (message, signer) = (Data(message), self)
        return try await store.call { (requests) throws(KeychainError) in
            try requests.signature(of: message, algorithm, by: signer)
        }
    }

    /// Starts to sign a message, and returns at once, for a caller that is no task.
    ///
    /// - Parameter deliver: Receives the signature or the error once, on any thread.
    /// - Returns: Cancels the call.
    package func startSigning(
        _ message: Data, using algorithm: SigningAlgorithm,
        deliver: @escaping @Sendable (Result<Data, KeychainError>) -> Void
    ) throws(KeychainError) -> @Sendable () -> Void {
        try check(algorithm)
        return store.backing.start(
            store.timeout,
            { [self] (questions) throws(KeychainError) in
                try KeyRequests(store, questions).signature(of: message, algorithm, by: self)
            }, deliver: deliver)
    }

    /// Before the user is asked.
    private func check(_ algorithm: SigningAlgorithm) throws(KeychainError) {
        guard algorithm.isSupported(by: publicHalf) else { throw .doesNotSign(type, with: algorithm) }
    }
}

extension KeychainSigner: Hashable {
    /// Whether these sign with the same item of the same store.
    public static func == (first: KeychainSigner, second: KeychainSigner) -> Bool {
        first.store.backing === second.store.backing && first.key.id == second.key.id
            && first.publicHalf == second.publicHalf
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(store.backing))
        hasher.combine(key.id)
    }
}
