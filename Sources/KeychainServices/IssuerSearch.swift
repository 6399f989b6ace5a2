// SPDX-License-Identifier: Apache-2.0
// Certificates of the keychain that complete chains.

#if os(Linux)
    package import Foundation
    import KeychainEngine
    import SecretMemory

    /// Finds certificates by the normalized content of their subject.
    package typealias IssuerSearch = @Sendable (_ subject: Data) -> [SecCertificate]

    /// Searches issuers for many certificates: each subject once.
    final class KnownIssuers: Sendable {
        private let search: IssuerSearch
        private let known = Guarded<[Data: [SecCertificate]]>([:])

        init(_ search: @escaping IssuerSearch) { self.search = search }

        func certificates(ofSubject subject: Data) -> [SecCertificate] {
            if let found = known.withLock({ $0[subject] }) { return found }
            let found = search(subject)
            known.withLock { $0[subject] = found }
            return found
        }
    }

    extension Services {
        /// Certificates of the keychain with a subject, to complete a chain. The user is not asked, and each certificate
        /// that cannot be read counts as missing: a chain without it is not trusted.
        ///
        /// - Parameter subject: Normalized content.
        package func certificates(ofSubject subject: Data) -> [SecCertificate] {
            var query = Query(.certificate, [.subject: .data(subject)])
            (query.synchronizableAny, query.authenticationUI) = (true, .skip)
            (query.returns, query.limit, query.leavesOutLocked) = (.value, .all, true)
            let found = try? engine.requests.find(query, accessGroups: accessGroups)
            // Any program may have stored items that are no certificates: they do not count.
            var certificates: [SecCertificate] = []
            for stored in found ?? [] where certificates.count < Self.certificatesOfOneSubject {
                if let certificate = SecCertificate(stored.item) { certificates.append(certificate) }
            }
            return certificates
        }

        /// The limit for certificates of one name in the search for a chain, which compares key identifiers.
        private static let certificatesOfOneSubject = 256
    }
#endif
