// SPDX-License-Identifier: Apache-2.0
// What is evaluated, with the certificates of the keychain where those of the caller do not suffice.

#if Certificates && os(Linux)
    import Foundation
    import KeychainKeys
    import KeychainServices

    /// What is evaluated.
    struct TrustRequest: Sendable {
        /// The leaf first.
        private(set) var certificates: [SecCertificate]
        var policies: [TrustPolicy]
        var anchors: [SecCertificate] = []
        var usesSystem = true
        /// `nil`: now.
        var date: Date?
        var source: RootSource?
        /// Certificates that may complete a chain. They are never anchors.
        var keychain: IssuerSearch = { Services.shared.certificates(ofSubject: $0) }

        var leaf: SecCertificate { certificates[0] }

        /// - Parameter certificates: At least one.
        init(_ certificates: [SecCertificate], _ policies: [TrustPolicy]) {
            (self.certificates, self.policies) = (certificates, policies)
        }

        /// Searches the keychain only if the certificates of the caller give no chain that is trusted.
        func evaluated() -> TrustOutcome {
            let outcome = ChainSearch(self).run()
            guard !outcome.failures.isEmpty else { return outcome }
            var completed = self
            completed.certificates += issuers()
            guard completed.certificates.count > certificates.count else { return outcome }
            let other = ChainSearch(completed).run()
            return other.failures.isEmpty || outcome.failures.contains { $0.check.kind == .trust } ? other : outcome
        }

        /// Judges the leaf alone. Who issued it does not matter.
        func evaluatedLeaf() -> TrustOutcome {
            let checks = ChainChecks([Link(leaf)], nil, date ?? Date(), Comparisons())
            return TrustOutcome([leaf], checks.failures(policies))
        }

        // The limits of what is searched in the keychain.
        private static let longestChain = 16
        private static let mostNames = 64

        /// The certificates of the keychain that may have issued those of the caller, and those that may have issued them.
        private func issuers() -> [SecCertificate] {
            var names: Set<Data> = [Data()]
            var known = Set(certificates)
            var (found, next): ([SecCertificate], [SecCertificate]) = ([], certificates)
            for _ in 1...Self.longestChain where !next.isEmpty {
                let wanted = next.compactMap(\.certificate.normalizedIssuer)
                    .filter { names.count <= Self.mostNames && names.insert($0).inserted }
                next = wanted.flatMap(keychain).filter { known.insert($0).inserted }
                found += next
            }
            return found
        }
    }
#endif
