// SPDX-License-Identifier: Apache-2.0
// What a keychain stores about a certificate besides its bytes, derived from the certificate.

public import Foundation

/// The attributes that an item of class certificate has because of its certificate. Every API that stores certificates sets
/// all of them, so that each finds the certificates of the other.
///
/// ```swift
/// let columns = CertificateColumns(try Certificate(der: bytes))
/// print(columns.type, columns.label ?? "no name")
/// ```
public struct CertificateColumns: Hashable, Sendable {
    /// `kSecAttrCertificateType` (ctyp): the version, 1, 2 or 3.
    public let type: Int
    /// `kSecAttrCertificateEncoding` (cenc): DER.
    public let encoding = 3
    /// `kSecAttrIssuer` (issr): the normalized content of the name; `nil` for a damaged name.
    public let issuer: Data?
    /// `kSecAttrSubject` (subj): the same of the subject.
    public let subject: Data?
    /// `kSecAttrSerialNumber` (slnr): the content of the INTEGER.
    public let serialNumber: Data
    /// `kSecAttrSubjectKeyID` (skid); `nil` without the extension.
    public let subjectKeyIdentifier: Data?
    /// `kSecAttrPublicKeyHash` (pkhh): the application label of its key.
    public let publicKeyHash: Data
    /// `kSecAttrLabel` (labl) of a new item: the summary of the subject. It is no condition for the certificate.
    public let label: String?

    public init(_ certificate: Certificate) {
        type = certificate.version
        (issuer, subject) = (certificate.normalizedIssuer, certificate.normalizedSubject)
        (serialNumber, subjectKeyIdentifier) = (certificate.serialNumber, certificate.subjectKeyIdentifier)
        (publicKeyHash, label) = (certificate.publicKeyHash, certificate.subjectSummary)
    }

    /// The columns that identify the certificate, without the label, in the types of a caller.
    ///
    /// - Parameter name: An attribute by the four letters of Apple's constant.
    package func attributes<Name, Value>(
        _ name: (String) -> Name?, _ number: (Int64) -> Value, _ data: (Data) -> Value
    ) -> [(name: Name, value: Value)] {
        let columns = [
            ("ctyp", number(Int64(type))), ("cenc", number(Int64(encoding))), ("issr", issuer.map(data)),
            ("subj", subject.map(data)), ("slnr", data(serialNumber)), ("skid", subjectKeyIdentifier.map(data)),
            ("pkhh", data(publicKeyHash)),
        ]
        return columns.compactMap { letters, value in
            guard let name = name(letters), let value else { return nil }
            return (name, value)
        }
    }
}
