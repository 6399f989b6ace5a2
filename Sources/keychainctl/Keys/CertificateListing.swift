// SPDX-License-Identifier: Apache-2.0
// Certificates and identities in tables, in full and in JSON.

import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKeys
import KeychainKit

/// A table of certificates, or of identities.
struct CertificateListing {
    private let header: [String]
    private let rows: [[String?]]

    init(_ certificates: [KeychainKeyStore.StoredCertificate]) {
        header = ["NAME", "EXPIRES", "FINGERPRINT", "ISSUER", "GROUP"]
        rows = certificates.map { stored in
            stored.firstCells + [stored.certificate.issuerName, stored.accessGroup]
        }
    }

    init(_ identities: [KeychainIdentity]) {
        let isProtected = identities.contains { $0.key.requiresAuthentication }
        header = ["NAME", "EXPIRES", "FINGERPRINT", "TAG", "TYPE", "GROUP"] + (isProtected ? ["PROTECTED"] : [])
        rows = identities.map { identity in
            identity.certificate.firstCells + [identity.key.tag, identity.key.typeName, identity.key.accessGroup]
                + (isProtected ? [identity.key.requiresAuthentication ? "asks" : nil] : [])
        }
    }

    func text(within limit: Int?) -> String {
        guard !rows.isEmpty else { return "" }
        // An empty cell would shift the others for programs that parse columns.
        let cells = rows.map { row in row.map { $0.flatMap { $0.isEmpty ? nil : $0.escapingControls() } ?? "-" } }
        return TextTable(header: header, rows: cells, cut: ["NAME", "ISSUER", "TAG", "GROUP", "FINGERPRINT"])
            .text(within: limit)
    }
}

extension KeychainKeyStore.StoredCertificate {
    fileprivate var firstCells: [String?] {
        [certificate.name ?? label, certificate.notAfter.timestamp(withFraction: false), certificate.fingerprint]
    }
}

/// The fields of one certificate as lines.
struct CertificateText {
    let stored: KeychainKeyStore.StoredCertificate
    /// Those with its private key.
    let identities: [KeychainIdentity]

    var text: String {
        lines.map { name, value in "\(name): \(value.escapingControls())\n" }.joined()
    }

    private var lines: [(String, String)] {
        let certificate = stored.certificate
        let fields: [(String, String?)] = [
            ("Name", certificate.name), ("Label", stored.label), ("Issuer", certificate.issuerName),
            ("Serial number", certificate.serialNumber.hexadecimalText),
            ("Valid from", certificate.notBefore.timestamp(withFraction: false)),
            ("Valid until", certificate.notAfter.timestamp(withFraction: false)),
            ("Host names", certificate.dnsNames.joined(separator: ", ")),
            ("E-mail addresses", certificate.emailAddresses.joined(separator: ", ")),
            ("Issues certificates", certificate.isAuthority ? "yes" : "no"),
            ("Key", certificate.content.publicKey?.shown),
            ("Fingerprint (SHA-256)", certificate.fingerprint), ("Access group", stored.accessGroup),
            (
                "Private key",
                identities.isEmpty ? nil : identities.map { $0.key.tag ?? "without a tag" }.joined(separator: ", ")
            ),
        ]
        return fields.compactMap { name, value in value.flatMap { $0.isEmpty ? nil : (name, $0) } }
    }
}

/// A certificate in JSON. Every key exists; the value is `null` if the certificate does not have it.
struct CertificateJSON: Encodable {
    let stored: KeychainKeyStore.StoredCertificate

    private enum Name: String, CodingKey {
        case name, label, issuer, serialNumber, notBefore, notAfter, dnsNames, emailAddresses, isAuthority, fingerprint
        case publicKeyHash, accessGroup, created, modified, synchronizable, accessibility
    }

    func encode(to encoder: any Encoder) throws {
        let certificate = stored.certificate
        var object = encoder.container(keyedBy: Name.self)
        try object.encode(certificate.name, forKey: .name)
        try object.encode(stored.label, forKey: .label)
        try object.encode(certificate.issuerName, forKey: .issuer)
        try object.encode(certificate.serialNumber.hexadecimalText, forKey: .serialNumber)
        try object.encode(certificate.notBefore.timestamp(withFraction: false), forKey: .notBefore)
        try object.encode(certificate.notAfter.timestamp(withFraction: false), forKey: .notAfter)
        try object.encode(certificate.dnsNames, forKey: .dnsNames)
        try object.encode(certificate.emailAddresses, forKey: .emailAddresses)
        try object.encode(certificate.isAuthority, forKey: .isAuthority)
        try object.encode(certificate.fingerprint, forKey: .fingerprint)
        try object.encode(certificate.publicKeyHash.hexadecimalText, forKey: .publicKeyHash)
        try object.encode(stored.accessGroup, forKey: .accessGroup)
        try object.encode(stored.item.created?.timestamp(withFraction: true), forKey: .created)
        try object.encode(stored.item.modified?.timestamp(withFraction: true), forKey: .modified)
        try object.encode(stored.synchronizable, forKey: .synchronizable)
        try object.encode(stored.item.accessibility.name, forKey: .accessibility)
    }
}

/// An identity in `identity list --json`: its certificate, its key, and the fingerprints of its chain.
struct IdentityJSON: Encodable {
    let identity: KeychainIdentity

    private enum Name: String, CodingKey {
        case certificate, key, chain
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        try object.encode(CertificateJSON(stored: identity.certificate), forKey: .certificate)
        try object.encode(KeyJSON(key: identity.key), forKey: .key)
        try object.encode(identity.chain.map(\.fingerprint), forKey: .chain)
    }
}
