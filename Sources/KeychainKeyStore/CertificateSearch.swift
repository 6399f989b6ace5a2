// SPDX-License-Identifier: Apache-2.0
// Which certificates and identities a search finds.

public import Foundation
import KeychainKeys

/// Conditions on certificates. A certificate matches if it meets all that are given; without any, all match.
///
/// ```swift
/// let usable = CertificateSearch(usage: .clientAuthentication, validAt: Date())
/// let identity = try keys.identities(matching: usable).first
/// ```
public struct CertificateSearch: Hashable, Sendable {
    /// The name of the certificate, its common name, or the label of its item.
    public var name: String?
    /// The SHA-256 fingerprint in hexadecimal digits, or its first digits. Colons and capital letters make no difference.
    public var fingerprint: String?
    /// Distinguished names in DER, as a TLS server sends those that it accepts: one of them issued the certificate, or
    /// a certificate above it that is stored.
    public var issuers: [Data]?
    /// What the key is used for.
    public var usage: CertificateUsage?
    /// A date within the validity.
    public var validAt: Date?
    /// A host that the certificate is for.
    public var host: String?

    /// A search with these conditions; `nil`: without the condition.
    public init(
        name: String? = nil, fingerprint: String? = nil, issuers: [Data]? = nil, usage: CertificateUsage? = nil,
        validAt: Date? = nil, host: String? = nil
    ) {
        (self.name, self.fingerprint, self.issuers) = (name, fingerprint, issuers)
        (self.usage, self.validAt, self.host) = (usage, validAt, host)
    }
}

extension CertificateSearch {
    /// - Parameter others: The certificates among which the chain is looked for.
    func matches(_ stored: StoredCertificate, among others: [Certificate]) -> Bool {
        let certificate = stored.certificate
        return isOfThisName(stored) && isOfThisFingerprint(certificate)
            && (usage.map { certificate.isFor($0) } ?? true) && (validAt.map { certificate.isValid(at: $0) } ?? true)
            && (host.map { certificate.isFor(host: $0) } ?? true) && isOfTheseIssuers(certificate, others)
    }

    private func isOfThisName(_ stored: StoredCertificate) -> Bool {
        guard let name else { return true }
        return [stored.certificate.name, stored.certificate.commonName, stored.label].contains(name)
    }

    private func isOfThisFingerprint(_ certificate: KeychainCertificate) -> Bool {
        guard let fingerprint else { return true }
        let digits = fingerprint.lowercased().filter { $0 != ":" }
        return !digits.isEmpty && certificate.fingerprint.hasPrefix(digits)
    }

    private func isOfTheseIssuers(_ certificate: KeychainCertificate, _ others: [Certificate]) -> Bool {
        guard let issuers else { return true }
        let wanted = Set(issuers.compactMap { Certificate.normalizedName($0) })
        return certificate.content.chain(from: others).contains { certificate in
            certificate.normalizedIssuer.map { wanted.contains($0) } ?? false
        }
    }
}
