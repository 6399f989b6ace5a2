// SPDX-License-Identifier: Apache-2.0
// Chains of PKCS#12 files, and the trust objects that an import makes of them.

#if Certificates && os(Linux)
    import Crypto
    import CryptoExtras
    import Foundation
    import KeychainEngine
    import KeychainKeyStore
    import KeychainKit
    import KeychainServices
    import KeychainTestSupport
    import Testing
    import X509

    @testable import KeychainTrust

    @Suite("Chains of PKCS#12 files")
    struct ImportedChainTests {
        private let key = P256.Signing.PrivateKey()
        private let (root, issuer): (TestAuthority, TestAuthority)
        /// From the leaf to the root.
        private let chain: [Certificate]
        private let keychain: TestKeychain

        init() throws {
            (root, issuer) = (try TestAuthority("R"), try TestAuthority("I"))
            chain = [
                try issuer.issue(TestAuthority("L", key: .init(key)), TestAuthority.leafExtensions()),
                try root.issue(issuer, TestAuthority.authorityExtensions()), try root.root,
            ]
            keychain = try TestKeychain()
        }

        private var objects: [SecCertificate] { get throws { try chain.map { try $0.object } } }

        /// A file of the key with these certificates, its own first.
        private func file(_ certificates: [Certificate]) throws -> Data {
            let keys = KeyStore(store: try StoreKind.memory.empty())
            let own = try certificates.map { try KeychainCertificate($0) }
            try keys.save(key, certificate: own[0], chain: Array(own.dropFirst()), tag: "tag")
            let file = try keys.exportPKCS12(#require(keys.identities().first), passphrase: SecretValue("pw"))
            return try #require(file)
        }

        private func imported(_ file: Data, _ others: [CFString: Any] = [:]) throws -> [String: Any] {
            try #require(all(file, others).first)
        }

        private func all(_ file: Data, _ others: [CFString: Any] = [:]) throws -> [[String: Any]] {
            var items: NSArray?
            let options = others.merging([kSecImportExportPassphrase: "pw"]) { first, _ in first }
            try #require(keychain.services.importPKCS12(file, options as NSDictionary, &items) == errSecSuccess)
            return try #require(items as? [[String: Any]])
        }

        @Test func identityOfAFile_hasATrustOfItsChain() throws {
            let item = try imported(file(chain))
            let trust = try #require(item["trust"] as? SecTrust)
            let unknown: Set = [SecTrustResultType.recoverableTrustFailure, .otherError]
            #expect(unknown.contains(trust.result))
            #expect(try item["chain"] as? [SecCertificate] == objects)
            #expect(try SecTrustSetAnchorCertificates(trust, NSArray(array: [chain[2].object])) == errSecSuccess)
            #expect(trust.status == errSecSuccess)
            #expect(try SecTrustCopyCertificateChain(trust) as? [SecCertificate] == objects)
            var policies: CFArray?
            #expect(SecTrustCopyPolicies(trust, &policies) == errSecSuccess)
            #expect(policies as? [SecPolicy] == [SecPolicyCreateBasicX509()])
        }

        /// Only what is in the file is stored, though the chain goes on.
        @Test func chainOfAFile_isCompletedByTheKeychain() throws {
            try keychain.add(chain[1])
            let item = try imported(file([chain[0]]), [kSecUseDataProtectionKeychain: true])
            #expect(try item["chain"] as? [SecCertificate] == Array(objects.dropLast()))
            #expect(keychain.certificates([:]).names == ["L", "I"])
        }

        /// A file of somebody who wants the import to take long. All identities are read.
        @Test func identities_withoutNumber_areNotAllEvaluated() throws {
            let certificate = SecCertificateCopyData(try chain[0].object) as Data
            let file = try RepeatedIdentity(key: key, certificate: certificate, count: 17).file(passphrase: "pw")
            let items = try all(file)
            #expect(items.count == 17 && items.allSatisfy { $0["identity"] is SecIdentity && $0["chain"] != nil })
            #expect(items.map { $0["trust"] != nil } == Array(repeating: true, count: 16) + [false])
        }

        /// No signature is verified with the weak key, so the evaluation ends there. What is in the file is not lost.
        @Test func chainOfAFile_thatCannotBeVerified_isThatOfItsNames() throws {
            let weak = try TestAuthority("K", key: .init(_RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024))))
            let leaf = try weak.issue(
                TestAuthority("L", key: .init(key)), TestAuthority.leafExtensions(), algorithm: .sha256WithRSAEncryption
            )
            let certificates = [leaf, try root.issue(weak, TestAuthority.authorityExtensions()), try root.root]
            let item = try imported(file(certificates))
            #expect(try item["chain"] as? [SecCertificate] == certificates.map { try $0.object })
        }
    }
#endif
