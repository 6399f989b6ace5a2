// SPDX-License-Identifier: Apache-2.0
// What Keychain Services judge certificates by in searches and imports.

#if Certificates && os(Linux)
    package import Foundation
    package import KeychainEngine
    package import KeychainServices

    extension SecPolicy: CertificatePolicy {
        package static var basic: any CertificatePolicy { SecPolicyCreateBasicX509() }

        package func isFulfilled(
            by certificate: SecCertificate, at date: Date?, _ issuers: @escaping IssuerSearch
        ) throws(KeychainError) -> Bool {
            var request = TrustRequest([certificate], [policy])
            (request.date, request.keychain) = (date, issuers)
            // As by Apple, other policies are those of the leaf.
            return try (policy == .basic ? request.evaluated() : request.evaluatedLeaf()).isPositive()
        }

        package func trust(
            _ certificates: [SecCertificate], _ issuers: @escaping IssuerSearch
        ) -> (object: NSObject, chain: [SecCertificate]) {
            var request = TrustRequest(certificates, [policy])
            request.keychain = issuers
            let trust = SecTrust(request)
            return (trust, trust.verdict().outcome.chain)
        }
    }

    extension TrustOutcome {
        /// - Throws: `unavailable` if only the roots of the system are missing for a verdict.
        func isPositive() throws(KeychainError) -> Bool {
            if !failures.isEmpty, failures.allSatisfy({ $0.check == .rootsUnreadable }) {
                throw KeychainError(.unavailable, SystemRoots.explanation, status: errSecTrustNotAvailable)
            }
            return failures.isEmpty
        }
    }
#endif
