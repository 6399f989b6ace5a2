// SPDX-License-Identifier: Apache-2.0
// Searches for a chain from the leaf to an anchor, with a limited effort.

#if Certificates && os(Linux)
    import Foundation
    import KeychainKeys
    import KeychainServices

    /// Who trusts an anchor.
    enum Anchor: Sendable {
        case caller
        case system
    }

    /// Tries chains depth first, the likeliest issuer first, until one passes all checks.
    ///
    /// Authorities that sign each other give more chains than can be tried. So the numbers of chains, signatures and bytes
    /// are limited. A search that reaches a limit trusts nothing that it has not found.
    final class ChainSearch {
        private let request: TrustRequest
        private let date: Date
        private let leaf: Link
        private let roots: SystemRoots?
        private let ownAnchors: Set<SecCertificate>
        private let anchorNames: Set<Data>
        private let issuers: [Data: [SecCertificate]]
        private var links: [SecCertificate: Link] = [:]
        private var best: Found?

        // The limits.
        private static let longestChain = 16
        private static let certificatesOfOneName = 256
        private static let issuersOfOne = 32
        /// In bytes.
        private static let largestIssuer = 64 << 10
        private var chainsLeft = 128
        private var signaturesLeft = 256
        private var bytesLeft = 8 << 20
        private let comparisons = Comparisons()
        private var isExhausted = false

        init(_ request: TrustRequest) {
            self.request = request
            date = request.date ?? Date()
            leaf = Link(request.leaf)
            links[request.leaf] = leaf
            roots = request.usesSystem ? (request.source ?? RootSource()).roots() : nil
            ownAnchors = Set(request.anchors)
            anchorNames = Set(request.anchors.compactMap(\.certificate.normalizedSubject))
            issuers = Dictionary(grouping: request.anchors + request.certificates.dropFirst()) {
                $0.certificate.normalizedSubject ?? Data()
            }
        }

        private struct Found {
            let chain: [Link]
            let anchor: Anchor?
            let failures: [TrustFailure]

            /// Higher is closer to trust: chains to an anchor, with the least important failures; then chains to another root,
            /// and longer ones.
            var rank: [Int] {
                let leastKind = failures.map(\.check.kind.rawValue).min() ?? TrustCheck.Kind.expired.rawValue + 1
                if anchor != nil { return [1, leastKind, 0, chain.count] }
                return [0, chain.last?.isSelfIssued ?? false ? 1 : 0, chain.count, leastKind]
            }
        }

        func run() -> TrustOutcome {
            var stack = [[leaf]]
            while let chain = stack.popLast(), let tip = chain.last {
                guard take(&chainsLeft) else { break }
                if let anchor = anchor(tip) {
                    if consider(chain, anchor) { break }
                } else {
                    stack += next(chain).reversed().map { chain + [$0] }
                }
            }
            if best == nil { _ = consider([leaf], nil) }
            let failures = (best?.failures ?? []).map {
                isExhausted && $0.check == .anchor ? TrustFailure($0.index, .chainTooComplex) : $0
            }
            return TrustOutcome((best?.chain ?? [leaf]).map(\.object), failures)
        }

        /// - Returns: Whether the chain passes all checks.
        private func consider(_ chain: [Link], _ anchor: Anchor?, _ further: [TrustFailure] = []) -> Bool {
            var failures = further + ChainChecks(chain, anchor, date, comparisons).failures(request.policies)
            if anchor == nil {
                let isUnreadable = request.usesSystem && roots == nil
                failures.append(TrustFailure(chain.count - 1, isUnreadable ? .rootsUnreadable : .anchor))
            }
            let found = Found(chain: chain, anchor: anchor, failures: failures)
            if best.map({ $0.rank.lexicographicallyPrecedes(found.rank) }) ?? true { best = found }
            return failures.isEmpty
        }

        private func anchor(_ link: Link) -> Anchor? {
            if ownAnchors.contains(link.object) { return .caller }
            return roots?.contains(link.content) ?? false ? .system : nil
        }

        /// The issuers of the last certificate whose keys verify its signature. A chain that ends here is considered.
        private func next(_ chain: [Link]) -> [Link] {
            guard let tip = chain.last, chain.count < Self.longestChain, signaturesLeft > 0 else {
                isExhausted = true
                return []
            }
            var verified: [Link] = []
            var isBroken = tip.isSelfIssued && tip.parsed != nil && !tip.isSelfSigned
            for candidate in candidates(chain) {
                if isSigned(tip, by: candidate) {
                    verified.append(candidate)
                } else if tip.keyMatch(candidate) >= 0 {
                    if candidate.hasWeakKey { _ = consider(chain + [candidate], anchor(candidate)) }
                    isBroken = isBroken || (tip.parsed != nil && candidate.parsed != nil)
                }
            }
            if verified.isEmpty {
                _ = consider(chain, nil, isBroken && !isExhausted ? [TrustFailure(chain.count - 1, .signature)] : [])
            } else if tip.isSelfSigned {
                _ = consider(chain, nil)
            }
            return verified
        }

        /// Certificates with the name of the issuer that are not in the chain, the likeliest first. A certificate with the
        /// subject and key of another one in the chain only makes it longer.
        private func candidates(_ chain: [Link]) -> [Link] {
            guard let tip = chain.last, !tip.issuer.isEmpty else { return [] }
            let system = roots?.bySubject[tip.issuer]?.map { SecCertificate($0) } ?? []
            // The caller's anchors are the first of theirs.
            let all = system + (issuers[tip.issuer] ?? []).prefix(Self.certificatesOfOneName)
            var seen: Set<SecCertificate> = []
            let found = all.lazy.filter { $0.certificate.der.count <= Self.largestIssuer && seen.insert($0).inserted }
                .map { self.link($0) }
                .filter { candidate in
                    !chain.contains { $0.subject == candidate.subject && $0.keyHash == candidate.keyHash }
                }
                .map { (rank: self.rank($0, above: tip), link: $0) }
            return found.sorted { $1.rank.lexicographicallyPrecedes($0.rank) }.prefix(Self.issuersOfOne).map(\.link)
        }

        /// Higher is likelier: anchors, then the key that is named, then those that seem to be issued by an anchor, then
        /// valid ones, then newer ones.
        private func rank(_ candidate: Link, above tip: Link) -> [Double] {
            let content = candidate.content
            let isNear = anchorNames.contains(candidate.issuer) || roots?.bySubject[candidate.issuer] != nil
            return [
                anchor(candidate) == nil ? 0 : 1, Double(tip.keyMatch(candidate)), isNear ? 1 : 0,
                content.isValid(at: date) ? 1 : 0,
                content.notBefore.timeIntervalSince1970,
            ]
        }

        private func link(_ certificate: SecCertificate) -> Link {
            if let known = links[certificate] { return known }
            let link = Link(certificate)
            links[certificate] = link
            return link
        }

        private func isSigned(_ tip: Link, by issuer: Link) -> Bool {
            guard take(&signaturesLeft), take(&bytesLeft, issuer.content.der.count) else { return false }
            return tip.isSigned(by: issuer)
        }

        private func take(_ budget: inout Int, _ amount: Int = 1) -> Bool {
            guard budget >= amount else {
                isExhausted = true
                return false
            }
            budget -= amount
            return true
        }
    }
#endif
