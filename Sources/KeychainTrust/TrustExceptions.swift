// SPDX-License-Identifier: Apache-2.0
// Checks that a caller excuses, as bytes that it stores.

#if Certificates && os(Linux)
    import Crypto
    import Foundation
    import KeychainEngine
    import KeychainKeys
    import KeychainServices

    /// The failed checks of each certificate of a chain, from the leaf.
    struct TrustExceptions: Sendable {
        private let entries: [Entry]

        /// The longest chain needs half of it. Longer bytes are not read, and no XML: Foundation's reader of that ends the
        /// program on deeply nested elements.
        private static let limit = 8 << 10

        init(_ outcome: TrustOutcome) {
            entries = outcome.chain.enumerated().map { index, certificate in
                let failed = outcome.failures.filter { $0.index == index }
                return Entry(
                    digest: Self.digest(certificate),
                    checks: Dictionary(failed.map { ($0.check.exceptionName, false) }) { first, _ in first })
            }
        }

        /// - Returns: `nil` for bytes that are no exceptions.
        init?(encoded: Data) {
            guard encoded.count <= Self.limit, encoded.starts(with: "bplist00".utf8),
                BinaryPropertyList.isPlain(encoded),
                let entries = try? PropertyListDecoder().decode([Entry].self, from: encoded)
            else { return nil }
            self.entries = entries
        }

        /// A binary property list.
        var encoded: Data? {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            return try? encoder.encode(entries)
        }

        func matches(_ leaf: SecCertificate) -> Bool { entries.first?.digest == Self.digest(leaf) }

        /// Whether a failed check is excused: at the same place of the chain, for the same certificate.
        func excuse(_ failure: TrustFailure, of chain: [SecCertificate]) -> Bool {
            guard !failure.check.isFatal, entries.indices.contains(failure.index) else { return false }
            let entry = entries[failure.index]
            return entry.digest == Self.digest(chain[failure.index])
                && entry.checks[failure.check.exceptionName] == false
        }

        /// SHA-1, as in Apple's list. Who can make two certificates with one hash could have the better one excused as well.
        private static func digest(_ certificate: SecCertificate) -> Data {
            Data(Insecure.SHA1.hash(data: certificate.certificate.der))
        }
    }

    /// The digest of a certificate and its failed checks, in one dictionary.
    private struct Entry: Codable, Sendable {
        let digest: Data
        let checks: [String: Bool]

        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(_ name: String) { stringValue = name }
            init?(stringValue: String) { self.init(stringValue) }
            init?(intValue: Int) { nil }

            static let digest = Name("SHA1Digest")
        }

        init(digest: Data, checks: [String: Bool]) { (self.digest, self.checks) = (digest, checks) }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Name.self)
            digest = try values.decode(Data.self, forKey: .digest)
            var checks: [String: Bool] = [:]
            for name in values.allKeys where name.stringValue != Name.digest.stringValue {
                checks[name.stringValue] = try values.decode(Bool.self, forKey: name)
            }
            self.checks = checks
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: Name.self)
            try values.encode(digest, forKey: .digest)
            for (name, passed) in checks { try values.encode(passed, forKey: Name(name)) }
        }
    }
#endif
