// SPDX-License-Identifier: Apache-2.0
// What the extensions of a certificate say about chains.

#if Certificates && os(Linux)
    import Foundation
    import KeychainKeys
    import SwiftASN1
    import X509

    /// The extensions of a certificate that checks know.
    struct LinkExtensions {
        private(set) var basicConstraints: BasicConstraints?
        private(set) var keyUsage: KeyUsage?
        /// Object identifiers of purposes; `nil` without the extension.
        private(set) var purposes: [String]?
        private(set) var names: [GeneralName] = []
        private(set) var hasCriticalNames = false
        private(set) var constraints: NameConstraints?
        private(set) var policies = CertificatePolicies()
        private(set) var authorityKey: Data?
        /// Failed checks of the extensions themselves.
        private(set) var failures: Set<TrustCheck> = []

        init(_ certificate: KeychainKeys.Certificate) {
            var seen: Set<String> = []
            for entry in certificate.extensions {
                let identifier = entry.identifier
                if !seen.insert(identifier).inserted { failures.insert(.duplicateExtension) }
                guard let read = Self.known[identifier] else {
                    if entry.isCritical, !Self.ignored.contains(identifier) { failures.insert(.unknownExtension) }
                    continue
                }
                do {
                    try read(&self, entry.isCritical, ArraySlice(entry.value))
                } catch {
                    failures.insert(.unparseableExtension)
                }
            }
        }

        private typealias Reader = @Sendable (inout LinkExtensions, Bool, ArraySlice<UInt8>) throws -> Void

        /// Allowed to be critical although nothing here depends on them: alternative names of the issuer, and where
        /// revocation lists are.
        private static let ignored: Set<String> = ["2.5.29.18", "2.5.29.31"]

        private static let known: [String: Reader] = [
            "2.5.29.14": { _, _, value in _ = try ASN1OctetString(derEncoded: DER.parse(value)) },
            "2.5.29.15": { $0.keyUsage = try KeyUsage(.init(oid: [2, 5, 29, 15], critical: $1, value: $2)) },
            "2.5.29.17": {
                $0.names = Array(try SubjectAlternativeNames(.init(oid: [2, 5, 29, 17], critical: $1, value: $2)))
                $0.hasCriticalNames = $1 && !$0.names.isEmpty
            },
            "2.5.29.19": {
                $0.basicConstraints = try BasicConstraints(.init(oid: [2, 5, 29, 19], critical: $1, value: $2))
            },
            "2.5.29.30": {
                $0.constraints = try NameConstraints(.init(oid: [2, 5, 29, 30], critical: $1, value: $2))
            },
            "2.5.29.32": { try $0.policies.readPolicies($2) },
            "2.5.29.33": { entry, _, _ in entry.policies.hasMappings = true },
            "2.5.29.35": {
                let read = try AuthorityKeyIdentifier(.init(oid: [2, 5, 29, 35], critical: $1, value: $2))
                $0.authorityKey = read.keyIdentifier.map { Data($0) }
            },
            "2.5.29.36": { try $0.policies.readConstraints($2) },
            "2.5.29.37": { entry, _, value in
                entry.purposes = try DER.sequence(DER.parse(value), identifier: .sequence) { nodes in
                    var found: [String] = []
                    while let node = nodes.next() {
                        found.append(try LongIdentifier.text(ofDER: node.encodedBytes))
                    }
                    return found
                }
            },
            "2.5.29.54": { try $0.policies.readInhibition($2) },
        ]
    }

    /// The policies that a certificate was issued under, and what it requires of those below it.
    struct CertificatePolicies {
        /// Object identifiers.
        private(set) var identifiers: Set<String> = []
        var hasMappings = false
        /// The number of certificates below this one after which each must have a policy of all above it.
        private(set) var requiredAfter: Int?
        /// The number of certificates below this one after which "any policy" names none.
        private(set) var anyEndsAfter: Int?

        static let anyPolicy = "2.5.29.32.0"

        mutating func readPolicies(_ value: ArraySlice<UInt8>) throws {
            identifiers = try DER.sequence(DER.parse(value), identifier: .sequence) { nodes in
                var found: Set<String> = []
                while let node = nodes.next() {
                    try DER.sequence(node, identifier: .sequence) { fields in
                        guard let name = fields.next() else { throw KeyFailure.malformed("certificate policy") }
                        found.insert(try LongIdentifier.text(ofDER: name.encodedBytes))
                        while fields.next() != nil {}
                    }
                }
                return found
            }
        }

        mutating func readConstraints(_ value: ArraySlice<UInt8>) throws {
            requiredAfter = try DER.sequence(DER.parse(value), identifier: .sequence) { nodes in
                let required = try DER.optionalImplicitlyTagged(
                    &nodes, tagNumber: 0, tagClass: .contextSpecific
                ) { try Int(derEncoded: $0, withIdentifier: $0.identifier) }
                while nodes.next() != nil {}
                return required.map { max(0, $0) }
            }
        }

        mutating func readInhibition(_ value: ArraySlice<UInt8>) throws {
            anyEndsAfter = max(0, try Int(derEncoded: DER.parse(value)))
        }
    }
#endif
