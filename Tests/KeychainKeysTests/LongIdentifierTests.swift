// SPDX-License-Identifier: Apache-2.0
// Certificates with object identifiers that are made of a UUID.

import Foundation
import SwiftASN1
import Testing

@testable import KeychainKeys

struct LongIdentifierTests {
    /// The example of the standard (X.667).
    private let text = "2.25.329800735698586629295641978511506172918"
    private let bytes = [UInt8](Data(hex: "6983f09da7ebcfdee0c7a1a7b2c0948cc8f9d776"))

    private func identifier(_ bytes: [UInt8]) -> DERNode { .element(DERTag.objectIdentifier, [.bytes(bytes)]) }

    private func certificate(_ change: (inout CertificateBuilder) -> Void) throws -> Certificate {
        var builder = CertificateBuilder()
        change(&builder)
        return try Certificate(der: builder.der)
    }

    @Test func extension_ofALongName_isRead() throws {
        let certificate = try certificate {
            $0.setExtensions([
                .sequence(identifier(bytes), .octets(.null)), CertificateBuilder.entry([1, 2, 3], .null),
            ])
        }
        #expect(certificate.extensions.map(\.identifier) == [text, "1.2.3"])
    }

    /// A list that could not be read would be none, and a certificate without the list is for all purposes.
    @Test func purposes_withALongOne_areRead() throws {
        let certificate = try certificate {
            $0.setExtensions([
                CertificateBuilder.entry(
                    .extendedKeyUsage, .sequence(.oid([1, 3, 6, 1, 5, 5, 7, 3, 2]), identifier(bytes)))
            ])
        }
        #expect(certificate.extendedKeyUsages == ["1.3.6.1.5.5.7.3.2", text])
    }

    @Test func name_withALongAttribute_isRead() throws {
        let certificate = try certificate {
            $0.subject = .sequence(
                .set(.sequence(identifier(bytes), .element(StringTag.utf8, [.bytes([0x61])]))),
                CertificateBuilder.attribute(.commonName, "Leaf"))
        }
        #expect(certificate.commonName == "Leaf" && certificate.normalizedSubject != nil)
    }

    /// No content, one too long, a number that does not end, a zero before a number, and a long number in the first place.
    @Test func identifier_thatIsMalformed_isRefused() {
        let long = [UInt8](repeating: 0xFF, count: 10)
        for bytes in [
            [], [0x69] + [UInt8](repeating: 1, count: 64), [0x69] + long, [0x69, 0x80] + long + [1], long + [1],
        ] {
            #expect(throws: KeyFailure.malformed("certificate")) {
                try certificate { $0.setExtensions([.sequence(identifier(bytes), .octets(.null))]) }
            }
        }
    }
}
