// SPDX-License-Identifier: Apache-2.0
// What is known of an item: its attributes, its dates, its names.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import Synchronization
import Testing

/// One field of ``ItemAttributes``, with two values.
struct AttributeField: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let attributes: ItemAttributes
    let others: ItemAttributes

    static let all = [
        AttributeField("label", ItemAttributes(label: "Work"), ItemAttributes(label: "Home")),
        AttributeField("comment", ItemAttributes(comment: "a note"), ItemAttributes(comment: "another")),
        AttributeField(
            "itemDescription", ItemAttributes(itemDescription: "token"), ItemAttributes(itemDescription: "")),
        AttributeField("type", ItemAttributes(type: 0x6E6F_7465), ItemAttributes(type: .max)),
        AttributeField("creator", ItemAttributes(creator: .max), ItemAttributes(creator: 0)),
        AttributeField("generic", ItemAttributes(generic: Data([0, 0xFF])), ItemAttributes(generic: Data([0]))),
        AttributeField("isInvisible", ItemAttributes(isInvisible: true), ItemAttributes(isInvisible: false)),
        AttributeField("isNegative", ItemAttributes(isNegative: true), ItemAttributes(isNegative: false)),
    ]

    private init(_ name: String, _ attributes: ItemAttributes, _ others: ItemAttributes) {
        (testDescription, self.attributes, self.others) = (name, attributes, others)
    }
}

@Suite("Attributes of items")
struct ItemAttributeTests {
    @Test(arguments: StoreKind.allCases, AttributeField.all)
    func attribute_saved_isReadBackAlone(kind: StoreKind, field: AttributeField) throws {
        let store = SecretStore(service: "com.example.app", store: try kind.empty())
        try store.save("s3cret", for: "alice", attributes: field.attributes)
        #expect(try store.item(for: "alice")?.itemAttributes == field.attributes)
    }

    @Test(arguments: StoreKind.allCases, AttributeField.all)
    func attribute_searchedBy_findsTheItemsThatHaveIt(kind: StoreKind, field: AttributeField) throws {
        let store = SecretStore(service: "com.example.app", store: try kind.empty())
        try store.save("s3cret", for: "alice", attributes: field.attributes)
        try store.save("s3cret", for: "bob", attributes: field.others)
        try store.save("s3cret", for: "carol")
        let found = try store.items(matching: ItemFilter(attributes: field.attributes))
        #expect(found.map(\.account) == ["alice"])
    }

    @Test(arguments: StoreKind.allCases, AttributeField.all)
    func attribute_savedAgain_isTheNewOne(kind: StoreKind, field: AttributeField) throws {
        let store = SecretStore(service: "com.example.app", store: try kind.empty())
        try store.save("s3cret", for: "alice", attributes: field.attributes)
        try store.save("s3cret", for: "alice", attributes: field.others)
        #expect(try store.item(for: "alice")?.itemAttributes == field.others)
    }

    @Test(arguments: StoreKind.allCases, AttributeField.all)
    func attribute_notGivenAgain_stays(kind: StoreKind, field: AttributeField) throws {
        let store = SecretStore(service: "com.example.app", store: try kind.empty())
        try store.save("s3cret", for: "alice", attributes: field.attributes)
        try store.save("changed", for: "alice")
        #expect(try store.item(for: "alice")?.itemAttributes == field.attributes)
    }

    @Test(arguments: StoreKind.allCases) func generic_ofAServer_isNoSuchAttribute(kind: StoreKind) throws {
        let logins = SecretStore(server: .init("git.example.com"), store: try kind.empty())
        #expect(
            reason { try logins.save("s3cret", for: "alice", attributes: ItemAttributes(generic: Data([1]))) }
                == .noSuchAttribute)
    }

    @Test(arguments: StoreKind.allCases) func accessibility_saved_isReadBackAndSearchedBy(kind: StoreKind) throws {
        var store = SecretStore(service: "com.example.app", store: try kind.empty())
        for accessibility in [Accessibility.whenUnlocked, .afterFirstUnlock, .alwaysThisDeviceOnly] {
            store.accessibility = accessibility
            try store.save("s3cret", for: accessibility.rawValue)
            #expect(try store.item(for: accessibility.rawValue)?.accessibility == accessibility)
            #expect(try store.items(matching: ItemFilter(accessibility: accessibility)).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases) func accessControl_saved_isReadBack(kind: StoreKind) throws {
        var store = SecretStore(
            service: "com.example.app", accessControl: .userPresence, store: try kind.empty(passphrase: "a few words"))
        try store.save("s3cret", for: "alice")
        store.context = AuthenticationContext { Person(passphrase: "a few words") }
        #expect(try store.item(for: "alice")?.accessControl == .userPresence)
    }

    @Test(arguments: StoreKind.allCases) func item_thatAsksForTheUser_isLeftOutOnRequest(kind: StoreKind) throws {
        var store = SecretStore(service: "com.example.app", store: try kind.empty(passphrase: "a few words"))
        try store.save("s3cret", for: "alice")
        store.accessControl = .userPresence
        try store.save("s3cret", for: "bob")
        store.context = AuthenticationContext { nil }
        #expect(Set(try store.items().map(\.account)) == ["alice", "bob"])
        var filter = ItemFilter.all
        filter.skipsProtected = true
        #expect(try store.items(matching: filter).map(\.account) == ["alice"])
    }
}

@Suite("Dates and identities of items")
struct ItemIdentityTests {
    /// A date that a test can move.
    private final class Calendar: Sendable {
        private let date = Mutex(Date(timeIntervalSinceReferenceDate: 700_000_000))

        var now: Date { date.withLock { $0 } }

        func passes(_ seconds: Double) { date.withLock { $0 += seconds } }
    }

    @Test(arguments: StoreKind.allCases) func dates_ofANewItem_areThoseOfTheClock(kind: StoreKind) throws {
        let calendar = Calendar()
        var store = SecretStore(service: "com.example.app", store: try kind.empty())
        store.now = { calendar.now }
        try store.save("s3cret", for: "alice")
        let item = try #require(try store.item(for: "alice"))
        #expect([item.created, item.modified] == [calendar.now, calendar.now])
    }

    @Test(arguments: StoreKind.allCases)
    func dates_ofAnItemThatRequiresAuthentication_areNotListed(kind: StoreKind) throws {
        var store = SecretStore(service: "com.example.app", store: try kind.empty(passphrase: "passphrase"))
        store.accessControl = .userPresence
        try store.save("s3cret", for: "alice")
        let item = try #require(try store.items().first)
        #expect(item.account == "alice" && item.created == nil && item.modified == nil)
    }

    @Test func dates_ofAStoreThatGotAnotherClock_areStillThoseOfItsNow() throws {
        let calendar = Calendar()
        var store = SecretStore(service: "com.example.app", store: MemoryStore())
        store.now = { calendar.now }
        store.clock = SuspendingClock()
        try store.save("s3cret", for: "alice")
        #expect(try store.item(for: "alice")?.created == calendar.now)
    }

    @Test(arguments: StoreKind.allCases) func dates_ofAChangedItem_moveOnlyThatOfTheChange(kind: StoreKind) throws {
        let calendar = Calendar()
        var store = SecretStore(service: "com.example.app", store: try kind.empty())
        store.now = { calendar.now }
        try store.save("s3cret", for: "alice")
        let created = calendar.now
        calendar.passes(60)
        try store.save("changed", for: "alice")
        let item = try #require(try store.item(for: "alice"))
        #expect([item.created, item.modified] == [created, created + 60])
    }

    @Test(arguments: StoreKind.allCases) func id_ofAChangedItem_staysTheSame(kind: StoreKind) throws {
        let store = SecretStore(service: "com.example.app", store: try kind.empty())
        try store.save("s3cret", for: "alice")
        let id = try #require(try store.item(for: "alice")).id
        try store.save("changed", for: "alice")
        #expect(try store.item(for: "alice")?.id == id)
    }

    @Test(arguments: StoreKind.allCases) func id_ofAnItemMadeAgain_isAnother(kind: StoreKind) throws {
        let store = SecretStore(service: "com.example.app", store: try kind.empty())
        try store.save("s3cret", for: "alice")
        let id = try #require(try store.item(for: "alice")).id
        try store.remove(for: "alice")
        try store.save("s3cret", for: "alice")
        #expect(try store.item(for: "alice")?.id != id)
    }

    /// The rule of `SecItemCopyMatching`: twenty bytes, and nothing else but what is wanted.
    @Test(arguments: StoreKind.allCases) func persistentReference_searchedBy_findsTheItem(kind: StoreKind) throws {
        let items = try kind.empty()
        let store = SecretStore(service: "com.example.app", store: items)
        try store.save("s3cret", for: "alice")
        try store.save("other", for: "bob")
        var query = Query(nil)
        query.persistentReference = try PersistentReference(#require(try store.item(for: "alice")).persistentReference)
        query.returns = .value
        let outcome = try Engine(store: items).copyMatching(query, accessGroups: .unrestricted)
        #expect(outcome == .one(.value(Data("s3cret".utf8))))
    }

    @Test(arguments: StoreKind.allCases) func item_ofNoAccount_isNone(kind: StoreKind) throws {
        let store = SecretStore(service: "com.example.app", store: try kind.empty())
        try store.save("s3cret", for: "alice")
        #expect(try store.item(for: "bob") == nil)
    }

    @Test(arguments: StoreKind.allCases) func account_ofTheSameLook_isAnother(kind: StoreKind) throws {
        let store = SecretStore(service: "com.example.app", store: try kind.empty())
        try store.save("s3cret", for: "\u{E9}")
        #expect(try store.item(for: "e\u{301}") == nil)
    }
}

@Suite("Names as other programs gave them")
struct ForeignNameTests {
    /// An item of a class with attributes that KeychainKit itself would not write.
    private func item(
        _ kind: StoreKind, _ attributes: Attributes, of itemClass: ItemClass = .internetPassword
    ) throws -> KeychainItem {
        let store = try kind.empty()
        _ = try Engine(store: store).add(Query(itemClass, attributes), accessGroups: .unrestricted)
        return try #require(try KeychainCatalog(store: store).items().first)
    }

    @Test(arguments: StoreKind.allCases) func account_ofBytes_isShownInHexadecimal(kind: StoreKind) throws {
        let item = try item(kind, [.account: .data(Data([0x05, 0xFF]))])
        #expect(item.account == nil)
        #expect(item.displayText(of: .account) == "0x05ff")
    }

    @Test(arguments: StoreKind.allCases) func account_ofBytesThatAreText_isText(kind: StoreKind) throws {
        let item = try item(kind, [.account: .data(Data("alice".utf8))])
        #expect([item.account, item.displayText(of: .account)] == ["alice", "alice"])
    }

    @Test(arguments: StoreKind.allCases) func account_ofANumber_isShownInDigits(kind: StoreKind) throws {
        #expect(try item(kind, [.account: .number(42)]).displayText(of: .account) == "42")
    }

    @Test(arguments: KeychainItem.TextAttribute.allCases)
    func text_thatAClassLacks_isShownAsNone(attribute: KeychainItem.TextAttribute) throws {
        let item = try item(.memory, [:], of: .certificate)
        #expect(item.displayText(of: attribute) == nil)
    }

    @Test(arguments: KeychainItem.TextAttribute.allCases.filter { $0 != .service })
    func text_ofAServersItem_isShown(attribute: KeychainItem.TextAttribute) throws {
        let item = try item(
            .memory,
            [
                .account: .string("account"), .server: .string("server"), .path: .string("path"),
                .securityDomain: .string("securityDomain"), .label: .string("label"), .comment: .string("comment"),
                .itemDescription: .string("itemDescription"),
            ])
        #expect(item.displayText(of: attribute) == String(describing: attribute))
    }

    @Test(arguments: StoreKind.allCases) func port_ofTextThatIsNoNumberInPrint_isTheNumber(kind: StoreKind) throws {
        #expect(try item(kind, [.port: .string("080")]).port == 80)
    }

    @Test(arguments: StoreKind.allCases) func port_ofTextThatIsNoNumber_isNone(kind: StoreKind) throws {
        #expect(try item(kind, [.port: .string("many")]).port == nil)
    }

    @Test(arguments: StoreKind.allCases) func protocol_ofFourDigits_isText(kind: StoreKind) throws {
        #expect(try item(kind, [.protocol: .string("8080")]).protocol == "8080")
    }

    @Test(arguments: StoreKind.allCases) func protocol_ofZero_isNone(kind: StoreKind) throws {
        #expect(try item(kind, [.protocol: .string("0")]).protocol == nil)
    }
}
