// SPDX-License-Identifier: Apache-2.0
// What a search finds and returns (rules 2.4 and 2.5).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: searching")
struct SearchTests {
    /// Three items, the third without a secret.
    private func services(_ kind: StoreKind) throws -> Services {
        let services = try kind.services()
        services.add(genp(["acct": "1", "v_Data": secret]))
        services.add(genp(["acct": "2", "v_Data": otherSecret]))
        services.add(genp(["acct": "3"]))
        return services
    }

    /// Limits, and how many references come back; `nil` stands for a single one outside an array.
    static let limits: [Row<Int?>] = [
        Row("absent", [:], nil), Row("One", ["m_Limit": "m_LimitOne"], nil), Row("1", ["m_Limit": 1], nil),
        Row("All", ["m_Limit": "m_LimitAll"], 3), Row("2", ["m_Limit": 2], 2), Row("10", ["m_Limit": 10], 3),
        Row("-1", ["m_Limit": -1], 3), Row("largest", ["m_Limit": Int.max], 3),
    ]

    @Test(arguments: StoreKind.allCases, limits)
    func limit_decidesTheNumberAndTheShapeOfResults(kind: StoreKind, row: Row<Int?>) throws {
        let answer = try services(kind).find(genp(["r_PersistentRef": true]).adding(row.entries))
        #expect(answer.status == errSecSuccess)
        #expect(answer.dataList?.count == row.expected)
        #expect((answer.data == nil) == (row.expected != nil))
    }

    static let badLimits: [Row<OSStatus>] = [
        Row("0", ["m_Limit": 0], errSecItemNotFound), Row("Bool", ["m_Limit": true], errSecParam),
        Row("-2", ["m_Limit": -2], errSecParam), Row("text", ["m_Limit": "m_LimitTwo"], errSecParam),
        Row("data", ["m_Limit": Data([1])], errSecParam), Row("null", ["m_Limit": NSNull()], errSecParam),
        Row("fraction", ["m_Limit": 1.5], errSecDecode),
    ]

    @Test(arguments: StoreKind.allCases, badLimits)
    func limit_thatIsNoPositiveCount_fails(kind: StoreKind, row: Row<OSStatus>) throws {
        #expect(try services(kind).find(genp(row.entries)).status == row.expected)
    }

    // MARK: Shapes

    private static let attributes: Set<String> = [
        "acct", "svce", "agrp", "cdat", "mdat", "pdmn", "sync", "sha1", "tomb", "musr", "accc",
    ]

    static let dictionaryShapes: [Row<Set<String>>] = [
        Row("attributes", ["r_Attributes": true], attributes),
        Row("data, attributes", ["r_Data": true, "r_Attributes": true], attributes.union(["v_Data"])),
        Row(
            "data, reference", ["r_Data": true, "r_PersistentRef": true],
            attributes.union(["v_Data", "v_PersistentRef"])),
        Row(
            "attributes, reference", ["r_Attributes": true, "r_PersistentRef": true],
            attributes.union(["v_PersistentRef"])),
        Row("object, attributes", ["r_Ref": true, "r_Attributes": true], attributes.union(["class"])),
    ]

    @Test(arguments: StoreKind.allCases, dictionaryShapes)
    func search_askedForSeveralParts_returnsDictionariesOfThem(kind: StoreKind, row: Row<Set<String>>) throws {
        let services = try services(kind)
        let query = genp(["acct": "1"]).adding(row.entries)
        #expect(Set(try #require(services.find(query).dictionary).keys) == row.expected)
        let list = try #require(services.find(query.adding(["m_Limit": "m_LimitAll"])).dictionaries)
        #expect(list.map { Set($0.keys) } == [row.expected])
    }

    @Test(arguments: StoreKind.allCases)
    func search_forOneAndNothing_clearsTheResultOnMacOSAndLeavesItOnIOS(kind: StoreKind) throws {
        let services = try services(kind)
        #expect(services.find(genp()).status == errSecSuccess)
        #expect(services.find(genp()).object == nil)
        #expect(services.with(dialect: .strict).find(genp()).isUntouched)
    }

    @Test(arguments: StoreKind.allCases)
    func search_thatFails_clearsTheResultOnMacOSAndLeavesItOnIOS(kind: StoreKind) throws {
        let services = try services(kind)
        let query = genp(["acct": "4", "r_Data": true])
        #expect(services.find(query).object == nil)
        #expect(services.with(dialect: .strict).find(query).isUntouched)
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func search_forAllAndNothingToShow_returnsAnEmptyArray(kind: StoreKind, asksForObject: Bool) throws {
        let answer = try services(kind).find(genp(["m_Limit": "m_LimitAll", "r_Ref": asksForObject]))
        #expect(answer.status == errSecSuccess)
        #expect((answer.object as? NSArray)?.count == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func search_forTheDataOfAnItemWithout_succeedsWithNothing(kind: StoreKind) throws {
        let answer = try services(kind).find(genp(["acct": "3", "r_Data": true]))
        #expect(answer.status == errSecSuccess)
        #expect(answer.object == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func search_forAllData_leavesOutItemsWithout(kind: StoreKind) throws {
        let list = try services(kind).find(genp(["r_Data": true, "m_Limit": "m_LimitAll"])).dataList
        #expect(list == [secret, otherSecret])
    }

    @Test(arguments: StoreKind.allCases)
    func search_forThePasswordsObject_succeedsWithNothing(kind: StoreKind) throws {
        let answer = try services(kind).find(genp(["acct": "1", "r_Ref": true]))
        #expect(answer.status == errSecSuccess)
        #expect(answer.object == nil)
    }

    // MARK: Conditions

    static let conditions: [Row<Int>] = [
        Row("class alone", [:], 3), Row("an attribute", ["acct": "1"], 1),
        Row("two attributes", ["acct": "1", "svce": ""], 1), Row("one of two wrong", ["acct": "1", "svce": "s"], 0),
        Row("an attribute that no item has", ["labl": "l"], 0), Row("accessibility", ["pdmn": "ak"], 3),
        Row("other accessibility", ["pdmn": "ck"], 0), Row("the secret is none", ["v_Data": Data("other".utf8)], 3),
        Row("creation date", ["cdat": Date.distantPast], 0), Row("live", ["tomb": 0], 3),
        Row("deleted", ["tomb": 1], 0),
    ]

    @Test(arguments: StoreKind.allCases, conditions)
    func conditions_allHoldExactly(kind: StoreKind, row: Row<Int>) throws {
        #expect(try services(kind).count(genp(row.entries)) == row.expected)
    }

    @Test(arguments: StoreKind.allCases)
    func accessControl_inAQuery_isNoCriterion(kind: StoreKind) throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil))
        #expect(try services(kind).count(genp(["accc": control])) == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func modificationDate_isACriterionOnIOSOnly(kind: StoreKind) throws {
        let services = try services(kind)
        #expect(services.count(genp(["mdat": Date.distantPast])) == 3)
        #expect(services.with(dialect: .strict).count(genp(["mdat": Date.distantPast])) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func creationDate_asReturned_findsTheItem(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp())
        let created = try #require(services.attributes(genp())["cdat"] as? Date)
        #expect(services.count(genp(["cdat": created])) == 1)
    }

    // MARK: Match keys

    static let matchKeys: [Row<OSStatus>] = [
        Row("policy text", ["m_Policy": "x"], errSecParam),
        Row("issuers", ["m_Issuers": [Data()]], errSecUnimplemented),
        Row("issuers text", ["m_Issuers": "x"], errSecParam),
        Row("valid now", ["m_ValidOnDate": NSNull()], errSecSuccess),
        Row("valid then", ["m_ValidOnDate": Date()], errSecSuccess),
        Row("valid text", ["m_ValidOnDate": "x"], errSecParam), Row("trusted", ["m_TrustedOnly": true], errSecSuccess),
        Row("trusted number", ["m_TrustedOnly": 1], errSecParam),
        Row("e-mail", ["m_EmailAddressIfPresent": "x"], errSecSuccess),
        Row("e-mail number", ["m_EmailAddressIfPresent": 1], errSecParam),
        Row("host", ["m_HostOrSubdomainOfHost": "x"], errSecUnimplemented),
        Row("host number", ["m_HostOrSubdomainOfHost": 1], errSecParam),
        Row("case", ["m_CaseInsensitive": true], errSecSuccess),
        Row("subject", ["m_SubjectContains": "x"], errSecSuccess),
        Row("items", ["m_ItemList": [Data()]], errSecSuccess), Row("keychains", ["m_SearchList": []], errSecSuccess),
        Row("start", ["m_SubjectStartsWith": "x"], errSecSuccess),
        Row("end", ["m_SubjectEndsWith": "x"], errSecSuccess),
        Row("whole", ["m_SubjectWholeString": "x"], errSecSuccess),
        Row("accents", ["m_DiacriticInsensitive": 1], errSecSuccess),
        Row("width", ["m_WidthInsensitive": 1], errSecSuccess), Row("unknown", ["m_Unknown": 1], errSecSuccess),
    ]

    @Test(arguments: StoreKind.allCases, matchKeys)
    func matchKey_inASearchForPasswords_isIgnoredOrRefused(kind: StoreKind, row: Row<OSStatus>) throws {
        #expect(try services(kind).find(genp(row.entries)).status == row.expected)
    }

    /// With the trait, an object has to be a policy.
    @Test(arguments: StoreKind.allCases)
    func policy_inASearchForPasswords_isRefused(kind: StoreKind) throws {
        #if Certificates
            let expected = errSecParam
        #else
            let expected = errSecUnimplemented
        #endif
        #expect(try services(kind).find(genp(["m_Policy": NSObject()])).status == expected)
    }

    @Test(arguments: StoreKind.allCases)
    func hostCriterion_neverMatchesAServerThatIsData(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(inet(["srvr": Data("a.example.com".utf8)]))
        #expect(services.find(inet(["m_HostOrSubdomainOfHost": "example.com"])).status == errSecItemNotFound)
    }

    @Test(arguments: StoreKind.allCases)
    func hostCriterion_isCaseSensitive(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(inet(["srvr": "a.Example.com"]))
        #expect(services.find(inet(["m_HostOrSubdomainOfHost": "example.com"])).status == errSecItemNotFound)
    }
}
