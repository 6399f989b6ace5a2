// SPDX-License-Identifier: Apache-2.0
// Certificates of the keychain that complete chains.

#if os(Linux)
    package import Foundation
    import KeychainEngine

    /// Finds certificates by the normalized content of their subject.
    package typealias IssuerSearch = @Sendable (_ subject: Data) -> [SecCertificate]

    extension Services {
        /// Certificates of the keychain with a subject, to complete a chain. The user is not asked, and certificates that
        /// cannot be read count as missing: a chain without them is not trusted.
        ///
        /// - Parameter subject: Normalized content.
        package func certificates(ofSubject subject: Data) -> [SecCertificate] {
            var query = Query(.certificate, [.subject: .data(subject)])
            (query.synchronizableAny, query.authenticationUI) = (true, .skip)
            (query.returns, query.limit) = (.value, .atMost(Self.certificatesOfOneSubject))
            let found = try? engine.requests.find(query, accessGroups: accessGroups)
            return (found ?? []).compactMap { SecCertificate($0.item) }
        }

        /// An authority has few of them.
        private static let certificatesOfOneSubject = 32
    }
#endif
