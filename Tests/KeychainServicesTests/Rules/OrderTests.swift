// SPDX-License-Identifier: Apache-2.0
// The order in which a search finds items: the same in every keychain.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: order of results")
struct OrderTests {
    /// By access group, account and service; the value of each tells its place.
    private static var items: [Entries] {
        let names: [(group: String, account: Any, service: String)] = [
            ("test", "", "s"), ("test", "B", "s"), ("test", "a", "s"), ("test", "a", "t"), ("test", "ab", "s"),
            ("test2", Data([0]), "s"), ("test2", Data([0, 1]), "s"), ("test2", "A", "a"),
        ]
        return names.enumerated().map { number, name in
            genp(["agrp": name.group, "acct": name.account, "svce": name.service, "v_Data": Data("\(number)".utf8)])
        }
    }

    private static let inOrder = items.indices.map { "\($0)" }

    /// The items, added in a random order.
    private func services(_ kind: StoreKind) throws -> Services {
        let services = try kind.services()
        for item in Self.items.shuffled() { try #require(services.add(item).status == errSecSuccess) }
        return services
    }

    /// The items found, each by its place in the table.
    private func numbers(_ services: Services, _ query: Entries) -> [String]? {
        let query = query.adding(["r_Data": true, "r_Attributes": true])
        let values = services.find(query).dictionaries?.map { $0["v_Data"] as? Data ?? Data() }
        return values?.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: StoreKind.allCases)
    func search_forAllInSeveralKeychains_listsInTheOrderOfThePrimaryKey(kind: StoreKind) throws {
        for _ in 1...3 {
            #expect(numbers(try services(kind), genp(["m_Limit": "m_LimitAll"])) == Self.inOrder)
        }
    }

    @Test(arguments: StoreKind.allCases, 2...9)
    func search_forSome_listsTheFirstOfTheOrder(kind: StoreKind, limit: Int) throws {
        #expect(numbers(try services(kind), genp(["m_Limit": limit])) == Array(Self.inOrder.prefix(limit)))
    }

    @Test(arguments: StoreKind.allCases)
    func search_forOneWithoutAGroup_findsTheFirstGroups(kind: StoreKind) throws {
        let services = try services(kind)
        #expect(services.find(genp(["r_Data": true])).data == Data("0".utf8))
        #expect(services.delete(genp(["agrp": "test"])) == errSecSuccess)
        #expect(services.find(genp(["r_Data": true])).data == Data("5".utf8))
    }

    @Test(arguments: StoreKind.allCases)
    func search_forOneOfServiceAndAccount_findsTheFirstGroups(kind: StoreKind) throws {
        for groups in [["test", "test2"], ["test2", "test"]] {
            let services = try kind.services()
            for group in groups { services.add(genp(["agrp": group, "acct": "a", "v_Data": Data(group.utf8)])) }
            #expect(services.find(genp(["svce": "", "acct": "a", "r_Data": true])).data == Data("test".utf8))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func search_forOneOfEitherKind_findsTheOneThatIsNotSynchronizable(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["acct": "a", "sync": true, "v_Data": otherSecret]))
        services.add(genp(["acct": "b", "v_Data": secret]))
        #expect(services.find(genp(["sync": "syna", "r_Data": true])).data == secret)
    }

    /// "dk" is open while the keychain is locked, "ak" is not.
    @Test(arguments: LockableKind.allCases, ["m_LimitOne", "m_LimitAll"])
    func search_thatMeansAClosedItemToo_isInteractionNotAllowed(kind: LockableKind, limit: String) throws {
        let keychain = try kind.keychain()
        keychain.services.add(genp(["svce": "s", "acct": "a", "pdmn": "dk", "v_Data": secret]))
        keychain.services.add(genp(["svce": "s", "acct": "b", "pdmn": "ak", "v_Data": secret]))
        try keychain.enter(.locked)
        let query = genp(["svce": "s", "r_Attributes": true, "m_Limit": limit])
        #expect(keychain.services.find(query).status == errSecInteractionNotAllowed)
    }
}

@Suite("Order of items")
struct ItemOrderTests {
    private func item(_ itemClass: ItemClass, _ attributes: Attributes = [:]) -> Item {
        Item(itemClass: itemClass, attributes: attributes, accessControl: AccessControl(.whenUnlocked), value: nil)
    }

    /// A value of the attribute that comes after those that are absent or empty.
    private func someValue(_ rule: Schema.Rule) -> AttributeValue {
        switch rule.kind {
        case .blob, .string: .string("x")
        case .data, .digest, .uuid: .data(Data([1]))
        case .number: .number(1)
        case .date: .date(1)
        }
    }

    @Test(arguments: ItemClass.allCases)
    func attributes_ofThePrimaryKey_decideAndNoOthers(itemClass: ItemClass) {
        let keys = Set(itemClass.schema.primaryKey.map(\.attribute))
        for rule in itemClass.schema.rules where rule.attribute != .multiUser && rule.attribute != .tombstone {
            let (without, with) = (item(itemClass), item(itemClass, [rule.attribute: someValue(rule)]))
            let isAfter = ItemOrder(without) < ItemOrder(with)
            #expect(isAfter == keys.contains(rule.attribute), "\(rule.attribute)")
        }
    }

    static let values: [(attribute: Attribute, ascending: [AttributeValue])] = [
        (.account, [.string(""), .string("\u{0}"), .string("A"), .string("a"), .string("a\u{0}"), .string("aa")]),
        (.account, [.string("e\u{301}"), .string("z"), .string("\u{E9}"), .data(Data([0xFF]))]),
        (.port, [.number(.min), .number(-1), .number(0), .string(" 9"), .number(10), .number(.max), .string("9x")]),
    ]

    @Test(arguments: values)
    func values_ofAnAttribute_sortByBytesOrNumber(attribute: Attribute, ascending: [AttributeValue]) {
        let places = ascending.map { ItemOrder(item(.internetPassword, [attribute: $0])) }
        for (first, second) in zip(places, places.dropFirst()) { #expect(first < second) }
    }

    @Test func dates_ofAKey_sortByTime() {
        let places = [-1e9, -1, -0.5, 0, 0.5, 1, 1e9].map { ItemOrder(item(.key, [.startDate: .date($0)])) }
        for (first, second) in zip(places, places.dropFirst()) { #expect(first < second) }
    }

    @Test func attribute_thatDiffers_outweighsAllLaterOnes() {
        let first = item(.genericPassword, [.accessGroup: .string("a"), .account: .string("z")])
        let second = item(.genericPassword, [.accessGroup: .string("ab"), .account: .string("a")])
        #expect(ItemOrder(first) < ItemOrder(second))
        let ofAccount = item(.genericPassword, [.account: .string("a"), .service: .string("z")])
        let ofService = item(.genericPassword, [.account: .string("b"), .service: .string("a")])
        #expect(ItemOrder(ofAccount) < ItemOrder(ofService))
    }

    @Test func classes_ofItems_sortAsListed() {
        let places = ItemClass.allCases.map { ItemOrder(item($0, [.accessGroup: .string("a")])) }
        #expect(places == places.sorted())
    }

    /// What places may have in common, and how they may differ: in the first byte, late, by a zero, or by their length alone.
    /// In ascending order of their bytes.
    private static let texts = [
        "", "\u{0}", "a", "a\u{0}", "a\u{0}b", "a text of more than eight bytes", "a text of more than eight bytes!",
        "account-1", "account-10", "account-2", "\u{E9}",
    ]

    private var manyItems: [Item] {
        var items: [Item] = []
        for text in Self.texts {
            for other in Self.texts {
                let name: Attributes = [.accessGroup: .string("g"), .account: .string(text), .service: .string(other)]
                items.append(item(.genericPassword, name))
            }
            for itemClass in ItemClass.allCases { items.append(item(itemClass, [.accessGroup: .string(text)])) }
            for port: Int64 in [-1, 0, 1] {
                let name: Attributes = [.accessGroup: .string("g"), .server: .string(text), .port: .number(port)]
                items.append(item(.internetPassword, name))
            }
        }
        return items
    }

    @Test(arguments: 0..<20)
    func items_inOrder_areSortedByTheirPlaces(_: Int) {
        let items = manyItems.shuffled().map { StoredItem(id: UUID(), version: 1, item: $0) }
        for count in [0, 1, 2, 3, 5, 20, items.count] {
            let some = Array(items.prefix(count))
            let expected = some.map { (place: ItemOrder($0.item), stored: $0) }.sorted { $0.place < $1.place }
            #expect(some.inOrder().map(\.id) == expected.map(\.stored.id))
            #expect(some.inOrder().inOrder() == some.inOrder())
        }
    }

    @Test(arguments: texts)
    func items_thatDifferInOneText_areSortedByIt(text: String) {
        let items = Self.texts.reversed().map {
            let attributes: Attributes = [.accessGroup: .string(text), .account: .string($0), .service: .string(text)]
            return StoredItem(id: UUID(), version: 1, item: item(.genericPassword, attributes))
        }
        let accounts: [AttributeValue?] = items.inOrder().map { $0.item[.account] }
        let expected: [AttributeValue?] = Self.texts.map { .string($0) }
        #expect(accounts == expected)
    }

    @Test func items_withTheSamePlace_keepTheirOrder() {
        let items = (0..<300).map { number in
            let name: Attributes = [.account: .string(number % 3 == 0 ? "a" : "b")]
            return StoredItem(id: UUID(), version: UInt64(number), item: item(.genericPassword, name))
        }
        let versions: [UInt64] = items.inOrder().map(\.version)
        let numbers = (0..<300).map { UInt64($0) }
        let (first, second) = (numbers.filter { $0 % 3 == 0 }, numbers.filter { $0 % 3 != 0 })
        #expect(versions == first + second)
        let two = [items[0], items[3]]
        #expect(two.inOrder() == two)
    }
}
