// SPDX-License-Identifier: Apache-2.0
// The checks of a chain: those of RFC 5280, and those of TLS.

#if Certificates && os(Linux)
    import Foundation
    import KeychainKeys
    import X509

    /// A chain from the leaf upwards. The signatures between its certificates are verified already.
    struct ChainChecks {
        private let chain: [Link]
        private let anchor: Anchor?
        private let date: Date
        private let comparisons: Comparisons

        init(_ chain: [Link], _ anchor: Anchor?, _ date: Date, _ comparisons: Comparisons) {
            (self.chain, self.anchor, self.date, self.comparisons) = (chain, anchor, date, comparisons)
        }

        func failures(_ policies: [TrustPolicy]) -> [TrustFailure] {
            var failures = Set(chain.indices.flatMap { index in ofOne(index).map { TrustFailure(index, $0) } })
            for index in chain.indices.dropFirst() {
                failures.formUnion(ofIssuer(index).map { TrustFailure(index, $0) })
                for below in 0..<index where isConstrained(below, by: index) {
                    failures.insert(TrustFailure(below, .nameConstraints))
                }
            }
            if let index = withoutRequiredPolicy() { failures.insert(TrustFailure(index, .policyConstraints)) }
            for case .tls(let isServer, let host) in policies {
                failures.formUnion(ofTLS(isServer, host))
            }
            return Array(failures)
        }

        private func isAnchor(_ index: Int) -> Bool { anchor != nil && index == chain.count - 1 }

        // MARK: - RFC 5280

        /// What each certificate must fulfil.
        private func ofOne(_ index: Int) -> Set<TrustCheck> {
            let (link, content) = (chain[index], chain[index].content)
            var failed: Set<TrustCheck> = []
            if !content.isValid(at: date) { failed.insert(.date) }
            if link.hasWeakKey { failed.insert(.keySize) }
            let isRoot = index == chain.count - 1 && (anchor != nil || link.isSelfSigned)
            if !isRoot, link.hasWeakSignature { failed.insert(.weakSignature) }
            // What an anchor says about itself does not matter, unless it is the certificate in question.
            if index == 0 || !isAnchor(index) { failed.formUnion(link.extensions.failures) }
            if link.subject.isEmpty, index > 0 || !link.extensions.hasCriticalNames { failed.insert(.emptySubject) }
            if index + 1 < chain.count, link.keyMatch(chain[index + 1]) < 0 { failed.insert(.keyIdentifier) }
            return failed
        }

        /// What a certificate must fulfil that issued another one.
        private func ofIssuer(_ index: Int) -> Set<TrustCheck> {
            let (link, extensions) = (chain[index], chain[index].extensions)
            var failed: Set<TrustCheck> = []
            switch extensions.basicConstraints {
            case nil:
                // Before version 3 there were no extensions.
                if link.content.version >= 3 || !isAnchor(index) { failed.insert(.missingConstraints) }
            case .notCertificateAuthority: failed.insert(.notAuthority)
            case .isCertificateAuthority(let limit):
                let between = chain[1..<index].count { !$0.isSelfIssued }
                if let limit, between > limit { failed.insert(.pathLength) }
            }
            if let usage = extensions.keyUsage, !usage.keyCertSign { failed.insert(.keyUsage) }
            return failed
        }

        /// Whether a certificate has a name that an authority above it does not allow.
        private func isConstrained(_ index: Int, by issuer: Int) -> Bool {
            guard index == 0 || !chain[index].isSelfIssued, let checks = NameChecks(chain[issuer]) else { return false }
            return !checks.allow(chain[index], comparisons)
        }

        /// The first certificate, from the top, without a policy that an authority above it requires. Mapped policies
        /// count as none.
        private func withoutRequiredPolicy() -> Int? {
            // Beyond the length of any chain: not required.
            var (required, anyEnds) = (Int.max, Int.max)
            var common: Set<String>?
            for index in chain.indices.dropLast(anchor == nil ? 0 : 1).reversed() {
                let (policies, isSelfIssued) = (chain[index].extensions.policies, chain[index].isSelfIssued)
                let isAny = policies.identifiers.contains(CertificatePolicies.anyPolicy)
                if !isAny || (anyEnds == 0 && !(isSelfIssued && index > 0)) {
                    common = common?.intersection(policies.identifiers) ?? policies.identifiers
                    common?.remove(CertificatePolicies.anyPolicy)
                }
                if index > 0, policies.hasMappings { common = [] }
                if index == 0 || !isSelfIssued {
                    if required != .max { required = max(0, required - 1) }
                    if anyEnds != .max { anyEnds = max(0, anyEnds - 1) }
                }
                required = min(required, policies.requiredAfter ?? .max)
                anyEnds = min(anyEnds, policies.anyEndsAfter ?? .max)
                if required == 0, common?.isEmpty ?? false { return index }
            }
            return nil
        }

        // MARK: - TLS

        private func ofTLS(_ isServer: Bool, _ host: String?) -> Set<TrustFailure> {
            var failed: Set<TrustFailure> = []
            let purposes = isServer ? Self.serverPurposes : Self.clientPurposes
            for index in chain.indices where index == 0 || !isAnchor(index) {
                guard let named = chain[index].extensions.purposes, purposes.isDisjoint(with: named) else { continue }
                failed.insert(TrustFailure(index, .extendedKeyUsage))
            }
            if let host, !chain[0].isFor(host) { failed.insert(TrustFailure(0, .host)) }
            if isServer { failed.formUnion(ofServer().map { TrustFailure(0, $0) }) }
            return failed
        }

        private static let any = "2.5.29.37.0"
        private static let server = "1.3.6.1.5.5.7.3.1"
        /// Also the two purposes of servers that were allowed strong encryption.
        private static let serverPurposes: Set = [server, any, "2.16.840.1.113730.4.1", "1.3.6.1.4.1.311.10.3.3"]
        private static let clientPurposes: Set = ["1.3.6.1.5.5.7.3.2", any]

        /// The limits of lifetimes, and the purpose, which newer certificates must name.
        private func ofServer() -> Set<TrustCheck> {
            let (content, day) = (chain[0].content, 86_400.0)
            let start = content.notBefore.timeIntervalSince1970
            let lifetime = content.notAfter.timeIntervalSince(content.notBefore)
            var failed: Set<TrustCheck> = []
            if anchor == .system {
                if start >= Self.march2018, lifetime > (start >= Self.september2020 ? 398 : 825) * day {
                    failed.insert(.lifetime)
                }
            } else if start >= Self.july2019 {
                if lifetime > 825 * day { failed.insert(.lifetime) }
                if chain[0].extensions.purposes?.contains(Self.server) != true { failed.insert(.extendedKeyUsage) }
            }
            return failed
        }

        private static let march2018 = 1_519_862_400.0
        private static let july2019 = 1_561_939_200.0
        private static let september2020 = 1_598_918_400.0
    }
#endif
