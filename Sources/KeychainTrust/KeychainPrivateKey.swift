// SPDX-License-Identifier: Apache-2.0
// A private key that stays in the keychain, as a key of swift-certificates.

#if Certificates
    import Crypto
    import CryptoExtras
    public import Foundation
    import KeychainEngine
    public import KeychainKeyStore
    public import KeychainKit
    import SecretMemory
    public import SwiftASN1
    public import X509

    /// Signs certificates and requests with a key of the keychain. The key is read for each signature and not kept.
    ///
    /// ```swift
    /// try keys.save(P256.Signing.PrivateKey(), tag: "com.example.client")
    /// let key = Certificate.PrivateKey(try KeychainPrivateKey(tag: "com.example.client", in: keys))
    /// let request = try CertificateSigningRequest(
    ///     version: .v1, subject: name, privateKey: key, attributes: .init(), signatureAlgorithm: .ecdsaWithSHA256)
    /// ```
    ///
    /// Two keys are equal if they have the same tag and the same public half. Does not protect against a program that reads
    /// the key by its tag.
    public struct KeychainPrivateKey: CustomPrivateKey {
        /// The name of the key.
        public let tag: String
        /// The public half, as it was when this value was made.
        public let publicKey: X509.Certificate.PublicKey
        private let keys: KeyStore
        private let type: any CertificateKey.Type

        /// The user is asked if the key requires it.
        ///
        /// - Throws: `itemNotFound` if there is no key of the tag; `unsupported` for a key that swift-certificates does not
        ///   sign with, such as X25519 or ML-DSA; `duplicateItem`, `locked` and the other errors of `KeyStore`.
        public init(tag: String, in keys: KeyStore) throws(KeychainError) {
            guard let stored = try keys.key(tag: tag) else { throw .noKey(tag) }
            let type = try Self.type(of: stored)
            guard let key = try Self.read(type, tag, keys) else { throw .noKey(tag) }
            (self.tag, self.keys, self.type, publicKey) = (tag, keys, type, key.publicKey)
        }

        private static func type(of stored: StoredKey) throws(KeychainError) -> any CertificateKey.Type {
            switch stored.type {
            case .p256: P256.Signing.PrivateKey.self
            case .p384: P384.Signing.PrivateKey.self
            case .p521: P521.Signing.PrivateKey.self
            case .rsa: _RSA.Signing.PrivateKey.self
            case .ed25519: Curve25519.Signing.PrivateKey.self
            default:
                throw KeychainError(
                    .unsupported,
                    "A key of the type \(stored.type?.description ?? "unknown") cannot sign certificates."
                        + " Use P-256, P-384, P-521, RSA or Ed25519.")
            }
        }

        private static func read<Key: CertificateKey>(
            _ type: Key.Type, _ tag: String, _ keys: KeyStore
        ) throws(KeychainError) -> X509.Certificate.PrivateKey? {
            try keys.read(type, tag: tag)?.forCertificates
        }

        private static func read<Key: CertificateKey>(
            _ type: Key.Type, _ tag: String, _ keys: KeyStore
        ) async throws(KeychainError) -> X509.Certificate.PrivateKey? {
            try await keys.read(type, tag: tag)?.forCertificates
        }

        /// - Throws: `itemNotFound` if the key was removed or replaced: the signature would not fit the public half.
        private func current() throws(KeychainError) -> X509.Certificate.PrivateKey {
            let type = type
            return try checked(Self.read(type, tag, keys))
        }

        private func current() async throws(KeychainError) -> X509.Certificate.PrivateKey {
            let type = type
            return try checked(await Self.read(type, tag, keys))
        }

        private func checked(_ key: X509.Certificate.PrivateKey?) throws(KeychainError) -> X509.Certificate.PrivateKey {
            guard let key, key.publicKey == publicKey else { throw .noKey(tag) }
            return key
        }

        /// The algorithm that is used if none is given.
        public var defaultSignatureAlgorithm: X509.Certificate.SignatureAlgorithm { type.algorithms[0] }

        /// The algorithms of the key.
        public var supportedSignatureAlgorithms: [X509.Certificate.SignatureAlgorithm] { type.algorithms }

        /// Signs on the caller's thread.
        ///
        /// - Throws: `itemNotFound` if the key was removed or replaced meanwhile; errors of `KeyStore` and of
        ///   swift-certificates.
        public func signSynchronously(
            bytes: some DataProtocol, signatureAlgorithm: X509.Certificate.SignatureAlgorithm
        ) throws -> X509.Certificate.Signature {
            defer { scrubResidue() }
            return try current().sign(bytes: bytes, signatureAlgorithm: signatureAlgorithm)
        }

        /// Signs without blocking a thread while the key is read.
        ///
        /// - Throws: As `signSynchronously`.
        public func signAsynchronously(
            bytes: some DataProtocol & Sendable, signatureAlgorithm: X509.Certificate.SignatureAlgorithm
        ) async throws -> X509.Certificate.Signature {
            let key = try await current()
            defer { scrubResidue() }
            return try key.sign(bytes: bytes, signatureAlgorithm: signatureAlgorithm)
        }

        /// The name of private keys in PEM.
        public static var defaultPEMDiscriminator: String { "PRIVATE KEY" }

        /// The key stays in the keychain.
        ///
        /// - Throws: `unsupported`.
        public func serializeAsPEM(discriminator: String) throws -> PEMDocument {
            throw KeychainError.staysInTheKeychain
        }

        /// The key stays in the keychain.
        ///
        /// - Throws: `unsupported`.
        public func serialize(into coder: inout DER.Serializer) throws { throw KeychainError.staysInTheKeychain }

        /// Whether tag and public half are the same.
        public static func == (first: KeychainPrivateKey, second: KeychainPrivateKey) -> Bool {
            first.tag == second.tag && first.publicKey == second.publicKey
        }

        /// Equal keys have equal hashes.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(tag)
            hasher.combine(publicKey)
        }
    }

    extension KeychainError {
        fileprivate static func noKey(_ tag: String) -> KeychainError {
            KeychainError(
                .itemNotFound, "There is no key with the tag \(tag), or it was replaced. Name the tag of a key.")
        }

        fileprivate static let staysInTheKeychain = KeychainError(
            .unsupported, "The key stays in the keychain. Read it with KeyStore.read to get its bytes.")
    }

    /// A key that swift-certificates signs with.
    private protocol CertificateKey: StorableKey, SendableMetatype {
        var forCertificates: X509.Certificate.PrivateKey { get }
        static var algorithms: [X509.Certificate.SignatureAlgorithm] { get }
    }

    extension P256.Signing.PrivateKey: CertificateKey {
        fileprivate var forCertificates: X509.Certificate.PrivateKey { .init(self) }
        fileprivate static var algorithms: [X509.Certificate.SignatureAlgorithm] { .ecdsa(.ecdsaWithSHA256) }
    }

    extension P384.Signing.PrivateKey: CertificateKey {
        fileprivate var forCertificates: X509.Certificate.PrivateKey { .init(self) }
        fileprivate static var algorithms: [X509.Certificate.SignatureAlgorithm] { .ecdsa(.ecdsaWithSHA384) }
    }

    extension P521.Signing.PrivateKey: CertificateKey {
        fileprivate var forCertificates: X509.Certificate.PrivateKey { .init(self) }
        fileprivate static var algorithms: [X509.Certificate.SignatureAlgorithm] { .ecdsa(.ecdsaWithSHA512) }
    }

    extension _RSA.Signing.PrivateKey: CertificateKey {
        fileprivate var forCertificates: X509.Certificate.PrivateKey { .init(self) }
        fileprivate static var algorithms: [X509.Certificate.SignatureAlgorithm] {
            [.sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption]
        }
    }

    extension Curve25519.Signing.PrivateKey: CertificateKey {
        fileprivate var forCertificates: X509.Certificate.PrivateKey { .init(self) }
        fileprivate static var algorithms: [X509.Certificate.SignatureAlgorithm] { [.ed25519] }
    }

    extension [X509.Certificate.SignatureAlgorithm] {
        /// All of ECDSA, the one that fits the curve first.
        fileprivate static func ecdsa(_ first: Element) -> Self {
            [first] + [.ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512].filter { $0 != first }
        }
    }
#endif
