// SPDX-License-Identifier: Apache-2.0
// Certificates and keys of the keychain as values of swift-certificates.

#if Certificates && os(Linux)
    import Crypto
    import CryptoExtras
    import Foundation
    import KeychainEngine
    import KeychainKeyStore
    import KeychainKit
    import KeychainServices
    import KeychainTestSupport
    import SwiftASN1
    import Testing
    import X509

    @testable import KeychainTrust

    @Suite("Bridges")
    struct BridgeTests {
        @Test func certificate_thereAndBack_isTheSame() throws {
            let certificate = try TestAuthority("R").root
            let object = try SecCertificate.makeWithCertificate(certificate)
            #expect(try X509.Certificate(object) == certificate)
            let kept = try KeychainCertificate(certificate)
            #expect(kept.name == "R" && kept.der == SecCertificateCopyData(object) as Data)
            #expect(try X509.Certificate(kept) == certificate)
        }

        @Test func certificate_thatTheLibraryDoesNotRead_isAnError() throws {
            let key = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024))
            let weak = try TestAuthority("R").issue(TestAuthority("L", key: .init(key)), .init())
            let object = try SecCertificate.makeWithCertificate(weak)
            #expect(throws: (any Error).self) { try X509.Certificate(object) }
        }

        private static let keys: [@Sendable () throws -> any StorableKey] = [
            { P256.Signing.PrivateKey() }, { P384.Signing.PrivateKey() }, { P521.Signing.PrivateKey() },
            { try _RSA.Signing.PrivateKey(keySize: .bits2048) }, { Curve25519.Signing.PrivateKey() },
        ]

        private func store(_ key: some StorableKey) throws -> KeyStore {
            let keys = KeyStore(store: try StoreKind.memory.empty())
            try keys.save(key, tag: "tag")
            return keys
        }

        /// Requests of each type, signed with each algorithm on the caller's thread and without blocking.
        @Test(.enabled(if: OpenSSL.path != nil, OpenSSL.isMissing), arguments: 0..<keys.count)
        func request_signedInTheKeychain_isVerifiedByOpenSSL(number: Int) async throws {
            let key = try KeychainPrivateKey(tag: "tag", in: store(Self.keys[number]()))
            let (name, openSSL) = (try TestAuthority.name("client"), try OpenSSL())
            for (index, algorithm) in key.supportedSignatureAlgorithms.enumerated() {
                let request: CertificateSigningRequest
                if index == 0 {
                    #expect(algorithm == key.defaultSignatureAlgorithm)
                    request = try await CertificateSigningRequest(
                        version: .v1, subject: name, asyncPrivateKey: .init(key), attributes: .init(),
                        signatureAlgorithm: algorithm)
                } else {
                    request = try CertificateSigningRequest(
                        version: .v1, subject: name, privateKey: .init(key), attributes: .init(),
                        signatureAlgorithm: algorithm)
                }
                try openSSL.write(request.serializeAsPEM().pemString, "request")
                #expect(try openSSL.run(["req", "-in", "request", "-verify", "-noout"]), "\(algorithm)")
                #expect(request.publicKey == key.publicKey)
            }
        }

        @Test func key_inHardware_signsRequests() throws {
            var keys = KeyStore(store: try StoreKind.memory.empty())
            keys.tokens = KeyTokens()
            try keys.tokens.use(TokenDouble())
            try keys.create(.p256, tag: "tag", protection: .hardware)
            let request = try CertificateSigningRequest(
                version: .v1, subject: TestAuthority.name("client"),
                privateKey: .init(KeychainPrivateKey(tag: "tag", in: keys)), attributes: .init(),
                signatureAlgorithm: .ecdsaWithSHA256)
            #expect(request.publicKey.isValidSignature(request.signature, for: request))
        }

        @Test func key_replacedOrRemoved_signsNothing() throws {
            let keys = try store(P256.Signing.PrivateKey())
            let key = try KeychainPrivateKey(tag: "tag", in: keys)
            #expect(try key == KeychainPrivateKey(tag: "tag", in: keys))
            try keys.save(P256.Signing.PrivateKey(), tag: "tag")
            #expect(try key != KeychainPrivateKey(tag: "tag", in: keys))
            for _ in 0..<2 {
                let error = #expect(throws: KeychainError.self) {
                    try key.signSynchronously(bytes: Data(), signatureAlgorithm: .ecdsaWithSHA256)
                }
                #expect(error?.reason == .itemNotFound)
                try keys.remove(tag: "tag")
            }
        }

        @Test func key_thatCannotSignOrIsMissing_isRefused() throws {
            let keys = try store(Curve25519.KeyAgreement.PrivateKey())
            try keys.save(_RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024)), tag: "short")
            for (tag, reason) in [
                ("tag", KeychainError.Reason.unsupported), ("short", .unsupported), ("x", .itemNotFound),
            ] {
                let error = #expect(throws: KeychainError.self) { try KeychainPrivateKey(tag: tag, in: keys) }
                #expect(error?.reason == reason)
            }
        }

        @Test func key_askedForItsBytes_staysInTheKeychain() throws {
            let key = try KeychainPrivateKey(tag: "tag", in: store(P256.Signing.PrivateKey()))
            #expect(throws: KeychainError.self) { try key.serializeAsPEM() }
            #expect(throws: KeychainError.self) { try Certificate.PrivateKey(key).serializeAsPEM() }
        }
    }
#endif
