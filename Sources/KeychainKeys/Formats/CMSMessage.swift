// SPDX-License-Identifier: Apache-2.0
// Signed messages (CMS, RFC 5652), such as provisioning profiles: their content, without a check of the signatures.

package import Foundation
import SwiftASN1

/// A message of type SignedData, in DER or BER. No signature is verified: anybody may have written the content.
package struct CMSMessage: Sendable {
    /// `nil` if the message signs content that is elsewhere.
    package let content: Data?
    /// `false` for a message that only carries certificates.
    package let hasSigners: Bool

    private static let format = "CMS message"
    /// Longer messages are rejected, in bytes.
    package static let limit = 64 << 20

    /// - Throws: `KeyFailure.malformed`; `unsupportedAlgorithm` with the type of a message of another type.
    package init(_ bytes: Data) throws(KeyFailure) {
        guard bytes.count <= Self.limit else { throw .limitExceeded(Self.format) }
        var message = try DERReader.only(DERTag.sequence, in: try BER.asDER([UInt8](bytes)[...]), Self.format)
        let type = try message.objectIdentifier()
        guard type == .signedData else { throw .unsupportedAlgorithm("\(type)") }
        var wrapper = try message.within(DERTag.context(0))
        var body = try wrapper.within(DERTag.sequence)
        _ = try body.smallInteger()
        _ = try body.content(DERTag.set)
        var signed = try body.within(DERTag.sequence)
        _ = try signed.objectIdentifier()
        let wrapped = try signed.contentIfPresent(DERTag.context(0))
        content = try wrapped.map { (bytes) throws(KeyFailure) in try Self.octets(in: bytes) }
        // Certificates and revocation lists.
        while let tag = body.nextTag, tag != DERTag.set { _ = try body.next() }
        hasSigners = try !body.content(DERTag.set).isEmpty
    }

    /// An octet string, also one in pieces, which BER allows and which some signers write with definite lengths.
    private static func octets(in bytes: ArraySlice<UInt8>) throws(KeyFailure) -> Data {
        var reader = DERReader(bytes, format)
        let isInPieces = reader.nextTag == DERTag.octetString | 0x20
        let content = try reader.content(isInPieces ? DERTag.octetString | 0x20 : DERTag.octetString)
        try reader.finish()
        guard isInPieces else { return Data(content) }
        var (pieces, whole) = (DERReader(content, format), Data())
        while !pieces.isAtEnd { whole.append(contentsOf: try pieces.content(DERTag.octetString)) }
        return whole
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 2]
}
