// SPDX-License-Identifier: Apache-2.0
// Certificates and identities that are searched by policies and trust.

#if Certificates && os(Linux)
    import Crypto
    import Foundation
    import KeychainEngine
    import KeychainServices
    import KeychainTestSupport
    import KeychainTesting
    import SwiftASN1
    import Testing
    import X509

    @testable import KeychainTrust

    @Suite("Searches by policy")
    struct PolicySearchTests {
        private let root: TestAuthority
        private let keychain: TestKeychain
        private let key = P256.Signing.PrivateKey()

        /// A server, a client, servers whose certificates have expired or are valid too long, and an item that is no certificate.
        init() throws {
            (root, keychain) = (try TestAuthority("Root"), try TestKeychain())
            let client = try Certificate.Extensions { try ExtendedKeyUsage([.clientAuth]) }
            let server = try TestAuthority("Server", key: .init(key))
            try keychain.add(
                root.issue(server, TestAuthority.leafExtensions()), root.issue(TestAuthority("Client"), client),
                root.issue(TestAuthority("Old"), TestAuthority.leafExtensions(), days: -10 ... -5),
                root.issue(TestAuthority("Long"), TestAuthority.leafExtensions(), days: -1...1000))
            let other: [CFString: Any] = [kSecClass: kSecClassCertificate, kSecValueData: Data([1])]
            try #require(keychain.services.add(other as NSDictionary, nil) == errSecSuccess)
        }

        /// The policies of TLS look at the certificate alone: nobody trusts the root.
        @Test func certificates_areFoundByThePolicyThatTheyFulfil() {
            let past = testDate - 7 * 86400
            let rows: [(policy: SecPolicy, date: Any?, found: Set<String>)] = [
                (SecPolicyCreateSSL(true, nil), nil, ["Server"]),
                (SecPolicyCreateSSL(true, "leaf.example"), nil, ["Server"]),
                (SecPolicyCreateSSL(true, "x.example"), nil, []),
                (SecPolicyCreateSSL(false, nil), nil, ["Server", "Client", "Long"]),
                (SecPolicyCreateSSL(false, nil), NSNull(), ["Server", "Client", "Long"]),
                (SecPolicyCreateSSL(false, nil), past, ["Old"]),
                (SecPolicyCreateSSL(false, "leaf.example"), past, ["Old"]),
                (SecPolicyCreateSSL(false, "x.example"), past, []),
            ]
            for (number, row) in rows.enumerated() {
                var criteria: [CFString: Any] = [kSecMatchPolicy: row.policy]
                criteria[kSecMatchValidOnDate] = row.date
                let found = keychain.certificates(criteria)
                #expect(found.names == row.found, "row \(number)")
                #expect(found.status == (row.found.isEmpty ? errSecItemNotFound : errSecSuccess), "row \(number)")
            }
        }

        @Test func identity_isFoundByThePolicyThatItsCertificateFulfils() throws {
            let attributes: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
            ]
            let bytes = NSData(data: key.x963Representation)
            try keychain.add(#require(SecKeyCreateWithData(bytes, attributes as NSDictionary, nil)))
            for (host, expected) in [("leaf.example", errSecSuccess), ("x.example", errSecItemNotFound)] {
                let query: [CFString: Any] = [
                    kSecClass: kSecClassIdentity, kSecReturnRef: true,
                    kSecMatchPolicy: SecPolicyCreateSSL(true, host as NSString),
                ]
                let found = keychain.find(query)
                #expect(found.status == expected && (found.result is SecIdentity) == (expected == errSecSuccess))
            }
        }

        @Test(.enabled(if: SystemRoot.certificate != nil, SystemRoot.isMissing))
        func trustedCertificates_haveAChainToARootOfTheSystem() throws {
            try keychain.add(root.root)
            let trusted = try #require(SystemRoot.certificate)
            let name = try #require(SecCertificateCopySubjectSummary(trusted) as String?)
            for criteria in [[kSecMatchTrustedOnly: true], [kSecMatchPolicy: SecPolicyCreateBasicX509()]] {
                #expect(keychain.certificates(criteria).status == errSecItemNotFound)
            }
            try keychain.add(trusted)
            for criteria in [[kSecMatchTrustedOnly: true], [kSecMatchPolicy: SecPolicyCreateBasicX509()]] {
                #expect(keychain.certificates(criteria).names == [name])
            }
            #expect(keychain.certificates([kSecMatchTrustedOnly: false]).names.count == 6)
        }

        /// The limit counts what fulfils the policy.
        @Test func limit_ofASearchByPolicy_countsWhatFulfilsIt() {
            for (limit, count) in [(2, 2), (3, 3), (9, 3)] {
                let found = keychain.certificates([
                    kSecMatchPolicy: SecPolicyCreateSSL(false, nil), kSecMatchLimit: limit,
                ])
                #expect(found.names.count == count && found.names.isSubset(of: ["Server", "Client", "Long"]))
            }
        }

        /// Their issuer is searched once, whatever the verdicts: the names, each certificate, and the issuer.
        @Test(.enabled(if: SystemRoot.certificate != nil, SystemRoot.isMissing))
        func certificates_ofOneSubject_areJudgedWithOneSearchForTheirIssuer() throws {
            let store = ScriptedStore()
            let keychain = try TestKeychain(store)
            for _ in 1...5 { try keychain.add(root.issue(TestAuthority("Same"), TestAuthority.leafExtensions())) }
            store.reset()
            #expect(keychain.certificates([kSecMatchTrustedOnly: true]).status == errSecItemNotFound)
            #expect(store.calls.filter { $0.kind == .select }.count == 7)
        }

        /// Whether the certificate is trusted is then not known.
        @Test(.enabled(if: SystemRoot.certificate != nil, SystemRoot.isMissing))
        func search_whoseStoreFailsForAnIssuer_isThatError() throws {
            let store = ScriptedStore()
            let keychain = try TestKeychain(store)
            try keychain.add(root.issue(TestAuthority("L"), TestAuthority.leafExtensions()))
            store.reset()
            // After the names, and the certificate.
            store.fail(.failure(KeychainError(.inputOutput, "test")), .nth(3), on: [.select])
            #expect(keychain.certificates([kSecMatchTrustedOnly: true]).status == errSecIO)
        }

        /// No root of the system issues certificates for tests. So this is the request of a search, with other roots.
        @Test func certificate_whoseIntermediateIsInTheKeychain_isTrusted() throws {
            let folder = try TemporaryFolder.inMemory("keychain-roots")
            let file = folder.path + "/roots.pem"
            let encoded = (SecCertificateCopyData(try root.root.object) as Data).base64EncodedString()
            let block = "-----BEGIN CERTIFICATE-----\n\(encoded)\n-----END CERTIFICATE-----\n"
            try Data(block.utf8).write(to: URL(fileURLWithPath: file))
            let (issuer, services) = (try TestAuthority("I"), keychain.services)
            let leaf = try issuer.issue(TestAuthority("L"), TestAuthority.leafExtensions())
            var request = TrustRequest([try leaf.object], [.basic])
            request.source = RootSource(environment: ["SSL_CERT_FILE": file])
            request.keychain = { services.certificates(ofSubject: $0) }
            #expect(try !request.evaluated().isPositive())
            try keychain.add(root.issue(issuer, TestAuthority.authorityExtensions()))
            #expect(try request.evaluated().isPositive())
        }

        /// A missing verdict is an error, not a negative verdict.
        @Test func certificate_judgedWithoutTheRootsOfTheSystem_isAnError() throws {
            let leaf = try root.issue(TestAuthority("L"), TestAuthority.leafExtensions())
            var request = TrustRequest([try leaf.object], [.basic])
            request.source = RootSource(environment: ["SSL_CERT_FILE": "/nowhere/roots.pem"])
            request.keychain = { _ in [] }
            let failure = #expect(throws: KeychainError.self) { try request.evaluated().isPositive() }
            #expect(failure?.status == errSecTrustNotAvailable)
            // Its failures are certain, whatever the roots.
            request.date = testDate + 1000 * 86400
            #expect(try !request.evaluated().isPositive())
        }

        @Test func objectThatIsNoPolicy_isRefused() throws {
            for policy in [NSObject(), try root.root.object, NSArray(array: [SecPolicyCreateBasicX509()])] {
                #expect(keychain.certificates([kSecMatchPolicy: policy]).status == errSecParam)
            }
            for itemClass in [kSecClassKey, kSecClassGenericPassword] {
                let query: [CFString: Any] = [kSecClass: itemClass, kSecMatchPolicy: SecPolicyCreateBasicX509()]
                #expect(keychain.find(query).status == errSecUnimplemented)
            }
        }
    }
#endif
