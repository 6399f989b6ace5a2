// SPDX-License-Identifier: Apache-2.0
// Chains that certificates of the keychain complete.

#if Certificates && os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainServices
    import KeychainTestSupport
    import SecretMemory
    import Testing
    import X509

    @testable import KeychainTrust

    @Suite("Chains through the keychain")
    struct KeychainChainTests {
        private let (root, upper, lower): (TestAuthority, TestAuthority, TestAuthority)
        /// From the leaf to the root.
        private let chain: [Certificate]
        private let keychain: TestKeychain

        init() throws {
            (root, upper, lower) = (try TestAuthority("R"), try TestAuthority("U"), try TestAuthority("W"))
            chain = [
                try lower.issue(TestAuthority("L"), TestAuthority.leafExtensions()),
                try upper.issue(lower, TestAuthority.authorityExtensions()),
                try root.issue(upper, TestAuthority.authorityExtensions()), try root.root,
            ]
            keychain = try TestKeychain()
        }

        private func found(_ trust: SecTrust) -> [SecCertificate]? {
            SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        }

        private var objects: [SecCertificate] { get throws { try chain.map { try $0.object } } }

        @Test func intermediates_ofTheKeychain_completeAChain() throws {
            #expect(try keychain.trust(chain[0], anchors: [chain[3]]).status == errSecNotTrusted)
            try keychain.add(chain[2])
            #expect(try keychain.trust(chain[0], anchors: [chain[3]]).status == errSecNotTrusted)
            #expect(try keychain.trust(chain[0], chain[1], anchors: [chain[3]]).status == errSecSuccess)
            try keychain.add(chain[1])
            let trust = try keychain.trust(chain[0], anchors: [chain[3]])
            #expect(try trust.status == errSecSuccess && found(trust) == objects)
        }

        /// A root in the keychain is shown in the chain, and not trusted.
        @Test func root_inTheKeychain_isNoAnchor() throws {
            try keychain.add(chain[1], chain[2], chain[3])
            let trust = try keychain.trust(chain[0], anchors: [])
            #expect(try trust.status == errSecNotTrusted && found(trust) == objects)
            let leafAlone = try keychain.trust(chain[3], anchors: [])
            #expect(leafAlone.status == errSecNotTrusted)
        }

        @Test func intermediateThatHasExpired_isReplacedByTheOneInTheKeychain() throws {
            let old = try root.issue(upper, TestAuthority.authorityExtensions(), days: -100 ... -50)
            let trust = { try keychain.trust(chain[0], chain[1], old, anchors: [chain[3]]).status }
            #expect(try trust() == errSecCertificateExpired)
            try keychain.add(chain[2])
            #expect(try trust() == errSecSuccess)
        }

        @Test func intermediate_thatTheProgramMayNotRead_completesNothing() throws {
            try keychain.add(chain[1].object, [kSecAttrAccessGroup: "test"])
            let other = try keychain.with(group: "other")
            #expect(try other.trust(chain[0], anchors: [chain[2]]).status == errSecNotTrusted)
            #expect(try keychain.trust(chain[0], anchors: [chain[2]]).status == errSecSuccess)
        }

        @Test func intermediate_thatRequiresTheUser_isNotAskedFor() throws {
            let person = Person(passphrase: "p")
            let keychain = try TestKeychain(StoreKind.memory.empty(passphrase: "p"), person)
            let access = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            try keychain.add(chain[1].object, [kSecAttrAccessControl: access])
            #expect(try keychain.trust(chain[0], anchors: [chain[2]]).status == errSecNotTrusted)
            #expect(person.questions.isEmpty)
        }

        private static let lockable: [@Sendable () throws -> (store: any ItemStore, lock: () throws -> Void)] = [
            {
                let store = MemoryStore()
                return (store, { store.lockState = .locked })
            },
            {
                let vault = try LockableVault()
                return (vault.vault, { try vault.setLockState(.locked) })
            },
        ]

        /// A locked certificate of the same name is missing, and hides no other.
        @Test(arguments: lockable.indices)
        func intermediate_besideALockedOne_completesAChain(index: Int) throws {
            let (store, lock) = try Self.lockable[index]()
            // The folder of the vault lives as long as it.
            defer { withExtendedLifetime(lock) {} }
            let keychain = try TestKeychain(store)
            let locked = try root.issue(upper, TestAuthority.authorityExtensions())
            try keychain.add(chain[2].object)
            try keychain.add(locked.object, [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked])
            try keychain.add(chain[1].object, [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked])
            let trust = { (below: [Certificate]) in
                try keychain.trust([chain[0]] + below, anchors: [chain[3]]).status
            }
            try #require(try trust([]) == errSecSuccess)
            try lock()
            #expect(try trust([chain[1]]) == errSecSuccess)
            #expect(try trust([]) == errSecNotTrusted)
        }

        /// Any program may have stored them. Without an issuer, they come first in the order of items.
        @Test func itemsOfTheSameName_thatAreNoCertificates_hideNoIssuer() throws {
            try keychain.add(chain[1])
            let found = keychain.find([kSecClass: kSecClassCertificate, kSecReturnAttributes: true])
            let attributes = try #require(found.result as? [String: Any])
            let name = try #require(attributes[kSecAttrSubject as String])
            for number in 0..<300 {
                let junk: [CFString: Any] = [
                    kSecClass: kSecClassCertificate, kSecAttrSubject: name, kSecValueData: Data([1]),
                    kSecAttrSerialNumber: Data([UInt8(number >> 8), UInt8(number & 0xFF)]),
                ]
                try #require(keychain.services.add(junk as NSDictionary, nil) == errSecSuccess)
            }
            #expect(try keychain.trust(chain[0], anchors: [chain[2]]).status == errSecSuccess)
        }

        @Test func keychain_isSearchedOnlyForChainsThatNeedIt() throws {
            let trust = try keychain.trust(chain[0], chain[1], chain[2], anchors: [chain[3]])
            let calls = Guarded(0)
            trust.set {
                $0.keychain = { _ in
                    calls.withLock { $0 += 1 }
                    return []
                }
            }
            #expect(trust.status == errSecSuccess && calls.withLock { $0 } == 0)
        }

        /// Somebody sends certificates that name hundreds of issuers.
        @Test func issuersWithoutNumber_areNotAllSearched() throws {
            let all = try (0..<200).map {
                try TestAuthority("A\($0)").issue(lower, TestAuthority.authorityExtensions())
            }
            let trust = try TestChain([chain[0]] + all, anchors: [chain[3]]).trust()
            let calls = Guarded(0)
            trust.set {
                $0.keychain = { _ in
                    calls.withLock { $0 += 1 }
                    return []
                }
            }
            #expect(trust.status != errSecSuccess)
            #expect((1...64).contains(calls.withLock { $0 }))
        }
    }
#endif
