// SPDX-License-Identifier: Apache-2.0
// How given values become stored ones (rules 3.1, 3.4 and 3.5).

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

/// An attribute of each kind, with the class that it is tried on.
enum Kind: String, Sendable {
    case blob = "labl"
    case data = "subj"
    case string = "vwht"
    case number = "crtr"
    case date = "sdat"
    case digest = "sha1"
    case uuid = "musr"

    var itemClass: String {
        switch self {
        case .data: "cert"
        case .date: "keys"
        default: "genp"
        }
    }

    /// The system sets these itself, so that only the status can be seen.
    var isSetBySystem: Bool { self == .digest || self == .uuid }
}

/// A value, what each kind stores for it, and the kinds that take it; no other kind does.
struct Conversion: @unchecked Sendable, CustomTestStringConvertible {
    let name: String
    let value: Any
    let stored: [Kind: Any]

    init(_ name: String, _ value: Any, _ stored: [Kind: Any]) {
        self.name = name
        self.value = value
        self.stored = stored
    }

    var testDescription: String { name }
}

@Suite("Rules: conversion of values")
struct ConversionTests {
    private static let native5 = withUnsafeBytes(of: Int32(5)) { Data($0) }
    private static let date = Date(timeIntervalSinceReferenceDate: 123.5)
    static let kinds: [Kind] = [.blob, .data, .string, .number, .date, .digest, .uuid]

    static let conversions: [Conversion] = [
        Conversion(
            "String", "text", [.blob: "text", .data: Data("text".utf8), .string: "text", .number: "text"]),
        Conversion("numeric String", "80", [.blob: "80", .data: Data("80".utf8), .string: "80", .number: 80]),
        Conversion(
            "Data", Data("text".utf8), [.blob: Data("text".utf8), .data: Data("text".utf8), .string: "text"]),
        Conversion("no UTF-8", Data([0xFF]), [.blob: Data([0xFF]), .data: Data([0xFF])]),
        Conversion("no bytes", Data(), [.blob: Data(), .data: Data(), .string: "", .uuid: Data()]),
        Conversion(
            "16 bytes", Data(count: 16),
            [.blob: Data(count: 16), .data: Data(count: 16), .string: String(repeating: "\0", count: 16), .uuid: 0]),
        Conversion(
            "20 bytes", Data(count: 20),
            [.blob: Data(count: 20), .data: Data(count: 20), .string: String(repeating: "\0", count: 20), .digest: 0]),
        Conversion("Number", 5, [.blob: 5, .data: native5, .number: 5]),
        Conversion("Int64", Int64.max, [.blob: Int64.max, .data: Data(repeating: 0xFF, count: 4), .number: Int64.max]),
        Conversion("UInt8", UInt8(5), [.blob: 5, .data: native5, .number: 5]),
        Conversion("NSNumber", NSNumber(value: 5), [.blob: 5, .data: native5, .number: 5]),
        Conversion("true", true, [.number: 1]), Conversion("false", false, [.number: 0]),
        Conversion("Date", date, [.date: date]), Conversion("Null", NSNull(), [.uuid: 0]),
        Conversion("Array", ["x"], [:]), Conversion("Dictionary", ["x": "y"], [:]),
        Conversion("Set", NSSet(object: "x"), [:]), Conversion("URL", URL(filePath: "/"), [:]),
        Conversion("UUID", UUID(), [:]), Conversion("object", NSObject(), [:]),
    ]

    @Test(arguments: StoreKind.allCases, conversions)
    func value_added_isConvertedToTheKindOrRefused(kind: StoreKind, row: Conversion) throws {
        for attribute in Self.kinds {
            let services = try kind.services()
            let item: Entries = ["class": attribute.itemClass, attribute.rawValue: row.value]
            let expected = row.stored[attribute]
            #expect(services.add(item).status == (expected == nil ? errSecParam : errSecSuccess), "\(attribute)")
            guard let expected, !attribute.isSetBySystem else { continue }
            let stored = try services.attributes(["class": attribute.itemClass])[attribute.rawValue]
            #expect(same(stored, expected), "\(attribute)")
        }
    }

    @Test(arguments: StoreKind.allCases, conversions)
    func value_updated_isConvertedToTheKindOrRefused(kind: StoreKind, row: Conversion) throws {
        for attribute in Self.kinds where !attribute.isSetBySystem {
            let services = try kind.services()
            let query: Entries = ["class": attribute.itemClass]
            services.add(query)
            let expected = row.stored[attribute]
            let status = services.update(query, to: [attribute.rawValue: row.value])
            #expect(status == (expected == nil ? errSecParam : errSecSuccess), "\(attribute)")
            guard let expected else { continue }
            #expect(same(try services.attributes(query)[attribute.rawValue], expected), "\(attribute)")
        }
    }

    static let numericTexts: [Row<Int?>] = [
        Row("80", [:], 80), Row("-5", [:], -5), Row("0", [:], 0), Row("2147483647", [:], 2_147_483_647),
        Row("-2147483648", [:], -2_147_483_648), Row("080", [:], nil), Row("+80", [:], nil), Row(" 80", [:], nil),
        Row("80 ", [:], nil), Row("", [:], nil), Row("http", [:], nil), Row("2147483648", [:], nil),
        Row("2147483678", [:], nil), Row("2147483649", [:], nil), Row("1.0", [:], nil), Row("-0", [:], nil),
    ]

    @Test(arguments: StoreKind.allCases, numericTexts)
    func text_inANumberAttribute_isANumberOnlyIfItPrintsTheSame(kind: StoreKind, row: Row<Int?>) throws {
        let services = try kind.services()
        services.add(inet(["port": row.name]))
        let stored = try services.attributes(inet())["port"]
        #expect(stored as? Int == row.expected)
        #expect(stored as? String == (row.expected == nil ? row.name : nil))
    }

    @Test(arguments: StoreKind.allCases, [("080", 80), ("2147483678", 2_147_483_678)])
    func text_thatLooksNumericToSQL_isFoundByTheNumber(kind: StoreKind, row: (text: String, number: Int)) throws {
        let services = try kind.services()
        services.add(inet(["port": row.text]))
        #expect(services.count(inet(["port": row.number])) == 1)
    }

    // MARK: Encodings

    struct Encoding: @unchecked Sendable {
        let entries: Entries
        let name: String
        let expected: Any
    }

    static let encodings: [Encoding] = [
        Encoding(entries: inet(["ptcl": "htps"]), name: "ptcl", expected: "htps"),
        Encoding(entries: inet(["ptcl": 0x6874_7073]), name: "ptcl", expected: 0x6874_7073),
        Encoding(entries: inet(["atyp": "dflt"]), name: "atyp", expected: "dflt"),
        Encoding(entries: inet(["atyp": 5]), name: "atyp", expected: 5),
        Encoding(entries: inet(["port": "80"]), name: "port", expected: 80),
        Encoding(entries: inet(["port": ""]), name: "port", expected: ""),
        Encoding(entries: genp(["type": 0xF000_0001]), name: "type", expected: 0xF000_0001),
        Encoding(entries: keys(["kcls": "1"]), name: "kcls", expected: 1),
        Encoding(entries: keys(["type": "42"]), name: "type", expected: 42),
        Encoding(entries: keys(["type": "73"]), name: "type", expected: 73),
        Encoding(entries: keys(["type": "2147483649"]), name: "type", expected: "2147483649"),
        Encoding(entries: keys(["bsiz": "768"]), name: "bsiz", expected: 768),
        Encoding(entries: keys(["perm": true]), name: "perm", expected: 1),
        Encoding(entries: genp(["invi": true]), name: "invi", expected: 1),
        Encoding(entries: genp(["nega": false]), name: "nega", expected: 0),
    ]

    @Test(arguments: StoreKind.allCases, encodings)
    func enumeratedAttribute_isReturnedInItsEncoding(kind: StoreKind, row: Encoding) throws {
        let services = try kind.services()
        services.add(row.entries)
        let itemClass = try #require(row.entries["class"])
        #expect(same(try services.attributes(["class": itemClass])[row.name], row.expected))
    }

    @Test(arguments: StoreKind.allCases)
    func protocol_asANumber_doesNotMatchTheText(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(inet(["ptcl": 0x6874_7073]))
        #expect(services.count(inet(["ptcl": "htps"])) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func truthValue_isReturnedAsANumberThatCastsToBoolAndInt(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["invi": true]))
        let value = try services.attributes(genp())["invi"]
        #expect(value as? Bool == true)
        #expect(value as? Int == 1)
        #expect(value as? NSNumber == 1)
        #expect(value.map { type(of: $0) == Bool.self } == false)
    }
}
