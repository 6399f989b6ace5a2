// SPDX-License-Identifier: Apache-2.0
// security find-certificate and find-identity.

import Crypto
import Foundation
import KeychainKeys
import KeychainKit

enum CertificateCommands {
    static func find(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("ac:e:mpZ")
        let all = try call.readableCertificates(in: call.searched(options.words)).filter { matches($0, options) }
        // As on macOS, a list of all may be empty.
        guard !all.isEmpty || options.has("a") else {
            throw SecurityFailure("SecKeychainSearchCopyNext", SecurityStatus.itemNotFound)
        }
        for certificate in options.has("a") ? all : Array(all.prefix(1)) { try write(certificate, options) }
    }

    /// Like macOS, a name matches if it is a part of the common name in capital or small letters.
    private static func matches(_ stored: StoredCertificate, _ options: SecurityOptions) -> Bool {
        let certificate = stored.certificate
        if let name = options["c"]?.lowercased() {
            let own = [certificate.commonName, certificate.subjectSummary, stored.found.item.label].compactMap(\.self)
            guard own.contains(where: { $0.lowercased().hasPart(name) }) else { return false }
        }
        guard let email = options["e"] else { return true }
        return certificate.emailAddresses.contains { $0.lowercased() == email.lowercased() }
    }

    private static func write(_ stored: StoredCertificate, _ options: SecurityOptions) throws(SecurityFailure) {
        var text = ""
        if options.has("Z") {
            text += "SHA-256 hash: \(ValueForm.hexadecimal(stored.certificate.fingerprint))\n"
            text += "SHA-1 hash: \(stored.certificate.shortFingerprint)\n"
        }
        if options.has("m") {
            let addresses = stored.certificate.emailAddresses.map(\.escaped)
            text += "email addresses: \(addresses.isEmpty ? "" : addresses.joined(separator: ", "))\n"
        }
        text += options.has("p") ? stored.certificate.pem : stored.found.block.text
        try naming("write") { [text] () throws(KeychainError) in try Output.write(text) }
    }

    // MARK: - Identities

    static func findIdentity(_ call: SecurityCall) throws(SecurityFailure) {
        let options = try call.options("p:s:v")
        guard let policy = policies[options["p"] ?? "basic"] else { throw .usage() }
        let identities = try call.identities(in: call.searched(options.words))
            .filter { identity in options["s"].map { identity.certificate.commonName?.hasPart($0) ?? false } ?? true }
        let now = Date()
        let valid = identities.filter { $0.certificate.invalidity(at: now) == nil }
        var text = options["s"].map { "Looking for identities matching \"\($0.escaped)\"\n" } ?? ""
        if !options.has("v") {
            text += "\nPolicy: \(policy)\n  Matching identities\n" + lines(identities, now)
            text += "     \(identities.count) identities found\n\n  Valid identities only\n"
        }
        text += lines(valid, now) + "     \(valid.count) valid identities found\n"
        try naming("write") { [text] () throws(KeychainError) in try Output.write(text) }
    }

    /// Only named: no policy is evaluated.
    private static let policies = [
        "ssl-client": "SSL (client)", "ssl-server": "SSL (server)", "smime": "S/MIME", "eap": "EAP", "ipsec": "IPsec",
        "ichat": "iChat", "codesigning": "Code Signing", "basic": "X.509 Basic", "appleID": "AppleID Sharing",
        "macappstore": "Mac App Store Receipt",
    ]

    private static func lines(_ identities: [StoredIdentity], _ now: Date) -> String {
        identities.enumerated().map { index, identity in
            let name = identity.certificate.subjectSummary ?? ""
            let place = String(repeating: " ", count: max(0, 3 - String(index + 1).count)) + String(index + 1)
            let reason = identity.certificate.invalidity(at: now).map { " (\($0))" } ?? ""
            return "\(place)) \(identity.certificate.shortFingerprint) \"\(name.escaped)\"\(reason)\n"
        }.joined()
    }
}

/// A private key and its certificate.
struct StoredIdentity {
    let key: StoredKey
    let stored: StoredCertificate

    var certificate: Certificate { stored.certificate }
}

extension SecurityCall {
    func identities(in keychains: [NamedKeychain]) throws(SecurityFailure) -> [StoredIdentity] {
        let certificates = try certificates(in: keychains)
        var identities: [StoredIdentity] = []
        for key in try keys(in: keychains) {
            guard case .private = key.content else { continue }
            for stored in certificates where stored.certificate.publicKeyHash == key.label {
                identities.append(StoredIdentity(key: key, stored: stored))
            }
        }
        return identities
    }
}

extension Certificate {
    /// Why the certificate is not valid, by its dates alone: no chain is evaluated.
    fileprivate func invalidity(at now: Date) -> String? {
        if now < notBefore { return "CSSMERR_TP_CERT_NOT_VALID_YET" }
        return now > notAfter ? "CSSMERR_TP_CERT_EXPIRED" : nil
    }

    /// SHA-1 in hexadecimal digits, by which scripts name certificates.
    var shortFingerprint: String { ValueForm.hexadecimal(Data(Insecure.SHA1.hash(data: der))) }
}

extension String {
    /// Whether the text contains this one, byte by byte.
    func hasPart(_ part: String) -> Bool {
        let (whole, part) = (Array(utf8), Array(part.utf8))
        guard part.count <= whole.count else { return false }
        return (0...(whole.count - part.count)).contains { whole[$0...].starts(with: part) }
    }
}
