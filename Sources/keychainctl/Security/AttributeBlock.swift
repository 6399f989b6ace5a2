// SPDX-License-Identifier: Apache-2.0
// An item as macOS's command prints it: one line for each attribute, in a fixed order.

import Foundation
import KeychainEngine
import KeychainKeys
import KeychainKit

struct AttributeBlock {
    let item: KeychainItem
    let keychain: NamedKeychain

    /// A line: what macOS writes before the value, and where the value is.
    private typealias Line = (tag: String, kind: Kind, attribute: Attribute)

    private enum Kind: String {
        case blob, uint32, sint32, timedate
    }

    var text: String {
        let version = keychain.group == "System" ? 256 : 512
        let head = "keychain: \"\(keychain.path.escaped)\"\nversion: \(version)\nclass: \(classText)\nattributes:\n"
        return lines.reduce(head) { text, line in
            text + "    " + line.tag + "<\(line.kind.rawValue)>=" + value(line) + "\n"
        }
    }

    private var classText: String {
        switch item.itemClass {
        case .genericPassword: "\"genp\""
        case .internetPassword: "\"inet\""
        case .certificate: "0x80001000 "
        case .key: ValueForm.text(keyRecord)
        }
    }

    /// The number of macOS's table of private or public keys.
    private var keyRecord: Data { Data([0, 0, 0, item.attributes[.keyClass] == .number(1) ? 0x10 : 0x0F]) }

    private var lines: [Line] {
        switch item.itemClass {
        case .genericPassword: Self.genericPassword
        case .internetPassword: Self.internetPassword
        case .certificate: Self.certificate
        case .key: Self.key
        }
    }

    // MARK: - Values

    private func value(_ line: Line) -> String {
        // macOS shows an empty value as an absent one, for example the path of most internet passwords.
        guard let bytes = bytes(line), !bytes.isEmpty else { return "<NULL>" }
        return ValueForm.text(bytes)
    }

    private func bytes(_ line: Line) -> Data? {
        switch (line.kind, item.attributes[line.attribute]) {
        case (.uint32, _) where line.attribute == .keyClass: keyRecord
        case (.uint32, let value): Self.bigEndian(number(value))
        case (_, nil) where line.attribute == .authenticationType: Data("dflt".utf8)
        case (_, .string("")?) where line.attribute == .authenticationType: Data("dflt".utf8)
        // Scripts read the name of a certificate here. An address is shown instead, if there is one.
        case (_, nil) where item.itemClass == .certificate && line.attribute == .alias:
            item.label.map { Data($0.utf8) }
        case (_, .string(let text)?): Data(text.utf8)
        // They are stored without the header that macOS shows.
        case (_, .data(let name)?) where [.issuer, .subject].contains(line.attribute): Certificate.encodedName(name)
        case (_, .data(let bytes)?): bytes
        case (.sint32, .number(let number)?): Self.bigEndian(number)
        case (_, .number(let number)?): Data(String(number).utf8)
        case (_, .date(let seconds)?): Self.date(seconds)
        default: nil
        }
    }

    /// Absent numbers are not shown, except the port and the protocol, which macOS always stores.
    private func number(_ value: AttributeValue?) -> Int64? {
        switch value {
        case .number(let number)?: number
        case .string(let text)?: text.utf8.count == 4 ? text.utf8.reduce(0) { $0 << 8 | Int64($1) } : Int64(text) ?? 0
        default: nil
        }
    }

    private static func bigEndian(_ number: Int64?) -> Data? {
        number.map { number in
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Data($0) }
        }
    }

    /// `YYYYMMDDHHMMSSZ` and a NUL.
    private static func date(_ seconds: Double) -> Data? {
        guard seconds.isFinite, abs(seconds) < 1e11 else { return nil }
        let text = Date(timeIntervalSinceReferenceDate: seconds).timestamp(withFraction: false)
        return Data(text.utf8.filter { !"-:T".utf8.contains($0) } + [0])
    }

    // MARK: - Tables

    private static let genericPassword: [Line] = [
        ("0x00000007 ", .blob, .label), ("0x00000008 ", .blob, .alias), ("\"acct\"", .blob, .account),
        ("\"cdat\"", .timedate, .creationDate), ("\"crtr\"", .uint32, .creator),
        ("\"cusi\"", .sint32, .hasCustomIcon), ("\"desc\"", .blob, .itemDescription),
        ("\"gena\"", .blob, .generic), ("\"icmt\"", .blob, .comment), ("\"invi\"", .sint32, .isInvisible),
        ("\"mdat\"", .timedate, .modificationDate), ("\"nega\"", .sint32, .isNegative),
        ("\"prot\"", .blob, .protection), ("\"scrp\"", .sint32, .scriptCode), ("\"svce\"", .blob, .service),
        ("\"type\"", .uint32, .type),
    ]

    private static let internetPassword: [Line] = [
        ("0x00000007 ", .blob, .label), ("0x00000008 ", .blob, .alias), ("\"acct\"", .blob, .account),
        ("\"atyp\"", .blob, .authenticationType), ("\"cdat\"", .timedate, .creationDate),
        ("\"crtr\"", .uint32, .creator), ("\"cusi\"", .sint32, .hasCustomIcon),
        ("\"desc\"", .blob, .itemDescription), ("\"icmt\"", .blob, .comment), ("\"invi\"", .sint32, .isInvisible),
        ("\"mdat\"", .timedate, .modificationDate), ("\"nega\"", .sint32, .isNegative), ("\"path\"", .blob, .path),
        ("\"port\"", .uint32, .port), ("\"prot\"", .blob, .protection), ("\"ptcl\"", .uint32, .protocol),
        ("\"scrp\"", .sint32, .scriptCode), ("\"sdmn\"", .blob, .securityDomain), ("\"srvr\"", .blob, .server),
        ("\"type\"", .uint32, .type),
    ]

    private static let certificate: [Line] = [
        ("\"alis\"", .blob, .alias), ("\"cenc\"", .uint32, .certificateEncoding),
        ("\"ctyp\"", .uint32, .certificateType), ("\"hpky\"", .blob, .publicKeyHash), ("\"issu\"", .blob, .issuer),
        ("\"labl\"", .blob, .label), ("\"skid\"", .blob, .subjectKeyID), ("\"snbr\"", .blob, .serialNumber),
        ("\"subj\"", .blob, .subject),
    ]

    private static let key: [Line] =
        [
            ("0x00000000 ", .uint32, .keyClass), ("0x00000001 ", .blob, .label), ("0x00000002 ", .blob, .alias),
            ("0x00000003 ", .uint32, .isPermanent), ("0x00000004 ", .uint32, .isPrivate),
            ("0x00000005 ", .uint32, .isModifiable), ("0x00000006 ", .blob, .applicationLabel),
            ("0x00000007 ", .blob, .applicationTag),
            ("0x00000008 ", .blob, .creator), ("0x00000009 ", .uint32, .type),
            ("0x0000000A ", .uint32, .keySizeInBits), ("0x0000000B ", .uint32, .effectiveKeySize),
        ] + uses

    private static let uses: [Line] = [
        ("0x0000000E ", .uint32, .isSensitive), ("0x0000000F ", .uint32, .wasAlwaysSensitive),
        ("0x00000010 ", .uint32, .isExtractable), ("0x00000011 ", .uint32, .wasNeverExtractable),
        ("0x00000012 ", .uint32, .canEncrypt), ("0x00000013 ", .uint32, .canDecrypt),
        ("0x00000014 ", .uint32, .canDerive), ("0x00000015 ", .uint32, .canSign),
        ("0x00000016 ", .uint32, .canVerify), ("0x00000017 ", .uint32, .canSignRecover),
        ("0x00000018 ", .uint32, .canVerifyRecover), ("0x00000019 ", .uint32, .canWrap),
        ("0x0000001A ", .uint32, .canUnwrap),
    ]
}
