// SPDX-License-Identifier: Apache-2.0
// Certificates as text.

import Foundation
public import SecretMemory

extension Certificate {
    /// All certificates of a PEM text, which may also contain keys.
    public static func all(pem text: SecretBytes) throws(KeyFailure) -> [Certificate] {
        var certificates: [Certificate] = []
        for block in try PEMBlock.all(in: text) where block.isCertificate {
            certificates.append(try block.certificate())
        }
        return certificates
    }

    public var pem: String {
        let der = bytes.withUnsafeBytes { SecretBytes(copying: $0) }
        return PEMBlock.text("CERTIFICATE", der).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension PEMBlock {
    private static let trusted = "TRUSTED CERTIFICATE"

    var isCertificate: Bool { ["CERTIFICATE", "X509 CERTIFICATE", Self.trusted].contains(label) }

    /// - Throws: `KeyFailure.malformed` if other bytes follow it. They would be left out, while the caller believes that
    ///   everything is stored.
    func certificate() throws(KeyFailure) -> Certificate {
        let bytes = content.withUnsafeBytes { [UInt8]($0) }
        let certificate = try Certificate(bytes[...])
        let rest = bytes.dropFirst(certificate.bytes.count)
        guard rest.isEmpty || label == Self.trusted && Self.isTrust(rest) else { throw .malformed("certificate alone") }
        return certificate
    }

    /// Whether bytes are what `openssl x509 -trustout` writes after a certificate, rather than another certificate.
    private static func isTrust(_ bytes: ArraySlice<UInt8>) -> Bool {
        (try? DERReader.only(DERTag.sequence, in: bytes, "trust")) != nil && (try? Certificate(bytes)) == nil
    }
}
