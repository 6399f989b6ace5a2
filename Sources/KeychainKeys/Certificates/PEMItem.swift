// SPDX-License-Identifier: Apache-2.0
// All keys and certificates of a PEM text.

import Foundation
public import SecretMemory

/// A key or certificate of a PEM text.
public enum PEMItem: Sendable {
    case privateKey(PrivateKey)
    case publicKey(PublicKey)
    case certificate(Certificate)

    /// All keys and certificates of a text, in order. The format of a key is detected from its bytes.
    ///
    /// - Parameter passphrase: UTF-8; only read for encrypted keys.
    /// - Throws: `KeyFailure.unsupportedAlgorithm` for any other block. Only the parameters of curves, which precede
    ///   some keys, are skipped. `malformed` for a block with more than one key or certificate.
    public static func all(in text: SecretBytes, passphrase: SecretBytes? = nil) throws(KeyFailure) -> [PEMItem] {
        var items: [PEMItem] = []
        for block in try PEMBlock.all(in: text) where block.label != "EC PARAMETERS" {
            items.append(try PEMItem(block, passphrase))
        }
        return items
    }

    private init(_ block: PEMBlock, _ passphrase: SecretBytes?) throws(KeyFailure) {
        if block.label.hasSuffix("PRIVATE KEY") {
            self = .privateKey(try PrivateKey(block, passphrase: passphrase))
        } else if block.label.hasSuffix("PUBLIC KEY") {
            self = .publicKey(try PublicKey(der: block.content.withUnsafeBytes { [UInt8]($0) }))
        } else if block.isCertificate {
            self = .certificate(try block.certificate())
        } else {
            throw .unsupportedAlgorithm("PEM block \(block.label)")
        }
    }
}
