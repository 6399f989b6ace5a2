// SPDX-License-Identifier: Apache-2.0
// The status of each call in each situation, in both dialects (rules 2.8 and 2.9).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import KeychainTesting
import Testing

/// The statuses of one situation: add, find, update, delete.
struct Statuses: Sendable {
    let lenient: [OSStatus]
    let strict: [OSStatus]

    init(_ lenient: [OSStatus], strict: [OSStatus]? = nil) {
        self.lenient = lenient
        self.strict = strict ?? lenient
    }

    init(always status: OSStatus) { self.init([status, status, status, status]) }
}

@Suite("Rules: status by situation")
struct StatusBySituationTests {
    private static let ok = errSecSuccess
    private static let bad = errSecParam

    static let situations: [Row<Statuses>] = [
        Row("no class", ["acct": "a"], Statuses(always: errSecParam)),
        Row("unknown class", ["class": "zzzz"], Statuses(always: errSecNoSuchClass)),
        Row("attribute of another class", genp(["srvr": "x"]), Statuses(always: errSecNoSuchAttr)),
        Row("attribute value of a bad type", genp(["acct": Date()]), Statuses(always: errSecParam)),
        Row(
            "secret that is not data", genp(["v_Data": "x"]),
            Statuses([bad, ok, ok, ok], strict: [bad, bad, bad, bad])),
        Row("secret", genp(["v_Data": secret]), Statuses([ok, ok, ok, ok])),
        Row("return value not Bool", genp(["r_Data": 1]), Statuses([bad, bad, ok, ok], strict: [bad, bad, bad, bad])),
        Row("return key", genp(["r_Data": true]), Statuses([ok, ok, ok, ok], strict: [ok, ok, bad, ok])),
        Row("cleared return key", genp(["r_Data": false]), Statuses([ok, ok, ok, ok])),
        Row("limit", genp(["m_Limit": "m_LimitAll"]), Statuses([ok, ok, ok, ok], strict: [bad, ok, bad, bad])),
        Row("bad limit", genp(["m_Limit": "x"]), Statuses([ok, bad, ok, ok], strict: [bad, bad, bad, bad])),
        Row("match key", genp(["m_CaseInsensitive": true]), Statuses([ok, ok, ok, ok], strict: [bad, ok, bad, bad])),
        Row("unknown match key", genp(["m_Unknown": 1]), Statuses([ok, ok, bad, bad], strict: [bad, ok, bad, bad])),
        Row(
            "subject match key", genp(["m_SubjectStartsWith": "x"]),
            Statuses([ok, ok, bad, bad], strict: [bad, ok, bad, bad])),
        Row("list of items", genp(["u_ItemList": [Data()]]), Statuses([bad, bad, bad, ok])),
        Row("skip UI", genp(["u_AuthUI": "u_AuthUIS"]), Statuses([bad, ok, bad, bad])),
        Row("foreign group", genp(["agrp": "foreign"]), Statuses(always: errSecMissingEntitlement)),
        Row("bad reference", genp(["v_PersistentRef": Data([1])]), Statuses(always: errSecParam)),
        Row("reference not data", genp(["v_PersistentRef": "x"]), Statuses(always: errSecParam)),
        Row(
            "reference of another class", genp(["v_PersistentRef": Data("inet".utf8) + Data(count: 16)]),
            Statuses(always: errSecNoSuchClass)),
    ]

    @Test(arguments: StoreKind.allCases, situations)
    func call_inASituation_hasItsStatusInBothDialects(kind: StoreKind, row: Row<Statuses>) throws {
        for (index, call) in Call.allCases.enumerated() {
            #expect(try call.status(kind, row.entries) == row.expected.lenient[index], "lenient \(call)")
            #expect(try call.status(kind, row.entries, .strict) == row.expected.strict[index], "strict \(call)")
        }
    }

    @Test(arguments: StoreKind.allCases, [Call.find, .update, .delete])
    func call_whenNothingMatches_isNotFound(kind: StoreKind, call: Call) throws {
        #expect(try call.status(kind, genp(["acct": "other"])) == errSecItemNotFound)
    }

    @Test(arguments: StoreKind.allCases, Call.allCases)
    func call_withoutAnyGroup_isAMissingEntitlement(kind: StoreKind, call: Call) throws {
        #expect(call.status(try kind.services(groups: []), genp()) == errSecMissingEntitlement)
    }

    @Test(arguments: StoreKind.allCases)
    func hostCriterion_inADeletion_isRefusedAndDeletesNothing(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(inet(["srvr": "a"]))
        #expect(services.delete(inet(["m_HostOrSubdomainOfHost": "b"])) == errSecParam)
        #expect(services.count(inet()) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func referenceAndAttributes_areRefusedOnlyBySearches(kind: StoreKind) throws {
        let services = try kind.services()
        let reference = try #require(services.add(genp(["acct": "a", "r_PersistentRef": true])).data)
        let both = genp(["v_PersistentRef": reference, "acct": "a"])
        #expect(services.find(both).status == errSecParam)
        #expect(services.update(both, to: ["labl": "l"]) == errSecSuccess)
        #expect(services.delete(both) == errSecSuccess)
        #expect(services.add(both).status == errSecSuccess)
    }

    static let reasons: [(KeychainError.Reason, OSStatus)] = [
        (.invalidParameter, -50), (.noSuchAttribute, -25303), (.noSuchClass, -25306), (.unsupported, -4),
        (.undecodableInput, -26275), (.tooLarge, -25302), (.itemNotFound, -25300), (.duplicateItem, -25299),
        (.missingEntitlement, -34018), (.locked, -25308), (.interactionNotAllowed, -25308), (.cancelled, -128),
        (.authenticationFailed, -25293), (.corrupt, -26275), (.diskFull, -34), (.readOnly, -25292),
        (.busy, -25291), (.timedOut, -25291), (.unavailable, -25291), (.unsafeLocation, -25291),
        (.newerFormat, -25310), (.inputOutput, -36), (.typeMismatch, -26275), (.rolledBack, -25317),
        (.ofAnotherDevice, -26275),
    ]

    @Test(arguments: reasons)
    func reasonOfFailure_fromAStore_hasItsStatus(reason: KeychainError.Reason, status: OSStatus) {
        let store = ScriptedStore()
        store.fail(.failure(KeychainError(reason, "test")), .every)
        let services = Services(engine: Engine(store: store), accessGroups: .unrestricted)
        for call in Call.allCases { #expect(call.status(services, genp()) == status, "\(call)") }
    }

    @Test func everyReasonOfFailure_hasAStatus() {
        #expect(Set(Self.reasons.map(\.0)) == Set(KeychainError.Reason.known))
    }
}
