// SPDX-License-Identifier: Apache-2.0
// Certificates as text.

import Foundation
public import SecretMemory

extension Certificate {
    /// All certificates of a PEM text, which may also contain keys.
    public static func all(pem text: SecretBytes) throws(KeyFailure) -> [Certificate] {
        var certificates: [Certificate] = []
        for block in try PEMBlock.all(in: text) where block.isCertificate {
            certificates.append(try Certificate(block.content.withUnsafeBytes { [UInt8]($0) }[...]))
        }
        return certificates
    }

    public var pem: String {
        let der = bytes.withUnsafeBytes { SecretBytes(copying: $0) }
        return PEMBlock.text("CERTIFICATE", der).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension PEMBlock {
    var isCertificate: Bool { ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(label) }
}
