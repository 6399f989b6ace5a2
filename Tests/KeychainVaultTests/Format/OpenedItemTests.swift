// SPDX-License-Identifier: Apache-2.0
// Items that stay encoded until a value is asked for: like those that were never encoded.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory
import Testing

@testable import KeychainVault

@Suite("Opened items")
struct OpenedItemTests {
    private static let texts = [
        "", "a", "b", "alice@example.com", "e\u{301}", "\u{E9}", "a\0b", "0", "80", " 080", "😀 and more",
    ]

    /// What attributes of every kind may hold, also where it is odd.
    private static let values: [AttributeValue] =
        texts.map { .string($0) } + texts.map { .data(Data($0.utf8)) }
        + [.data(Data([0xFF, 0])), .number(0), .number(80), .number(-1), .number(.max), .number(.min)]
        + [.date(0), .date(-1.5), .date(1e9)]

    /// The same attributes in each class; those that a class does not have are kept as well.
    private static let items: [Item] = values.indices.flatMap { index in
        ItemClass.allCases.map { itemClass in
            let value = { values[(index + $0) % values.count] }
            let attributes: Attributes = [
                .account: value(0), .service: value(1), .server: value(2), .port: value(3), .startDate: value(4),
                .label: value(5), .applicationLabel: value(6), .synchronizable: .number(Int64(index % 2)),
                .accessGroup: index % 5 == 0 ? value(7) : .string("test"), .creationDate: .date(Double(index)),
            ]
            return Item(itemClass: itemClass, attributes: attributes, accessControl: AccessControl(.always), value: nil)
        }
    }

    private static func opened(_ item: Item) throws -> Item {
        // Not at the beginning of its memory, as in a padded block.
        let bytes = (Data([1, 2, 3]) + ItemCodec.encode(item).data).dropFirst(3)
        return try ItemCodec.decode(bytes, accessibility: .always)
    }

    @Test func openedItem_isEqualToTheOneThatWasEncoded() throws {
        for item in Self.items {
            let opened = try Self.opened(item)
            #expect(opened == item && item == opened)
            #expect(opened.attributes.count == item.attributes.count)
            #expect(opened.attributes.map(\.value) == item.attributes.map(\.value))
            for (attribute, value) in item.attributes { #expect(opened.attributes[attribute] == value) }
            for attribute in [Attribute.comment, .viewHint, .alias] { #expect(opened.attributes[attribute] == nil) }
            #expect(ItemCodec.encode(opened).data == ItemCodec.encode(item).data)
        }
    }

    @Test func openedItem_hasThePlaceOfTheOneThatWasEncoded() throws {
        for item in Self.items { #expect(ItemOrder(try Self.opened(item)) == ItemOrder(item)) }
    }

    @Test func openedItem_isSelectedWhereTheOneThatWasEncodedIs() throws {
        for item in Self.items {
            let opened = StoredItem(id: UUID(), version: 1, item: try Self.opened(item))
            let encoded = StoredItem(id: opened.id, version: 1, item: item)
            for attribute in [Attribute.account, .port, .startDate, .synchronizable, .accessible, .viewHint, .alias] {
                for value in Self.values {
                    let selection = Selection(itemClass: item.itemClass, conditions: [attribute: value])
                    #expect(selection.matches(opened) == selection.matches(encoded))
                }
            }
            for group in Self.texts + ["test", "tes", "test2"] {
                let selection = Selection(itemClass: item.itemClass, groups: ["other", group])
                #expect(selection.matches(opened) == selection.matches(encoded))
            }
        }
    }

    @Test func openedItem_changed_isAsTheOtherOneChanged() throws {
        for item in Self.items {
            var (opened, copy) = (try Self.opened(item), item)
            let before = opened
            for (attribute, value) in [(Attribute.label, AttributeValue.number(1)), (.comment, .string("new"))] {
                opened.attributes[attribute] = value
                copy.attributes[attribute] = value
            }
            opened.attributes[.account] = nil
            copy.attributes[.account] = nil
            #expect(opened == copy && before == item)
        }
    }

    @Test func encoding_cutAnywhereOrLonger_isRefused() throws {
        let bytes = ItemCodec.encode(Self.items[0]).data
        for length in 0..<bytes.count { #expect(throws: MalformedBytes.self) { try Self.decode(bytes.prefix(length)) } }
        #expect(throws: MalformedBytes.self) { try Self.decode(bytes + [0]) }
        #expect(throws: Never.self) { try Self.decode(bytes) }
    }

    private static func decode(_ bytes: Data) throws { _ = try ItemCodec.decode(bytes, accessibility: .always) }

    /// One attribute after another, each with its bytes.
    private static func encoding(_ attributes: [(name: String, type: UInt8, value: [UInt8])]) -> Data {
        var writer = ByteWriter(capacity: 64)
        writer.append("genp")
        writer.append([UInt8](repeating: 0, count: 9))
        writer.append(bigEndian: UInt16(attributes.count))
        for (name, type, value) in attributes {
            writer.append(name)
            writer.append(type)
            writer.append(bigEndian: UInt32(value.count))
            writer.append(value)
        }
        return writer.data
    }

    @Test func attributes_thatAreNotCanonical_areRefused() throws {
        let infinity = withUnsafeBytes(of: Double.infinity.bitPattern.bigEndian) { [UInt8]($0) }
        let wrong: [[(String, UInt8, [UInt8])]] = [
            [("svce", 1, [0x61]), ("acct", 1, [0x61])], [("acct", 1, []), ("acct", 1, [])],
            [("acct", 1, [0xFF])], [("acct", 1, Array("12345678".utf8) + [0xC3])],
            [("acct", 1, Array("1234567".utf8) + [0xC0, 0x80])], [("port", 3, [1])], [("cdat", 4, [0, 0, 0, 0])],
            [("cdat", 4, infinity)], [("acct", 0, [])], [("acct", 5, [])],
        ]
        for attributes in wrong {
            #expect(throws: MalformedBytes.self) { try Self.decode(Self.encoding(attributes)) }
        }
        #expect(throws: Never.self) { try Self.decode(Self.encoding([("acct", 1, Array("12345678é".utf8))])) }
    }

    // MARK: - Many rows

    @Test(arguments: [0, 1, 2, 65]) func blocks_permutedAtOnce_areThoseOfEach(_ count: Int) {
        let permutation = BlockPermutation(key: .random(count: 32))
        let blocks = (0..<count).map { _ in (0..<16).map { _ in UInt8.random(in: 0...255) } }
        let names = blocks.map { permutation.forward($0) }
        #expect(permutation.backwardAll(names.flatMap { $0 }) == blocks.flatMap { $0 })
        #expect(names.map { permutation.backward($0) } == blocks)
    }

    @Test func list_ofManyRows_leavesOutThoseThatDoNotOpen() throws {
        let test = try TestVault()
        try test.engine.transaction(as: .genericPassword("s", "")) { (requests) throws(KeychainError) in
            for number in 100..<300 {
                try requests.add(.genericPassword("s", "\(number)", value: "v\(number)"), accessGroups: .unrestricted)
            }
        }
        let database = try Connection(test.databaseFile)
        try database.execute("UPDATE item SET uuid = randomblob(16) WHERE id = 64")
        try database.execute("UPDATE item SET metadata = zeroblob(284) WHERE id = 65")
        try database.execute("UPDATE item SET value = zeroblob(length(value)) WHERE id = 66")
        for includesValues in [false, true] {
            let found = try test.vault.select(
                Selection(itemClass: .genericPassword, conditions: [.service: .string("s")]), limit: nil,
                includingValues: includesValues)
            #expect(found.damaged == (includesValues ? 3 : 2))
            let accounts = found.items.map { $0.item[.account] }
            let left = (100..<300).filter { !(163...(includesValues ? 165 : 164)).contains($0) }
            #expect(accounts == left.map { .string("\($0)") })
        }
    }
}
