// SPDX-License-Identifier: Apache-2.0
// Conformance cases C44–C58: what is refused, and how.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Conformance: bad input")
struct BadInputConformanceTests {
    @Test("C44", arguments: StoreKind.allCases, [Call.add, .delete])
    func accessControl_thatIsAString_isRefused(kind: StoreKind, call: Call) throws {
        #expect(call.status(try kind.services(), genp(["labl": "l", "accc": "string"])) == errSecParam)
    }

    @Test("C46", arguments: StoreKind.allCases, Call.allCases)
    func appClipKey_inAnyCall_isRefused(kind: StoreKind, call: Call) throws {
        let services = try kind.services()
        services.add(genp(["acct": "a"]))
        #expect(call.status(services, genp(["clip": 1])) == errSecParam)
    }

    @Test("C46", arguments: StoreKind.allCases)
    func appClipKey_inAttributesToUpdate_isRefused(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["acct": "a"]))
        #expect(services.update(genp(), to: ["clip": 1]) == errSecParam)
    }

    @Test("C47", arguments: StoreKind.allCases, ["r_Data", "r_Attributes", "r_Ref", "r_PersistentRef"])
    func returnKey_inAnUpdate_isDroppedOnMacOSAndRefusedOnIOS(kind: StoreKind, name: String) throws {
        let services = try kind.services()
        services.add(genp())
        #expect(services.update(genp([name: true]), to: ["labl": "l"]) == errSecSuccess)
        #expect(services.with(dialect: .strict).update(genp([name: true]), to: ["labl": "l"]) == errSecParam)
    }

    @Test("C49", arguments: StoreKind.allCases, ["u_CredRef", "u_AuthCtx", "u_AuthUI", "u_OpPrompt"])
    func useKey_inAttributesToUpdate_isNoSuchAttribute(kind: StoreKind, name: String) throws {
        let services = try kind.services()
        services.add(genp())
        #expect(services.update(genp(), to: [name: Data([1])]) == errSecNoSuchAttr)
    }

    @Test("C50", arguments: StoreKind.allCases)
    func keyType_above31Bits_staysANumberOverUpdates(kind: StoreKind) throws {
        let services = try kind.services()
        let flags: Entries = ["encr": true, "decr": false, "sign": true, "vrfy": false, "wrap": true, "unwp": true]
        let item = keys(["klbl": Data([1]), "type": 0x8000_0001, "v_Data": secret]).adding(flags)
        #expect(services.add(item).status == errSecSuccess)
        #expect(services.update(keys(["klbl": Data([1])]), to: ["v_Data": otherSecret]) == errSecSuccess)
        #expect(try services.attributes(keys())["type"] as? Int == 0x8000_0001)
    }

    @Test("C52", arguments: StoreKind.allCases, ["apls", "zzzz"])
    func className_thatIsUnknown_isNoSuchClass(kind: StoreKind, name: String) throws {
        let services = try kind.services()
        for call in Call.allCases { #expect(call.status(services, ["class": name]) == errSecNoSuchClass, "\(call)") }
    }

    @Test("C53", arguments: StoreKind.allCases, Call.allCases)
    func server_onAGenericPassword_isNoSuchAttribute(kind: StoreKind, call: Call) throws {
        #expect(call.status(try kind.services(), genp(["srvr": "x"])) == errSecNoSuchAttr)
    }

    @Test("C55", arguments: StoreKind.allCases)
    func returnKey_withANumber_isRefused(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.find(genp(["r_Data": 1])).status == errSecParam)
        #expect(services.find(genp(["r_Data": NSNumber(value: 1)])).status == errSecParam)
    }

    @Test(
        "C56", arguments: StoreKind.allCases,
        [
            Row("text", ["m_Limit": "5"], errSecParam), Row("zero", ["m_Limit": 0], errSecItemNotFound),
            Row("one", ["m_Limit": 1], errSecSuccess),
        ])
    func limit_thatIsNotAConstant_isACountOrRefused(kind: StoreKind, row: Row<OSStatus>) throws {
        let services = try kind.services()
        services.add(genp(["v_Data": secret]))
        let answer = services.find(genp(row.entries).adding(["r_Data": true]))
        #expect(answer.status == row.expected)
        #expect(!(answer.object is NSArray))
    }

    @Test("C58", arguments: StoreKind.allCases)
    func accessibility_thatIsUnknown_isRefused(kind: StoreKind) throws {
        #expect(try kind.services().add(genp(["pdmn": "zz"])).status == errSecParam)
    }
}
