// SPDX-License-Identifier: Apache-2.0
// Items that between them use all that the format can say.

import Foundation
import KeychainEngine
import Testing

/// An item with a name for the test's report.
struct FormatSample: Sendable, CustomTestStringConvertible {
    let name: String
    let item: Item

    var testDescription: String { name }

    static let all = kinds + accessibilities

    private static let kinds = [
        FormatSample("generic password", .genericPassword, "text"),
        FormatSample(
            "internet password", .internetPassword, "pass",
            [
                .server: .string("example.com"), .port: .number(443), .protocol: .number(1_752_462_448),
                .authenticationType: .string("dflt"), .path: .string("/a/b"), .securityDomain: .string("realm"),
                .synchronizable: .number(1),
            ]),
        FormatSample(
            "certificate", .certificate, "DER",
            [
                .issuer: .data(Data([0x30, 0])), .serialNumber: .data(Data([0, 255])), .certificateType: .number(3),
                .subject: .data(Data("subject".utf8)), .publicKeyHash: .data(Data(repeating: 7, count: 20)),
            ]),
        FormatSample(
            "key", .key, "bits",
            [
                .applicationLabel: .data(Data(repeating: 9, count: 20)), .applicationTag: .string("tag"),
                .keyClass: .number(1), .keySizeInBits: .number(256), .startDate: .date(-0.5), .endDate: .date(1e10),
                .canSign: .number(1),
            ]),
        FormatSample(
            "text beyond ASCII", .genericPassword, "\u{1F511}",
            [
                .service: .string("caf\u{E9}"), .account: .string("cafe\u{301}"), .label: .string("\u{1F511}\u{0}z"),
                .comment: .string(""),
            ]),
        FormatSample(
            "numbers as text", .internetPassword, "n",
            [.port: .string(" 080 "), .protocol: .string("http"), .creator: .string("+7"), .type: .number(.min)]),
        FormatSample(
            "blobs of all types", .genericPassword, "b",
            [
                .service: .number(-2), .account: .data(Data([0, 1, 255])), .generic: .data(Data([1])),
                .label: .number(300),
            ]),
        FormatSample("empty value", .genericPassword, ""),
        FormatSample("no value", .genericPassword, nil),
        FormatSample(
            "long attribute", .genericPassword, "l", [.comment: .string(String(repeating: "word ", count: 5000))]),
        FormatSample("attribute of a later version", .genericPassword, "z", [Attribute(code: 0x7A7A_7A7A): .number(1)]),
        FormatSample("value of five megabytes", .genericPassword, String(repeating: "01234567", count: 5 << 17)),
    ]

    private static let accessibilities = Accessibility.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }.map {
        FormatSample("accessible \($0.rawValue)", .genericPassword, "v", access: AccessControl($0))
    }

    /// An access control with a list of constraints that is empty, which is not the same as none.
    static func withEmptyConstraints() throws -> FormatSample {
        let access = try AccessControl(.whenUnlockedThisDeviceOnly, flags: [])
        return FormatSample("empty list of constraints", .genericPassword, "c", access: access)
    }

    init(
        _ name: String, _ itemClass: ItemClass, _ value: String?, _ attributes: Attributes = [:],
        access: AccessControl = AccessControl(.whenUnlocked)
    ) {
        self.name = name
        // What the engine would add, with fixed dates; the name keeps the samples apart in one vault.
        var all: Attributes = [
            .accessGroup: .string("group"), .synchronizable: .number(0), .itemDescription: .string(name),
            .viewHint: .string(name), .creationDate: .date(700_000_000.25), .modificationDate: .date(700_000_001),
            .digest: .data(Data(repeating: 0xD1, count: 20)),
        ]
        for (attribute, given) in attributes { all[attribute] = given }
        item = Item(itemClass: itemClass, attributes: all, accessControl: access, value: value.map { Data($0.utf8) })
    }
}
