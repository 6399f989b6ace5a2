// SPDX-License-Identifier: Apache-2.0
// Signed messages: their content in each encoding, and what is refused.

import Foundation
import Testing

@testable import KeychainKeys

struct CMSMessageTests {
    private static let signed: DERNode = .bytes([6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2])
    private static let plain: DERNode = .bytes([6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1])

    /// - Parameter content: `nil` for a signature of content that is elsewhere.
    private func message(_ content: DERNode?, signers: [DERNode] = [.sequence(.integer(1))]) -> [UInt8] {
        let wrapped = content.map { [DERNode.context(0, $0)] } ?? []
        return DERNode.sequence(
            Self.signed,
            .context(
                0,
                .sequence(
                    .integer(1), .set(.sequence(Self.plain)), .element(DERTag.sequence, [Self.plain] + wrapped),
                    .context(0, .sequence(.integer(7))), .element(DERTag.set, signers)))
        ).encoded
    }

    @Test func content_inOnePiece_isRead() throws {
        let read = try CMSMessage(Data(message(.octets(.bytes(Array("profile".utf8))))))
        #expect(read.content == Data("profile".utf8) && read.hasSigners)
    }

    @Test func content_inPiecesOfKnownLength_isJoined() throws {
        let pieces = DERNode.element(0x24, [.octets(.bytes([1, 2])), .octets(), .octets(.bytes([3]))])
        #expect(try CMSMessage(Data(message(pieces))).content == Data([1, 2, 3]))
    }

    @Test func content_ofUnknownLength_isRead() throws {
        let head: [UInt8] = [0x30, 0x80, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2, 0xA0, 0x80, 0x30, 0x80]
        let inner: [UInt8] =
            [2, 1, 1, 0x31, 0, 0x30, 0x80] + [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
            + [0xA0, 0x80, 0x24, 0x80, 4, 1, 7, 4, 1, 8, 0, 0, 0, 0, 0, 0]
        let tail: [UInt8] = [0x31, 2, 0x30, 0] + [0, 0, 0, 0, 0, 0]
        let read = try CMSMessage(Data(head + inner + tail))
        #expect(read.content == Data([7, 8]) && read.hasSigners)
    }

    @Test func messages_withoutContentOrSigners_areTold() throws {
        #expect(try CMSMessage(Data(message(nil))).content == nil)
        #expect(try !CMSMessage(Data(message(nil, signers: []))).hasSigners)
    }

    @Test func message_ofAnotherType_isRefusedWithItsType() {
        let bytes = DERNode.sequence(Self.plain, .context(0, .octets())).encoded
        #expect(throws: KeyFailure.unsupportedAlgorithm("1.2.840.113549.1.7.1")) { try CMSMessage(Data(bytes)) }
    }

    @Test func message_thatIsCutOffOrLonger_isRefused() {
        let whole = message(.octets(.bytes([1, 2, 3])))
        for count in 0..<whole.count {
            #expect(throws: KeyFailure.self) { try CMSMessage(Data(whole.prefix(count))) }
        }
        #expect(throws: KeyFailure.self) { try CMSMessage(Data(whole + [0])) }
    }

    @Test(arguments: [[2, 1, 1], [4, 0, 4, 0], [0x24, 3, 2, 1, 1], []] as [[UInt8]])
    func content_thatIsNoOctetString_isRefused(content: [UInt8]) {
        let bytes = message(.bytes(content))
        #expect(throws: KeyFailure.self) { try CMSMessage(Data(bytes)) }
    }
}
