// SPDX-License-Identifier: Apache-2.0
// Policies that certificates are judged by. A module above this one has them.

#if os(Linux)
    package import Foundation
    package import KeychainEngine
    import KeychainKeys

    /// What certificates have to fulfil: the `SecPolicy` of KeychainTrust.
    ///
    /// This module cannot import that one, which depends on it and exists only with the trait `Certificates`. So it asks
    /// the running program for the class.
    package protocol CertificatePolicy: Sendable {
        /// The policy of RFC 5280.
        static var basic: any CertificatePolicy { get }

        /// Whether a certificate fulfils the policy. Only the one of RFC 5280 demands a chain to a trusted root.
        ///
        /// - Parameters:
        ///   - date: `nil`: now.
        ///   - issuers: Completes chains.
        /// - Throws: `unavailable` if no verdict is possible, since the roots of the system cannot be read.
        func isFulfilled(
            by certificate: SecCertificate, at date: Date?, _ issuers: @escaping IssuerSearch
        ) throws(KeychainError) -> Bool

        /// A `SecTrust` of certificates, the leaf first, and the chain that its evaluation found.
        func trust(
            _ certificates: [SecCertificate], _ issuers: @escaping IssuerSearch
        ) -> (object: NSObject, chain: [SecCertificate])
    }

    /// The policies of this program.
    enum CertificatePolicies {
        /// The policy of RFC 5280; `nil` in a program without KeychainTrust.
        static let basic = (NSClassFromString("KeychainTrust.SecPolicy") as? any CertificatePolicy.Type)?.basic

        /// - Returns: `nil` in a program without KeychainTrust.
        /// - Throws: `invalidParameter` for what is no policy.
        static func policy(_ entry: Any, for key: String) throws(KeychainError) -> (any CertificatePolicy)? {
            try checkIsObject(entry, for: key)
            guard basic != nil else { return nil }
            guard let policy = entry as? any CertificatePolicy else { throw .invalidValue(key, "a SecPolicy") }
            return policy
        }
    }

    extension Query {
        /// Decides criteria for certificates by the policies of this program, if it has any.
        ///
        /// - Parameter policy: The caller's.
        mutating func judge(by policy: (any CertificatePolicy)?, in services: Services) {
            guard matchCriteria.contains(where: \.needsPolicy), let basic = CertificatePolicies.basic else { return }
            let date = matchCriteria.lazy.compactMap(\.date).first
            let known = KnownIssuers { (subject) throws(KeychainError) in try services.issuers(ofSubject: subject) }
            judgeCertificate = { (criterion, der) throws(KeychainError) in
                guard let certificate = try? Certificate(der: der) else { return false }
                let (policy, date) = criterion == .policy ? (policy ?? basic, date) : (basic, nil)
                let isFulfilled = try policy.isFulfilled(by: SecCertificate(certificate), at: date) {
                    known.certificates(ofSubject: $0)
                }
                if !isFulfilled { try known.checkHasSearched() }
                return isFulfilled
            }
        }
    }

    extension Query.MatchCriterion {
        fileprivate var needsPolicy: Bool { self == .certificate(.policy) || self == .certificate(.trustedOnly) }

        /// The date at which policies are judged, too.
        fileprivate var date: Date? {
            if case .certificate(.validOnDate(let date)) = self { date } else { nil }
        }
    }
#endif
