// SPDX-License-Identifier: Apache-2.0
// When values are equal, and when two items are one (rules 1.9, 3.2 and 3.3).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

/// An attribute, the value stored and the value asked for.
struct Pair: @unchecked Sendable, CustomTestStringConvertible {
    let itemClass: String
    let name: String
    let stored: Any
    let asked: Any

    init(_ itemClass: String, _ name: String, _ stored: Any, _ asked: Any) {
        self.itemClass = itemClass
        self.name = name
        self.stored = stored
        self.asked = asked
    }

    var testDescription: String { "\(itemClass).\(name): \(stored) – \(asked)" }
}

@Suite("Rules: equality")
struct EqualityTests {
    private static let native5 = withUnsafeBytes(of: Int32(5)) { Data($0) }
    private static let date = Date(timeIntervalSinceReferenceDate: 123.5)

    static let equal: [Pair] = [
        Pair("genp", "labl", "x", "x"), Pair("genp", "labl", "x", Data("x".utf8)),
        Pair("genp", "labl", Data("x".utf8), "x"), Pair("genp", "labl", 5, native5), Pair("genp", "labl", native5, 5),
        Pair("genp", "labl", "", Data()), Pair("keys", "klbl", Data(), ""), Pair("keys", "klbl", Data("x".utf8), "x"),
        Pair("genp", "invi", true, 1), Pair("genp", "invi", 1, true), Pair("genp", "invi", "1", true),
        Pair("genp", "crtr", 5, 5.0), Pair("keys", "sdat", date, date), Pair("genp", "vwht", "v", Data("v".utf8)),
        Pair("genp", "acct", "a\0b", "a\0b"),
    ]

    static let different: [Pair] = [
        Pair("genp", "labl", "x", "X"), Pair("genp", "labl", "x", "x "), Pair("genp", "labl", "x", " x"),
        Pair("genp", "labl", "\u{E9}", "e\u{301}"), Pair("genp", "labl", "5", 5), Pair("genp", "vwht", "v", "V"),
        Pair("genp", "crtr", 5, 6), Pair("keys", "sdat", date, date.addingTimeInterval(0.001)),
        Pair("inet", "ptcl", "http", "HTTP"), Pair("genp", "acct", "a", "a\0"),
    ]

    private func isFound(_ pair: Pair, _ kind: StoreKind) throws -> Bool {
        let services = try kind.services()
        try #require(services.add(["class": pair.itemClass, pair.name: pair.stored]).status == errSecSuccess)
        return services.count(["class": pair.itemClass, pair.name: pair.asked]) == 1
    }

    @Test(arguments: StoreKind.allCases, equal)
    func value_ofTheSameBytes_finds(kind: StoreKind, pair: Pair) throws {
        #expect(try isFound(pair, kind))
    }

    @Test(arguments: StoreKind.allCases, different)
    func value_ofOtherBytes_doesNotFind(kind: StoreKind, pair: Pair) throws {
        #expect(try !isFound(pair, kind))
    }

    @Test(arguments: StoreKind.allCases)
    func update_withAnotherTypeOfTheSameBytes_changesTheReturnedType(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(inet(["srvr": "a"]))
        #expect(services.update(inet(["srvr": "a"]), to: ["srvr": Data("a".utf8)]) == errSecSuccess)
        #expect(try services.attributes(inet(["srvr": "a"]))["srvr"] as? Data == Data("a".utf8))
    }

    // MARK: Uniqueness

    private static let dates = (Date(timeIntervalSinceReferenceDate: 1), Date(timeIntervalSinceReferenceDate: 2))

    private static let classes = ["genp", "inet", "cert", "keys"]

    private static let keyAttributesOfAll: [Pair] = classes.flatMap { name -> [Pair] in
        [Pair(name, "agrp", "test", "test2"), Pair(name, "sync", false, true), Pair(name, "vwht", "a", "b")]
    }

    private static let keyAttributesOfEach: [Pair] = [
        Pair("genp", "acct", "a", "b"), Pair("genp", "svce", "a", "b"),
        Pair("inet", "acct", "a", "b"), Pair("inet", "sdmn", "a", "b"), Pair("inet", "srvr", "a", "b"),
        Pair("inet", "ptcl", "http", "htps"), Pair("inet", "atyp", "a", "b"), Pair("inet", "port", 1, 2),
        Pair("inet", "path", "a", "b"),
        Pair("cert", "ctyp", 1, 3), Pair("cert", "issr", Data([1]), Data([2])),
        Pair("cert", "slnr", Data([1]), Data([2])),
        Pair("keys", "kcls", "0", "1"), Pair("keys", "klbl", Data([1]), Data([2])),
        Pair("keys", "atag", "a", "b"), Pair("keys", "crtr", 1, 2), Pair("keys", "type", "42", "73"),
        Pair("keys", "bsiz", 256, 384), Pair("keys", "esiz", 256, 384),
        Pair("keys", "sdat", dates.0, dates.1), Pair("keys", "edat", dates.0, dates.1),
        // Text is compared by its bytes: Unicode equivalence, case and blanks all count.
        Pair("genp", "acct", "\u{E9}", "e\u{301}"), Pair("genp", "acct", "a", "A"), Pair("genp", "acct", "a", "a "),
        Pair("genp", "acct", "5", 5),
    ]

    @Test(arguments: StoreKind.allCases, keyAttributesOfAll + keyAttributesOfEach)
    func items_thatDifferInTheirPrimaryKey_areTwo(kind: StoreKind, pair: Pair) throws {
        let services = try kind.services()
        #expect(services.add(["class": pair.itemClass, pair.name: pair.stored]).status == errSecSuccess)
        #expect(services.add(["class": pair.itemClass, pair.name: pair.asked]).status == errSecSuccess)
    }

    private static let otherAttributesOfPasswords: [Pair] = ["genp", "inet"].flatMap { itemClass -> [Pair] in
        let texts = ["labl", "desc", "icmt", "alis", "prot"].map { Pair(itemClass, $0, "a", "b") }
        let numbers = ["crtr", "type", "scrp", "invi", "nega", "cusi"].map { Pair(itemClass, $0, 1, 2) }
        return texts + numbers
    }

    private static let otherAttributesOfAll: [Pair] = classes.flatMap { name -> [Pair] in
        [Pair(name, "pdmn", "ak", "ck"), Pair(name, "v_Data", secret, otherSecret), Pair(name, "labl", "a", "b")]
    }

    private static let flagsOfKeys: [Pair] = [
        "perm", "priv", "modi", "sens", "asen", "extr", "next", "encr", "decr", "drve", "sign", "vrfy", "snrc",
        "vyrc", "wrap", "unwp",
    ].map { Pair("keys", $0, true, false) }

    private static let otherAttributesOfEach: [Pair] = [
        Pair("genp", "gena", Data([1]), Data([2])), Pair("cert", "alis", "a", "b"), Pair("keys", "alis", "a", "b"),
        Pair("cert", "subj", Data([1]), Data([2])), Pair("cert", "skid", Data([1]), Data([2])),
        Pair("cert", "pkhh", Data([1]), Data([2])), Pair("cert", "cenc", 1, 3),
        // Spelled differently, and the same for the primary key.
        Pair("genp", "acct", "abc", Data("abc".utf8)), Pair("genp", "acct", "", Data()),
        Pair("inet", "port", 80, "80"), Pair("inet", "port", 80, "080"), Pair("keys", "kcls", 1, "1"),
    ]

    static let otherAttributes: [Pair] =
        otherAttributesOfPasswords + otherAttributesOfAll + flagsOfKeys + otherAttributesOfEach

    @Test(arguments: StoreKind.allCases, otherAttributes)
    func items_thatDifferInOtherAttributes_areDuplicates(kind: StoreKind, pair: Pair) throws {
        let services = try kind.services()
        #expect(services.add(["class": pair.itemClass, pair.name: pair.stored]).status == errSecSuccess)
        #expect(services.add(["class": pair.itemClass, pair.name: pair.asked]).status == errSecDuplicateItem)
    }

    @Test(arguments: StoreKind.allCases, ["acct", "svce", "vwht"])
    func attribute_thatIsEmpty_isTheSameAsAbsent(kind: StoreKind, name: String) throws {
        let services = try kind.services()
        services.add(genp())
        #expect(services.add(genp([name: ""])).status == errSecDuplicateItem)
        #expect(services.count(genp([name: ""])) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func items_ofDifferentClasses_areTwo(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(genp(["acct": "a"])).status == errSecSuccess)
        #expect(services.add(inet(["acct": "a"])).status == errSecSuccess)
    }
}

@Suite("Rules: synchronizable")
struct SynchronizableTests {
    /// A given value, and the stored one.
    static let values: [Row<Int>] = [
        Row("absent", [:], 0), Row("true", ["sync": true], 1), Row("1", ["sync": 1], 1),
        Row("text 1", ["sync": "1"], 1),
        Row("false", ["sync": false], 0), Row("0", ["sync": 0], 0), Row("text 0", ["sync": "0"], 0),
        Row("another number", ["sync": 2], 2), Row("any", ["sync": "syna"], 0),
    ]

    @Test(arguments: StoreKind.allCases, values)
    func value_added_isStoredAsANumber(kind: StoreKind, row: Row<Int>) throws {
        let services = try kind.services()
        services.add(genp(row.entries))
        #expect(try services.attributes(genp(["sync": "syna"]))["sync"] as? Int == row.expected)
    }

    /// A given value, and the labels of the items found: one item per stored value.
    static let queries: [Row<Set<String>>] = [
        Row("absent", [:], ["0"]), Row("true", ["sync": true], ["1"]), Row("1", ["sync": 1], ["1"]),
        Row("text 1", ["sync": "1"], ["1"]), Row("false", ["sync": false], ["0"]), Row("0", ["sync": 0], ["0"]),
        Row("another number", ["sync": 2], ["2"]), Row("any", ["sync": "syna"], ["0", "1", "2"]),
        Row("other text", ["sync": "x"], []),
    ]

    @Test(arguments: StoreKind.allCases, queries)
    func value_inAQuery_selects(kind: StoreKind, row: Row<Set<String>>) throws {
        let services = try kind.services()
        for number in 0..<3 { services.add(genp(["sync": number, "labl": "\(number)"])) }
        let query = genp(row.entries).adding(["r_Attributes": true, "m_Limit": "m_LimitAll"])
        let labels = services.find(query).dictionaries?.compactMap { $0["labl"] as? String } ?? []
        #expect(Set(labels) == row.expected)
    }

    static let changes: [Row<Int>] = [
        Row("true", ["sync": true], 1), Row("1", ["sync": "1"], 1), Row("false", ["sync": false], 0),
        Row("any", ["sync": "syna"], 0), Row("absent", [:], 0), Row("another number", ["sync": 3], 3),
    ]

    @Test(arguments: StoreKind.allCases, changes)
    func value_inAttributesToUpdate_isSet(kind: StoreKind, row: Row<Int>) throws {
        let services = try kind.services()
        services.add(genp())
        #expect(services.update(genp(), to: row.entries) == errSecSuccess)
        #expect(try services.attributes(genp(["sync": "syna"]))["sync"] as? Int == row.expected)
    }

    @Test(arguments: StoreKind.allCases, Call.allCases)
    func value_thatIsData_isRefused(kind: StoreKind, call: Call) throws {
        #expect(try call.status(kind, genp(["sync": Data([1])])) == errSecParam)
    }

    @Test(arguments: StoreKind.allCases)
    func otherText_isStoredAndDoesNotCountAsSynchronizable(kind: StoreKind) throws {
        let services = try kind.services()
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil))
        #expect(services.add(genp(["sync": "x", "accc": control])).status == errSecSuccess)
        #expect(services.count(genp()) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func reference_findsBothKindsOfItems(kind: StoreKind) throws {
        let services = try kind.services()
        let reference = try #require(services.add(genp(["sync": true, "r_PersistentRef": true])).data)
        #expect(services.find(["v_PersistentRef": reference]).status == errSecSuccess)
    }

    @Test(arguments: StoreKind.allCases)
    func synchronizable_withReference_isDroppedOnMacOSAndRefusedOnIOS(kind: StoreKind) throws {
        let services = try kind.services()
        let reference = try #require(services.add(genp(["sync": true, "r_PersistentRef": true])).data)
        let query: Entries = ["v_PersistentRef": reference, "sync": false]
        #expect(services.find(query).status == errSecSuccess)
        #expect(services.with(dialect: .strict).find(query).status == errSecParam)
    }

    @Test(arguments: StoreKind.allCases, ["aku", "cku", "dku"])
    func thisDeviceOnly_togetherWithSynchronizable_isAccepted(kind: StoreKind, accessible: String) throws {
        #expect(try kind.services().add(genp(["sync": true, "pdmn": accessible])).status == errSecSuccess)
    }

    @Test(arguments: StoreKind.allCases)
    func accessControlFlags_setTogetherWithSynchronizable_areRefused(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp())
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil))
        #expect(services.update(genp(), to: ["sync": true, "accc": control]) == errSecParam)
    }
}
