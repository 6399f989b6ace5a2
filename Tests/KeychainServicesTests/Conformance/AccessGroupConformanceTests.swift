// SPDX-License-Identifier: Apache-2.0
// Conformance cases C74–C88: entitlements, access groups, and searching below a host.

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Conformance: access groups")
struct AccessGroupConformanceTests {
    /// As on iOS: macOS lets a program without entitlements search the group of smart cards, which there are none of here.
    @Test("C74", arguments: StoreKind.allCases, Call.allCases)
    func program_withEmptyEntitlements_lacksOneForEveryCall(kind: StoreKind, call: Call) throws {
        #expect(call.status(try kind.services(entitlements: [:]), genp()) == errSecMissingEntitlement)
    }

    /// On macOS these count only in a program whose signature holds (C76, C80); here every list counts, as on iOS.
    @Test(
        "C76, C77, C80", arguments: StoreKind.allCases,
        [
            Row("application identifier", ["application-identifier": "A"], ()),
            Row("application identifier of macOS", ["com.apple.application-identifier": "A"], ()),
            Row("application groups", ["com.apple.security.application-groups": ["A"]], ()),
        ])
    func identifier_inTheEntitlements_isAGroup(kind: StoreKind, row: Row<Void>) throws {
        let services = try kind.services(entitlements: row.entries)
        #expect(services.find(genp(["agrp": "A"])).status == errSecItemNotFound)
        #expect(services.add(genp(["agrp": "A"])).status == errSecSuccess)
        #expect(services.delete(genp(["agrp": "A"])) == errSecSuccess)
    }

    @Test("C79", arguments: StoreKind.allCases)
    func tokenGroup_aloneInTheEntitlements_mayBeSearchedAndNotWritten(kind: StoreKind) throws {
        let services = try kind.services(entitlements: ["keychain-access-groups": ["com.apple.token"]])
        let entries = genp(["agrp": "com.apple.token"])
        #expect(services.find(entries).status == errSecItemNotFound)
        #expect(services.add(entries).status == errSecMissingEntitlement)
        #expect(services.delete(entries) == errSecMissingEntitlement)
    }

    @Test("C81, C82, C83", arguments: StoreKind.allCases)
    func group_listedInTheEntitlements_mayBeUsedAsLongAsItIs(kind: StoreKind) throws {
        let without: Entries = ["application-identifier": "A"]
        let listed = try kind.services(entitlements: without.adding(["keychain-access-groups": ["M"]]))
        #expect(listed.add(genp(["agrp": "M"])).status == errSecSuccess)
        #expect(listed.find(genp(["agrp": "M"])).status == errSecSuccess)
        let unlisted = listed.with(groups: try groups(without))
        #expect(unlisted.add(genp()).status == errSecSuccess)
        #expect(unlisted.update(genp(), to: ["agrp": "M"]) == errSecMissingEntitlement)
        for call in Call.allCases { #expect(call.status(unlisted, genp(["agrp": "M"])) == errSecMissingEntitlement) }
    }

    @Test("C81", arguments: StoreKind.allCases, Call.allCases)
    func foreignGroup_namedInAnyCall_isAMissingEntitlement(kind: StoreKind, call: Call) throws {
        let services = try kind.services(groups: ["A"])
        #expect(call.status(services, genp(["agrp": "M"])) == errSecMissingEntitlement)
    }

    @Test("C82", arguments: StoreKind.allCases)
    func group_thatIsTakenAway_isAMissingEntitlement(kind: StoreKind) throws {
        let services = try kind.services(groups: ["A", "M"])
        #expect(services.add(genp(["agrp": "M"])).status == errSecSuccess)
        #expect(services.find(genp(["agrp": "M"])).status == errSecSuccess)
        #expect(services.with(groups: ["A"]).find(genp(["agrp": "M"])).status == errSecMissingEntitlement)
    }

    @Test("C83", arguments: StoreKind.allCases)
    func update_intoAForeignGroup_isAMissingEntitlement(kind: StoreKind) throws {
        let services = try kind.services(groups: ["A"])
        services.add(genp())
        #expect(services.update(genp(), to: ["agrp": "M"]) == errSecMissingEntitlement)
    }

    @Test("C85", arguments: StoreKind.allCases)
    func update_intoAnotherOwnGroup_movesTheItem(kind: StoreKind) throws {
        let services = try kind.services(groups: ["1", "2"])
        services.add(genp(["agrp": "1"]))
        #expect(services.update(genp(["agrp": "1"]), to: ["agrp": "2"]) == errSecSuccess)
        #expect(services.find(genp(["agrp": "2"])).status == errSecSuccess)
        #expect(services.find(genp(["agrp": "1"])).status == errSecItemNotFound)
    }

    @Test("C86", arguments: StoreKind.allCases)
    func delete_ofOneGroup_leavesTheOther(kind: StoreKind) throws {
        let services = try kind.services(groups: ["1", "2"])
        services.add(genp(["agrp": "1"]))
        services.add(genp(["agrp": "2"]))
        #expect(services.delete(genp(["agrp": "1"])) == errSecSuccess)
        #expect(try services.attributes(genp())["agrp"] as? String == "2")
    }

    @Test(
        "C88", arguments: StoreKind.allCases,
        [
            ("example.com", errSecSuccess), ("origin.example.com", errSecSuccess),
            ("foobar.com", errSecItemNotFound), ("ample.com", errSecItemNotFound),
        ])
    func hostCriterion_onServers_findsTheHostAndItsSubdomains(
        kind: StoreKind, row: (host: String, expected: OSStatus)
    ) throws {
        let services = try kind.services()
        services.add(inet(["srvr": "origin.example.com"]))
        #expect(services.find(inet(["m_HostOrSubdomainOfHost": row.host])).status == row.expected)
    }
}
