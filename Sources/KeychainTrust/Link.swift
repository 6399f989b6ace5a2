// SPDX-License-Identifier: Apache-2.0
// A certificate of a chain, with what its checks need. Each part is read when it is first needed.

#if Certificates && os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys
    import KeychainServices
    import SwiftASN1
    import X509

    /// A certificate within one evaluation. It does not leave the thread of the evaluation.
    final class Link {
        let object: SecCertificate
        var content: KeychainKeys.Certificate { object.certificate }

        init(_ object: SecCertificate) { self.object = object }

        /// As swift-certificates reads it; `nil` if it does not, for example because of the kind of its key.
        private(set) lazy var parsed: X509.Certificate? = try? X509.Certificate(derEncoded: [UInt8](content.der))
        private(set) lazy var extensions = LinkExtensions(content)
        private lazy var fields = SignedFields(content.der)

        private(set) lazy var subject = content.normalizedSubject ?? Data()
        private(set) lazy var issuer = content.normalizedIssuer ?? Data()
        private(set) lazy var keyHash = content.publicKeyHash
        var isSelfIssued: Bool { !subject.isEmpty && subject == issuer }

        /// Whether its own key verifies its signature.
        private(set) lazy var isSelfSigned: Bool = isSelfIssued && isSigned(by: self)

        /// Whether the key of another certificate verifies its signature.
        func isSigned(by other: Link) -> Bool {
            guard let parsed, let key = other.parsed?.publicKey else { return false }
            return key.isValidSignature(parsed.signature, for: parsed)
        }

        /// The size of an RSA key or of a curve; `nil` for unknown kinds of keys.
        private(set) lazy var keySize: (isRSA: Bool, bits: Int)? = {
            if let key = content.publicKey { return (key.kind == .rsa, key.sizeInBits) }
            guard let info = fields?.keyInfo else { return nil }
            do throws(KeyFailure) {
                _ = try KeychainKeys.PublicKey(subjectPublicKeyInfo: info)
            } catch {
                // Only RSA keys have sizes that are refused.
                if case .unsupportedSize(let bits) = error { return (true, bits) }
            }
            return nil
        }()

        /// RSA keys below 2048 bits, which no signature is verified with, and those of sizes that are not supported.
        var hasWeakKey: Bool {
            guard let keySize else { return false }
            return keySize.isRSA && (keySize.bits < 2048 || content.publicKey == nil)
        }

        var hasWeakSignature: Bool { fields?.hasBrokenHash ?? false }

        private var hosts: [String: Bool] = [:]

        /// Whether it names a host.
        func isFor(_ host: String) -> Bool {
            if let known = hosts[host] { return known }
            // Foundation's functions for C end texts at a zero byte.
            let isText = !host.utf8.contains(0) && !host.hasSuffix("..")
            let isFor = isText && content.isFor(host: host.hasSuffix(".") ? String(host.dropLast()) : host)
            hosts[host] = isFor
            return isFor
        }

        /// Whether key identifiers say that another certificate has the key of the issuer: 1 if they do, -1 if they say
        /// the opposite, otherwise 0.
        func keyMatch(_ other: Link) -> Int {
            guard let wanted = extensions.authorityKey, let found = other.content.subjectKeyIdentifier else { return 0 }
            return wanted == found ? 1 : -1
        }
    }

    extension KeychainKeys.Certificate {
        /// Whether a date is within its validity; `false` for a date that is not a number.
        func isValid(at date: Date) -> Bool { date.isBetween(notBefore, and: notAfter) }
    }

    /// Fields that are needed of certificates, too, that swift-certificates does not read.
    private struct SignedFields {
        let algorithms: [ASN1ObjectIdentifier]
        let keyInfo: Data

        init?(_ der: Data) {
            do {
                let root = try DER.parse([UInt8](der))
                (algorithms, keyInfo) = try DER.sequence(root, identifier: .sequence) { nodes in
                    let (signed, algorithm, _) = (try Self.next(&nodes), try Self.next(&nodes), nodes.next())
                    let inner = try DER.sequence(signed, identifier: .sequence) { fields in
                        var field = try Self.next(&fields)
                        if field.identifier.tagClass == .contextSpecific { field = try Self.next(&fields) }
                        let algorithm = try Self.name(Self.next(&fields))
                        for _ in 0..<3 { _ = try Self.next(&fields) }
                        let info = try Self.next(&fields).encodedBytes
                        while fields.next() != nil {}
                        return (algorithm, Data(info))
                    }
                    return ([try Self.name(algorithm), inner.0], inner.1)
                }
            } catch {
                return nil
            }
        }

        private static func next(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ASN1Node {
            guard let node = nodes.next() else { throw KeyFailure.malformed("certificate") }
            return node
        }

        /// The name of an AlgorithmIdentifier.
        private static func name(_ node: ASN1Node) throws -> ASN1ObjectIdentifier {
            try DER.sequence(node, identifier: .sequence) { nodes in
                let name = try ASN1ObjectIdentifier(derEncoded: Self.next(&nodes))
                while nodes.next() != nil {}
                return name
            }
        }

        var hasBrokenHash: Bool { algorithms.contains { Self.broken.contains($0) } }

        /// MD2, MD4, MD5 and SHA-1, with RSA, DSA and ECDSA.
        private static let broken: Set<ASN1ObjectIdentifier> = [
            [1, 2, 840, 113_549, 1, 1, 2], [1, 2, 840, 113_549, 1, 1, 3], [1, 2, 840, 113_549, 1, 1, 4],
            [1, 2, 840, 113_549, 1, 1, 5], [1, 3, 14, 3, 2, 3], [1, 3, 14, 3, 2, 27], [1, 3, 14, 3, 2, 29],
            [1, 2, 840, 10_040, 4, 3], [1, 2, 840, 10_045, 4, 1],
        ]
    }
#endif
