// SPDX-License-Identifier: Apache-2.0
// Values that are found again without a search: the same answers as those of a search.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: finding a value again")
struct RepeatedSearchTests {
    private let store: RecordingStore
    private let person = Person()

    init() throws {
        store = RecordingStore(try TemporaryVault(passphrase: Person.passphrase))
    }

    private func services(_ dialect: Engine.Dialect = .lenient, groups: [String] = ["test", "test2"]) -> Services {
        let engine = Engine(store: store, dialect: dialect, authenticator: { [person] in person })
        return Services(engine: engine, accessGroups: AccessGroups(groups))
    }

    private static var request: Entries { genp(["svce": "s", "acct": "1", "r_Data": true]) }

    /// Services that have found the secret of the request and remember it.
    private func remembering() throws -> Services {
        let services = services()
        try #require(services.add(Self.request.without("r_Data").adding(["v_Data": secret])).status == errSecSuccess)
        try #require(services.find(Self.request).data == secret)
        return services
    }

    @Test func value_foundAgain_isNotSearchedFor() throws {
        let services = try remembering()
        for count in 1...3 {
            #expect(services.find(Self.request).data == secret)
            #expect((store.searches, store.repeated) == (1, count))
        }
    }

    @Test func valueOfAnItemWithout_foundAgain_isNothing() throws {
        let (services, request) = (services(), genp(["acct": "empty", "r_Data": true]))
        services.add(request.without("r_Data"))
        for count in 0...1 {
            let answer = services.find(request)
            #expect(answer.status == errSecSuccess && answer.object == nil)
            #expect(store.repeated == count)
        }
        #expect(self.services(.strict).find(request).isUntouched)
    }

    @Test func value_ofARequestWithoutResultVariable_isFoundAgain() throws {
        let services = try remembering()
        #expect(services.copyMatching(Self.request as NSDictionary, nil) == errSecSuccess)
    }

    // MARK: - Names

    /// What distinguishes a request from another one, whose value is remembered.
    static let differences: [Row<OSStatus>] = [
        Row("account", ["acct": "2"], errSecItemNotFound),
        Row("account that ends earlier", ["acct": ""], errSecItemNotFound),
        Row("service", ["svce": "t"], errSecItemNotFound),
        Row("class", ["class": "keys"], errSecNoSuchAttr),
        Row("another attribute", ["labl": "x"], errSecItemNotFound),
        Row("attribute of another class", ["srvr": "x"], errSecNoSuchAttr),
        Row("account as data", ["acct": Data("1".utf8)], errSecSuccess),
        Row("account as a number", ["acct": 1], errSecItemNotFound),
        Row("account as a date", ["acct": Date()], errSecParam),
        Row("account as a Boolean", ["acct": true], errSecParam),
        Row("account as null", ["acct": NSNull()], errSecParam),
        Row("synchronizable", ["sync": true], errSecItemNotFound),
        Row("not synchronizable", ["sync": false], errSecSuccess),
        Row("of either kind", ["sync": "syna"], errSecSuccess),
        Row("group", ["agrp": "test"], errSecSuccess),
        Row("another group", ["agrp": "test2"], errSecItemNotFound),
        Row("foreign group", ["agrp": "foreign"], errSecMissingEntitlement),
        Row("accessibility", ["pdmn": "ck"], errSecItemNotFound),
        Row("limit", ["m_Limit": "m_LimitOne"], errSecSuccess),
        Row("limit of none", ["m_Limit": 0], errSecItemNotFound),
        Row("match key", ["m_CaseInsensitive": true], errSecSuccess),
        Row("prompt", ["u_OpPrompt": "why"], errSecSuccess),
        Row("questions forbidden", ["u_AuthUI": "u_AuthUIF"], errSecSuccess),
        Row("skipping", ["u_AuthUI": "u_AuthUIS"], errSecSuccess),
        Row("unknown key", ["x": 1], errSecParam),
        Row("number as return key", ["r_Data": 1], errSecParam),
    ]

    @Test(arguments: differences)
    func request_thatDiffersFromARememberedOne_hasItsOwnAnswer(_ row: Row<OSStatus>) throws {
        let services = try remembering()
        for _ in 1...2 {
            let answer = services.find(Self.request.adding(row.entries))
            #expect(answer.status == row.expected)
            #expect(answer.data == (row.expected == errSecSuccess ? secret : nil))
            #expect(services.find(Self.request).data == secret)
        }
    }

    @Test func namesThatSwiftTakesForEqual_areTwo() throws {
        let (services, names) = (services(), [("e\u{301}", secret), ("\u{E9}", otherSecret)])
        for (name, value) in names { services.add(genp(["acct": name, "v_Data": value])) }
        for _ in 1...2 {
            for (name, value) in names { #expect(services.find(genp(["acct": name, "r_Data": true])).data == value) }
        }
        #expect(store.repeated == 2)
    }

    @Test func value_rememberedForAProgram_isNotFoundByOneWithOtherGroups() throws {
        _ = try remembering()
        #expect(services(groups: ["test2"]).find(Self.request).status == errSecItemNotFound)
        #expect(services(groups: []).find(Self.request).status == errSecMissingEntitlement)
        #expect(store.repeated == 0)
    }

    /// The lenient dialect drops the date that is no date.
    @Test func value_rememberedInADialect_isNotThatOfTheOther() throws {
        _ = try remembering()
        let request = Self.request.adding(["mdat": "no date"])
        for _ in 1...2 {
            #expect(services().find(request).data == secret)
            #expect(services(.strict).find(request).status == errSecParam)
        }
    }

    static let unusual: [Row<Int>] = [
        Row("list", ["m_Limit": "m_LimitAll"], 0), Row("list of one at most", ["m_Limit": 2], 0),
        Row("attributes", ["r_Attributes": true], 0), Row("reference", ["r_PersistentRef": true], 0),
        Row("object", ["r_Ref": true], 0), Row("nothing", ["r_Data": false], 0),
        Row("context", ["u_AuthCtx": LAContext()], 0), Row("match key", ["m_CaseInsensitive": true], 0),
        Row("skipping", ["u_AuthUI": "u_AuthUIS"], 0),
        Row("long name", ["labl": String(repeating: "x", count: 300)], 0),
        Row("usual", ["u_OpPrompt": "why"], 1),
    ]

    @Test(arguments: unusual)
    func request_thatIsUnusual_isNotRemembered(_ row: Row<Int>) throws {
        let services = services()
        let item = Self.request.without("r_Data").adding(["v_Data": secret])
        services.add(item.adding(row.entries.filter { $0.key == "labl" }))
        for _ in 1...2 { #expect(services.find(Self.request.adding(row.entries)).status == errSecSuccess) }
        #expect((store.names.count, store.repeated) == (row.expected, row.expected))
    }

    @Test func referenceAlone_isNotRemembered() throws {
        let services = try remembering()
        let reference = services.find(Self.request.without("r_Data").adding(["r_PersistentRef": true])).data
        let request: Entries = ["v_PersistentRef": try #require(reference), "r_Data": true]
        for _ in 1...2 { #expect(services.find(request).data == secret) }
        #expect(store.names.count == 1)
    }

    // MARK: - Changes

    @Test func value_thatWasChanged_isTheNewOne() throws {
        let services = try remembering()
        #expect(services.update(Self.request.without("r_Data"), to: ["v_Data": otherSecret]) == errSecSuccess)
        #expect(services.find(Self.request).data == otherSecret)
    }

    @Test func value_ofAnItemThatWasRemoved_isNotFound() throws {
        let services = try remembering()
        #expect(services.delete(Self.request.without("r_Data")) == errSecSuccess)
        #expect(services.find(Self.request).status == errSecItemNotFound)
    }

    /// It comes before the other one in the order of results.
    @Test func value_ofAnItemAddedBeforeIt_isFoundInstead() throws {
        let (services, request) = (services(groups: ["test2", "test"]), Self.request)
        services.add(request.without("r_Data").adding(["v_Data": secret]))
        for _ in 1...2 { #expect(services.find(request).data == secret) }
        services.add(request.without("r_Data").adding(["v_Data": otherSecret, "agrp": "test"]))
        #expect(services.find(request).data == otherSecret)
    }

    @Test func itemThatAsks_foundAgain_asksAgain() throws {
        let services = services()
        let item = try protected(.userPresence).adding(["svce": "s", "acct": "1", "v_Data": secret])
        #expect(services.add(item).status == errSecSuccess)
        for count in 1...2 {
            #expect(services.find(Self.request).data == secret)
            #expect(person.questions.count == count)
        }
        #expect(store.repeated == 0)
        #expect(services.find(Self.request.adding(["u_AuthUI": "u_AuthUIF"])).status == errSecInteractionNotAllowed)
    }

    @Test func item_thatIsMadeToAsk_asks() throws {
        let services = try remembering()
        let control = try #require(protected(.userPresence)["accc"])
        #expect(services.update(Self.request.without("r_Data"), to: ["accc": control]) == errSecSuccess)
        #expect(services.find(Self.request.adding(["u_AuthUI": "u_AuthUIF"])).status == errSecInteractionNotAllowed)
    }

    @Test func value_whileTheKeychainIsLocked_isInteractionNotAllowed() throws {
        let keychain = try LockableKind.vault.keychain()
        keychain.services.add(Self.request.without("r_Data").adding(["v_Data": secret]))
        for _ in 1...2 { #expect(keychain.services.find(Self.request).data == secret) }
        try keychain.enter(.locked)
        #expect(keychain.services.find(Self.request).status == errSecInteractionNotAllowed)
        try keychain.enter(.unlocked)
        #expect(keychain.services.find(Self.request).data == secret)
    }
}
