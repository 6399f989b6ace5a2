// SPDX-License-Identifier: Apache-2.0
// A stored key as the private key of a TLS connection.

#if NIOSSL
    import Foundation
    public import KeychainKeyStore
    import KeychainKit
    import NIOCore
    public import NIOSSL

    extension NIOSSLPrivateKey {
        /// A private key whose signatures a signer makes.
        ///
        /// ```swift
        /// configuration.privateKey = .privateKey(NIOSSLPrivateKey(signer))
        /// ```
        ///
        /// Two are equal if their signers are. Use it with the certificate of the same key: NIOSSL cannot check that.
        public convenience init(_ signer: KeychainSigner) {
            self.init(customPrivateKey: TLSPrivateKey(signer))
        }
    }

    /// Signs what a handshake asks for.
    struct TLSPrivateKey: NIOSSLCustomPrivateKey, Hashable {
        private let signer: KeychainSigner

        init(_ signer: KeychainSigner) { self.signer = signer }

        /// In order of preference. For TLS 1.3, BoringSSL only chooses the one of the key's curve.
        var signatureAlgorithms: [SignatureAlgorithm] {
            let supported = signer.algorithms.compactMap { $0.ofTLS }
            guard let own = signer.type.ownAlgorithm else { return supported }
            return [own] + supported.filter { $0 != own }
        }

        func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer>
        {
            guard let wanted = SigningAlgorithm(ofTLS: algorithm) else {
                return channel.eventLoop.makeFailedFuture(KeychainError.otherAlgorithm(algorithm))
            }
            let promise = channel.eventLoop.makePromise(of: ByteBuffer.self)
            let signature = PendingSignature(promise)
            do throws(KeychainError) {
                // Not in a task: while a program keeps all threads of Swift's pool, no handshake would go on.
                let cancel = try signer.startSigning(Data(data.readableBytesView), using: wanted) { signature.end($0) }
                channel.closeFuture.whenComplete { _ in
                    // In this order: what the other thread still has to say is dropped.
                    signature.close()
                    cancel()
                }
            } catch {
                promise.fail(error)
            }
            return promise.futureResult
        }

        /// Only for key exchange by RSA decryption, which TLS 1.3 does not have.
        func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
            channel.eventLoop.makeFailedFuture(KeychainError.noDecryption)
        }
    }

    extension SigningAlgorithm {
        private static let ofTLS: [SignatureAlgorithm: SigningAlgorithm] = [
            .ecdsaSecp256R1Sha256: .ecdsaSHA256, .ecdsaSecp384R1Sha384: .ecdsaSHA384,
            .ecdsaSecp521R1Sha512: .ecdsaSHA512, .ed25519: .ed25519,
            .rsaPssRsaeSha256: .rsaPSSSHA256, .rsaPssRsaeSha384: .rsaPSSSHA384, .rsaPssRsaeSha512: .rsaPSSSHA512,
            .rsaPkcs1Sha256: .rsaSHA256, .rsaPkcs1Sha384: .rsaSHA384, .rsaPkcs1Sha512: .rsaSHA512,
        ]

        fileprivate init?(ofTLS algorithm: SignatureAlgorithm) {
            guard let own = Self.ofTLS[algorithm] else { return nil }
            self = own
        }

        fileprivate var ofTLS: SignatureAlgorithm? { Self.ofTLS.first { $0.value == self }?.key }
    }

    extension KeyType {
        /// The algorithm that TLS 1.3 has for a curve.
        fileprivate var ownAlgorithm: SignatureAlgorithm? {
            [.p256: .ecdsaSecp256R1Sha256, .p384: .ecdsaSecp384R1Sha384, .p521: .ecdsaSecp521R1Sha512][self]
        }
    }

    extension KeychainError {
        fileprivate static func otherAlgorithm(_ algorithm: SignatureAlgorithm) -> KeychainError {
            KeychainError(
                .unsupported, "Keys of the keychain do not sign with the TLS algorithm \(algorithm.rawValue).")
        }

        fileprivate static let noDecryption = KeychainError(
            .unsupported,
            "Keys of the keychain only sign. Turn off key exchange by RSA decryption: append \":!kRSA\" to `cipherSuites`."
        )
    }
#endif
