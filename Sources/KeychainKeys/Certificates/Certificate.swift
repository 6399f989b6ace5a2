// SPDX-License-Identifier: Apache-2.0
// X.509 certificates as Apple reads them: unknown content within a field is ignored.

import Crypto
public import Foundation

/// A certificate: its bytes and fields. Nothing is verified.
///
/// ```swift
/// let certificate = try Certificate(der: bytes)
/// print(certificate.subjectSummary ?? "no name")
/// ```
///
/// Accepts what Apple's `SecCertificateCreateWithData` accepts: also certificates with keys that are too small, of unknown
/// algorithms, with negative serial numbers, or followed by other bytes. Does not protect against using such a
/// certificate.
public struct Certificate: Sendable {
    let bytes: ArraySlice<UInt8>
    /// 1, 2 or 3.
    public let version: Int
    /// The content of the INTEGER, including a leading zero byte.
    public let serialNumber: Data
    public let notBefore: Date
    public let notAfter: Date
    public let extensions: [CertificateExtension]
    let issuer: ArraySlice<UInt8>
    let subject: ArraySlice<UInt8>
    /// The contents of the normalized names, which are compared often; `nil` for a damaged name.
    let normalizedIssuerContent: [UInt8]?
    let normalizedSubjectContent: [UInt8]?
    let subjectPublicKeyInfo: ArraySlice<UInt8>
    let publicKeyBits: ArraySlice<UInt8>
    let known: KnownExtensions

    /// Longer certificates are rejected.
    static let limit = 1 << 20

    /// - Parameter der: DER; bytes after the certificate are ignored.
    public init(der: Data) throws(KeyFailure) {
        try self.init([UInt8](der)[...])
    }

    /// The limit is the same for files of any format: whoever stores the certificate reads it again from its DER.
    init(_ input: ArraySlice<UInt8>) throws(KeyFailure) {
        guard input.count <= Self.limit else { throw .limitExceeded("certificate") }
        bytes = try Self.withoutRest(input)
        var fields = try Self.signedFields(bytes)
        version = try Self.version(&fields)
        serialNumber = try Self.serialNumber(&fields)
        // The algorithm of the signature, which the outer structure repeats.
        _ = try fields.content(DERTag.sequence)
        issuer = try fields.content(DERTag.sequence)
        normalizedIssuerContent = DistinguishedName.normalized(issuer)
        (notBefore, notAfter) = try Self.validity(&fields)
        subject = try fields.content(DERTag.sequence)
        normalizedSubjectContent = DistinguishedName.normalized(subject)
        (subjectPublicKeyInfo, publicKeyBits) = try Self.publicKey(&fields)
        // Two identifiers that are not used in practice.
        _ = try fields.contentIfPresent(DERTag.contextPrimitive(1))
        _ = try fields.contentIfPresent(DERTag.contextPrimitive(2))
        extensions = try CertificateExtension.all(&fields)
        try fields.finish()
        known = try KnownExtensions(extensions)
    }

    /// The first element, copied, so that a longer input does not stay in memory.
    private static func withoutRest(_ input: ArraySlice<UInt8>) throws(KeyFailure) -> ArraySlice<UInt8> {
        var outer = DERReader(input, "certificate")
        guard outer.nextTag == DERTag.sequence else { throw .malformed(outer.format) }
        return [UInt8](try outer.next().encoded)[...]
    }

    /// The signed part, if the parts around it are valid.
    private static func signedFields(
        _ bytes: ArraySlice<UInt8>
    ) throws(KeyFailure) -> DERReader<ArraySlice<UInt8>> {
        var certificate = try DERReader.only(DERTag.sequence, in: bytes, "certificate")
        let fields = try certificate.within(DERTag.sequence)
        _ = try certificate.content(DERTag.sequence)
        _ = try certificate.content(DERTag.bitString)
        try certificate.finish()
        return fields
    }

    private static func validity(_ fields: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) -> (Date, Date) {
        var validity = try fields.within(DERTag.sequence)
        let dates = (try validity.time(), try validity.time())
        try validity.finish()
        return dates
    }

    /// The whole SubjectPublicKeyInfo, and the bits of the key in it.
    private static func publicKey(
        _ fields: inout DERReader<ArraySlice<UInt8>>
    ) throws(KeyFailure) -> (ArraySlice<UInt8>, ArraySlice<UInt8>) {
        let start = fields.rest
        var key = try fields.within(DERTag.sequence)
        _ = try key.content(DERTag.sequence)
        let bits = try key.bitString()
        try key.finish()
        return (start[..<fields.rest.startIndex], bits)
    }

    private static func version(_ fields: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) -> Int {
        guard fields.nextTag == DERTag.context(0) else { return 1 }
        var version = try fields.within(DERTag.context(0))
        let number = try version.smallInteger()
        try version.finish()
        // Version 1 is encoded by omission.
        guard number == 1 || number == 2 else { throw .malformed(fields.format) }
        return number + 1
    }

    private static func serialNumber(_ fields: inout DERReader<ArraySlice<UInt8>>) throws(KeyFailure) -> Data {
        let number = try fields.content(DERTag.integer)
        guard (1...37).contains(number.count) else { throw .malformed(fields.format) }
        return Data(number)
    }
}

extension Certificate {
    /// The bytes of the certificate, without the bytes that followed it.
    public var der: Data { Data(bytes) }

    /// SHA-1 of the public key's bits: `kSecAttrPublicKeyHash`, and the application label of its key.
    public var publicKeyHash: Data { Data(Insecure.SHA1.hash(data: publicKeyBits)) }

    /// SHA-256 of the certificate.
    public var fingerprint: Data { Data(SHA256.hash(data: bytes)) }

    /// The public key; `nil` if it is of an unsupported kind or size, or damaged.
    public var publicKey: PublicKey? { try? PublicKey(subjectPublicKeyInfo: subjectPublicKeyInfo) }

    public var subjectKeyIdentifier: Data? { known.subjectKeyIdentifier.map { Data($0) } }
}

extension Certificate: Hashable {
    public static func == (first: Certificate, second: Certificate) -> Bool { first.bytes == second.bytes }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
