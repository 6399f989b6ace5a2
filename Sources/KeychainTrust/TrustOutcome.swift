// SPDX-License-Identifier: Apache-2.0
// What an evaluation found, and the error that tells it.

#if Certificates && os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys
    import KeychainServices

    /// The chain that came closest to trust, and the checks that failed in it.
    struct TrustOutcome: Sendable {
        let chain: [SecCertificate]
        /// The most important first.
        let failures: [TrustFailure]

        init(_ chain: [SecCertificate], _ failures: [TrustFailure]) {
            self.chain = chain
            self.failures = failures.sorted { $0.rank.lexicographicallyPrecedes($1.rank) }
        }

        func result(_ exceptions: TrustExceptions?) -> SecTrustResultType {
            guard !failures.isEmpty else { return .unspecified }
            if failures.contains(where: \.check.isFatal) { return .fatalTrustFailure }
            let isExcused = failures.allSatisfy { exceptions?.excuse($0, of: chain) ?? false }
            if isExcused { return .proceed }
            return failures.contains { $0.check == .rootsUnreadable } ? .otherError : .recoverableTrustFailure
        }

        /// The error; `nil` if nothing failed.
        var error: NSError? {
            guard let first = failures.first else { return nil }
            let all = failures.map { "Certificate \($0.index), \(name($0)): \($0.check.explanation)" }
            let details = Self.error(first.check.status, "Failed checks: " + all.joined(separator: " "), nil)
            let text = "The certificate \(name(first)) is not trusted: \(first.check.explanation)"
            return Self.error(first.check.status, text, details)
        }

        private func name(_ failure: TrustFailure) -> String { chain[failure.index].certificate.displayName }

        private static func error(_ status: OSStatus, _ text: String, _ underlying: NSError?) -> NSError {
            var details: [String: Any] = [NSLocalizedDescriptionKey: text]
            details[NSUnderlyingErrorKey] = underlying
            return NSError(domain: KeychainError.errorDomain, code: Int(status), userInfo: details)
        }
    }

    /// A check that a certificate of the chain failed.
    struct TrustFailure: Hashable, Sendable {
        /// The place of the certificate in the chain.
        let index: Int
        let check: TrustCheck

        init(_ index: Int, _ check: TrustCheck) { (self.index, self.check) = (index, check) }

        /// The kind of the check, then the place, then the check.
        var rank: [Int] { [check.kind.rawValue, index, check.order] }
    }

    /// What is checked. The names are those in stored exceptions.
    enum TrustCheck: String, CaseIterable, Sendable {
        case keySize = "KeySize"
        case weakSignature = "WeakSignature"
        case signature = "Signature"
        case unknownExtension = "UnknownCriticalExtension"
        case unparseableExtension = "UnparseableExtension"
        case duplicateExtension = "DuplicateExtension"
        case missingConstraints = "BasicConstraints"
        case notAuthority = "BasicConstraintsCA"
        case pathLength = "BasicConstraintsPathLength"
        case keyIdentifier = "IDLinkage"
        case emptySubject = "NonEmptySubject"
        case nameConstraints = "NameConstraints"
        case policyConstraints = "PolicyConstraints"
        case lifetime = "ValidityPeriodMaximum"
        case chainTooComplex = "Chain"
        case anchor = "AnchorTrusted"
        /// As `anchor`, and the roots of the system could not be read.
        case rootsUnreadable = "SystemRoots"
        case keyUsage = "KeyUsage"
        case extendedKeyUsage = "ExtendedKeyUsage"
        case host = "SSLHostname"
        case date = "TemporalValidity"

        /// The kinds, by importance.
        enum Kind: Int, Sendable {
            case keySize, weakSignature, compliance, trust, usage, name, expired
        }

        var kind: Kind {
            switch self {
            case .keySize: .keySize
            case .weakSignature: .weakSignature
            case .anchor, .rootsUnreadable, .chainTooComplex: .trust
            case .keyUsage, .extendedKeyUsage: .usage
            case .host: .name
            case .date: .expired
            default: .compliance
            }
        }

        var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        /// Whether exceptions have no effect.
        var isFatal: Bool { [.keySize, .weakSignature, .signature].contains(self) }

        /// The name in exceptions: an untrusted root stays excused when the roots of the system cannot be read.
        var exceptionName: String { (self == .rootsUnreadable ? .anchor : self).rawValue }
    }

    extension TrustCheck {
        var status: OSStatus {
            switch self {
            case .keySize: errSecUnsupportedKeySize
            case .weakSignature: errSecInvalidDigestAlgorithm
            case .signature: errSecInvalidCertificateRef
            case .unknownExtension: errSecUnknownCriticalExtensionFlag
            case .unparseableExtension: errSecUnknownCertExtension
            case .duplicateExtension: errSecCertificateDuplicateExtension
            case .missingConstraints: errSecNoBasicConstraints
            case .notAuthority: errSecNoBasicConstraintsCA
            case .pathLength: errSecPathLengthConstraintExceeded
            case .keyIdentifier: errSecInvalidIDLinkage
            case .emptySubject: errSecInvalidSubjectName
            case .nameConstraints: errSecInvalidName
            case .policyConstraints: errSecInvalidPolicyIdentifiers
            case .lifetime: errSecCertificateValidityPeriodTooLong
            case .chainTooComplex: errSecCreateChainFailed
            case .anchor: errSecNotTrusted
            case .rootsUnreadable: errSecTrustNotAvailable
            case .keyUsage: errSecInvalidKeyUsageForPolicy
            case .extendedKeyUsage: errSecInvalidExtendedKeyUsage
            case .host: errSecHostNameMismatch
            case .date: errSecCertificateExpired
            }
        }

        var explanation: String {
            switch self {
            case .keySize: "Its key is too short, or of an unsupported size. Issue a certificate for a new key."
            case .weakSignature: "It is signed with a broken hash algorithm. Issue it again with SHA-256."
            case .signature: "Its signature does not verify with the key of its issuer."
            case .unknownExtension: "It has a critical extension that is not supported."
            case .unparseableExtension: "One of its extensions is malformed."
            case .duplicateExtension: "It has one extension twice."
            case .missingConstraints: "It issued a certificate, and has no basic constraints."
            case .notAuthority: "It issued a certificate, and is not an authority."
            case .pathLength: "There are more authorities below it than it allows."
            case .keyIdentifier: "It names another key of its issuer."
            case .emptySubject: "It has no subject."
            case .nameConstraints: "It has a name that an authority above it does not allow."
            case .policyConstraints: "An authority above it requires a certificate policy that it does not have."
            case .lifetime: "It is valid for more days than the policy allows. Issue it for 398 days at most."
            case .chainTooComplex: "There are too many ways to a root. Pass fewer intermediate certificates."
            case .anchor: "No trusted root issued it. Pass the intermediate certificates, or set the root as an anchor."
            case .rootsUnreadable: SystemRoots.explanation
            case .keyUsage: "It issued a certificate, and its key is not for that."
            case .extendedKeyUsage: "It is for other purposes."
            case .host: "It does not name the host."
            case .date: "It has expired, or is not valid yet."
            }
        }
    }

    extension Certificate {
        /// The summary in quotes, without control characters and at most 100 characters of it.
        var displayName: String {
            guard let subjectSummary else { return "without a name" }
            let allowed = subjectSummary.unicodeScalars.lazy.filter {
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
            return "\"\(String(String.UnicodeScalarView(allowed.prefix(100))))\""
        }
    }
#endif
