// SPDX-License-Identifier: Apache-2.0
// Conformance cases C81–C88: access groups, and searching below a host.

import Foundation
import KeychainServices
import Testing

@Suite("Conformance: access groups")
struct AccessGroupConformanceTests {
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
