// SPDX-License-Identifier: Apache-2.0
// A keychain with certificates, and a root that the system trusts.

#if Certificates && os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainServices
    import KeychainTestSupport
    import Testing
    import X509

    @testable import KeychainTrust

    /// A fresh keychain in memory, of a program with one access group.
    struct TestKeychain {
        let services: Services

        init(_ store: (any ItemStore)? = nil, group: String = "test", _ person: Person? = nil) throws {
            let engine = Engine(store: try store ?? StoreKind.memory.empty(), authenticator: { person })
            services = Services(engine: engine, accessGroups: AccessGroups([group]))
        }

        /// The same keychain, of a program with another group.
        func with(group: String) throws -> TestKeychain { try TestKeychain(services.engine.store, group: group) }

        func add(_ object: NSObject, _ others: [CFString: Any] = [:]) throws {
            let item = others.merging([kSecValueRef: object]) { first, _ in first }
            try #require(services.add(item as NSDictionary, nil) == errSecSuccess)
        }

        func add(_ certificates: Certificate...) throws {
            for certificate in certificates { try add(certificate.object) }
        }

        func find(_ query: [CFString: Any]) -> (status: OSStatus, result: AnyObject?) {
            var result: AnyObject?
            return (services.copyMatching(query as NSDictionary, &result), result)
        }

        /// The certificates that a search finds, or the status without any.
        func certificates(_ criteria: [CFString: Any]) -> (status: OSStatus, names: Set<String>) {
            let query: [CFString: Any] = [
                kSecClass: kSecClassCertificate, kSecReturnRef: true, kSecMatchLimit: kSecMatchLimitAll,
            ]
            let (status, result) = find(query.merging(criteria) { $1 })
            let found = (result as? [SecCertificate] ?? []).compactMap {
                SecCertificateCopySubjectSummary($0) as String?
            }
            return (status, Set(found))
        }

        /// A verdict on a chain that this keychain may complete.
        func trust(_ certificates: Certificate..., anchors: [Certificate]) throws -> SecTrust {
            try trust(certificates, anchors: anchors)
        }

        func trust(_ certificates: [Certificate], anchors: [Certificate]) throws -> SecTrust {
            let trust = try TestChain(certificates, anchors: anchors).trust()
            let services = services
            trust.set { $0.keychain = { services.certificates(ofSubject: $0) } }
            return trust
        }
    }

    /// A root that the system trusts, and that is trusted here.
    enum SystemRoot {
        static let certificate = RootSource().roots()?.bySubject.values.lazy.joined().map { SecCertificate($0) }
            .first { isTrusted($0) }
        static let isMissing: Comment = "The system has no root certificates: install ca-certificates."

        private static func isTrusted(_ root: SecCertificate) -> Bool {
            var request = TrustRequest([root], [.basic])
            request.keychain = { _ in [] }
            return request.evaluated().failures.isEmpty
        }
    }
#endif
