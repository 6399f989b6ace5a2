// SPDX-License-Identifier: Apache-2.0
// A certificate as a value: its bytes and the fields that people and programs look at.

public import Foundation
package import KeychainKeys
public import KeychainKit

/// An X.509 certificate: its DER bytes and its fields. Nothing is verified: neither its signature nor its issuers, nor
/// whether it is valid today.
///
/// ```swift
/// let certificate = try KeychainCertificate(pem: text)
/// print(certificate.name ?? "-", certificate.notAfter, certificate.fingerprint)
/// ```
///
/// Certificates that Apple's functions accept are accepted, also those with weak or unknown keys. Two certificates are
/// equal if their bytes are.
public struct KeychainCertificate: Hashable, Sendable {
    package let content: Certificate

    package init(_ content: Certificate) { self.content = content }

    /// - Parameter der: The certificate in DER. Bytes that follow it are ignored.
    /// - Throws: `undecodableInput` if it is none; `tooLarge` beyond 1 MiB.
    public init(der: Data) throws(KeychainError) {
        do throws(KeyFailure) {
            content = try Certificate(der: der)
        } catch {
            throw error.inKeychainWords("The data", expected: "certificate")
        }
    }

    /// The first certificate of a PEM text.
    ///
    /// - Throws: `undecodableInput` if there is none, or a certificate of the text is damaged or followed by other bytes;
    ///   `tooLarge` if one has more than 1 MiB.
    public init(pem: String) throws(KeychainError) {
        let first: Certificate?
        // The text may also contain a key.
        var text = pem
        let bytes = text.withUTF8 { SecretBytes(copying: UnsafeRawBufferPointer($0)) }
        do throws(KeyFailure) {
            first = try Certificate.all(pem: bytes).first
        } catch {
            throw error.inKeychainWords("The text", expected: "certificate")
        }
        guard let first else { throw KeychainError(.undecodableInput, "The text contains no certificate in PEM.") }
        content = first
    }

    /// The bytes in DER.
    public var der: Data { content.der }
    /// The certificate in PEM.
    public var pem: String { content.pem }

    /// The subject in one line for people: its common name, or otherwise what it has. `nil` without any name.
    public var name: String? { content.subjectSummary }
    /// The last common name of the subject.
    public var commonName: String? { content.commonName }
    /// The issuer in one line for people.
    public var issuerName: String? { content.issuerSummary }
    /// The e-mail addresses of the subject.
    public var emailAddresses: [String] { content.emailAddresses }
    /// The host names in the alternative names of the subject.
    public var dnsNames: [String] { content.dnsNames }
    /// The bytes of the serial number, including a leading zero.
    public var serialNumber: Data { content.serialNumber }
    /// The beginning of its validity.
    public var notBefore: Date { content.notBefore }
    /// The end of its validity.
    public var notAfter: Date { content.notAfter }
    /// Whether it states that it may issue certificates.
    public var isAuthority: Bool { content.isAuthority }

    /// SHA-256 of the certificate, in hexadecimal digits.
    public var fingerprint: String { content.fingerprint.hexadecimalText }
    /// SHA-1 of the public key: the ``StoredKey/applicationLabel`` of its private key.
    public var publicKeyHash: Data { content.publicKeyHash }

    /// Whether a date is within its validity; `false` for a date that is not a number.
    public func isValid(at date: Date) -> Bool { date.isBetween(notBefore, and: notAfter) }

    /// Whether it names a host among its DNS names or IP addresses. Common names do not count.
    public func isFor(host: String) -> Bool { content.isFor(host: host) }

    /// Whether its key may be used for a purpose. A certificate without a list of purposes is for all of them, and one
    /// whose list is damaged for none.
    public func isFor(_ usage: CertificateUsage) -> Bool {
        guard let usages = content.extendedKeyUsages else { return true }
        return usages.contains(usage.identifier) || usages.contains(CertificateUsage.any)
    }
}

extension KeychainCertificate: CustomStringConvertible {
    /// Its name and the first digits of its fingerprint.
    public var description: String { "KeychainCertificate(\(name ?? "-"), \(fingerprint.prefix(16)))" }
}

/// What the key of a certificate is for (extended key usage).
///
/// ```swift
/// let usable = try keys.identities(matching: CertificateSearch(usage: .clientAuthentication))
/// ```
public struct CertificateUsage: Hashable, Sendable {
    /// The object identifier, in numbers with dots.
    public let identifier: String

    public init(identifier: String) { self.identifier = identifier }

    /// A server of TLS.
    public static let serverAuthentication = CertificateUsage(identifier: "1.3.6.1.5.5.7.3.1")
    /// A client of TLS.
    public static let clientAuthentication = CertificateUsage(identifier: "1.3.6.1.5.5.7.3.2")
    /// Signatures of programs.
    public static let codeSigning = CertificateUsage(identifier: "1.3.6.1.5.5.7.3.3")
    /// Signed and encrypted mail.
    public static let emailProtection = CertificateUsage(identifier: "1.3.6.1.5.5.7.3.4")

    static let any = "2.5.29.37.0"
}

extension Data {
    package var hexadecimalText: String {
        reduce(into: "") { $0 += ($1 < 0x10 ? "0" : "") + String($1, radix: 16) }
    }
}
