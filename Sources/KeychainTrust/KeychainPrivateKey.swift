// SPDX-License-Identifier: Apache-2.0
// A private key that stays in the keychain, as a key of swift-certificates.

#if Certificates
    public import Foundation
    import KeychainEngine
    public import KeychainKeyStore
    public import KeychainKit
    public import SwiftASN1
    public import X509

    /// Signs certificates and requests with a key of the keychain, through a `KeychainSigner`: the key is opened for each
    /// signature and not kept.
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
        private let signer: KeychainSigner

        /// The user is asked if the key requires it.
        ///
        /// - Throws: `itemNotFound` if there is no key of the tag; `unsupported` for a key that swift-certificates does not
        ///   sign with, such as X25519 or ML-DSA; `duplicateItem`, `locked` and the other errors of `KeyStore`.
        public init(tag: String, in keys: KeyStore) throws(KeychainError) {
            guard let signer = try keys.signer(tag: tag) else { throw .noKey(tag) }
            do {
                publicKey = try X509.Certificate.PublicKey(derEncoded: [UInt8](signer.publicKey))
            } catch {
                throw .cannotSignCertificates(signer.type)
            }
            (self.tag, self.signer) = (tag, signer)
        }

        /// The algorithm that is used if none is given.
        public var defaultSignatureAlgorithm: X509.Certificate.SignatureAlgorithm { supportedSignatureAlgorithms[0] }

        /// The algorithms of the key, for ECDSA the one that fits the curve first.
        public var supportedSignatureAlgorithms: [X509.Certificate.SignatureAlgorithm] {
            switch signer.type {
            case .p384: [.ecdsaWithSHA384, .ecdsaWithSHA256, .ecdsaWithSHA512]
            case .p521: [.ecdsaWithSHA512, .ecdsaWithSHA256, .ecdsaWithSHA384]
            case .rsa: [.sha256WithRSAEncryption, .sha384WithRSAEncryption, .sha512WithRSAEncryption]
            case .ed25519: [.ed25519]
            default: [.ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512]
            }
        }

        /// Signs on the caller's thread.
        ///
        /// - Throws: `itemNotFound` if the key was removed or replaced meanwhile; `unsupported` for an algorithm of other
        ///   keys; errors of `KeyStore`.
        public func signSynchronously(
            bytes: some DataProtocol, signatureAlgorithm: X509.Certificate.SignatureAlgorithm
        ) throws -> X509.Certificate.Signature {
            let signature = try signer.sign(bytes, using: SigningAlgorithm(signatureAlgorithm))
            return try X509.Certificate.Signature(signature, signatureAlgorithm)
        }

        /// Signs without blocking a thread.
        ///
        /// - Throws: As `signSynchronously`.
        public func signAsynchronously(
            bytes: some DataProtocol & Sendable, signatureAlgorithm: X509.Certificate.SignatureAlgorithm
        ) async throws -> X509.Certificate.Signature {
            let signature = try await signer.sign(bytes, using: SigningAlgorithm(signatureAlgorithm))
            return try X509.Certificate.Signature(signature, signatureAlgorithm)
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

    extension SigningAlgorithm {
        private static let ofCertificates: [X509.Certificate.SignatureAlgorithm: SigningAlgorithm] = [
            .ecdsaWithSHA256: .ecdsaSHA256, .ecdsaWithSHA384: .ecdsaSHA384, .ecdsaWithSHA512: .ecdsaSHA512,
            .sha256WithRSAEncryption: .rsaSHA256, .sha384WithRSAEncryption: .rsaSHA384,
            .sha512WithRSAEncryption: .rsaSHA512, .ed25519: .ed25519,
        ]

        fileprivate init(_ algorithm: X509.Certificate.SignatureAlgorithm) throws(KeychainError) {
            guard let own = Self.ofCertificates[algorithm] else {
                throw KeychainError(.unsupported, "Keys of the keychain do not sign certificates with \(algorithm).")
            }
            self = own
        }
    }

    extension X509.Certificate.Signature {
        fileprivate init(_ bytes: Data, _ algorithm: X509.Certificate.SignatureAlgorithm) throws {
            try self.init(signatureAlgorithm: algorithm, signatureBytes: ASN1BitString(bytes: [UInt8](bytes)[...]))
        }
    }

    extension KeychainError {
        fileprivate static func noKey(_ tag: String) -> KeychainError {
            KeychainError(.itemNotFound, "There is no key with the tag \(tag). Name the tag of a key.")
        }

        fileprivate static func cannotSignCertificates(_ type: KeyType) -> KeychainError {
            KeychainError(
                .unsupported,
                "This key of type \(type) cannot sign certificates. Use P-256, P-384, P-521, Ed25519, or RSA of at least"
                    + " 2048 bits.")
        }

        fileprivate static let staysInTheKeychain = KeychainError(
            .unsupported, "The key stays in the keychain. Read it with KeyStore.read to get its bytes.")
    }
#endif
