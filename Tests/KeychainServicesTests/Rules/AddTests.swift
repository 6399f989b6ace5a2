// SPDX-License-Identifier: Apache-2.0
// What adding stores and returns (rules 1.8 and 2.3).

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: adding")
struct AddTests {
    private static let attributes: Set<String> = ["acct", "svce", "agrp", "cdat", "mdat", "pdmn", "sync", "sha1"]

    /// Return keys, and the keys of the dictionary that comes back.
    static let dictionaryShapes: [Row<Set<String>>] = [
        Row("attributes", ["r_Attributes": true], attributes),
        Row("data, attributes", ["r_Data": true, "r_Attributes": true], attributes.union(["v_Data"])),
        Row("data, reference", ["r_Data": true, "r_PersistentRef": true], ["v_Data", "v_PersistentRef"]),
        Row(
            "attributes, reference", ["r_Attributes": true, "r_PersistentRef": true],
            attributes.union(["v_PersistentRef"])),
        Row("object, attributes", ["r_Ref": true, "r_Attributes": true], attributes.union(["class"])),
        Row(
            "everything", ["r_Ref": true, "r_Attributes": true, "r_Data": true, "r_PersistentRef": true],
            attributes.union(["class", "v_Data", "v_PersistentRef"])),
    ]

    @Test(arguments: StoreKind.allCases, dictionaryShapes)
    func add_askedForSeveralParts_returnsADictionaryOfThem(kind: StoreKind, row: Row<Set<String>>) throws {
        let answer = try kind.services().add(genp(["v_Data": secret]).adding(row.entries))
        #expect(Set(try #require(answer.dictionary).keys) == row.expected)
    }

    @Test(arguments: StoreKind.allCases)
    func add_askedForNothing_clearsTheResult(kind: StoreKind) throws {
        #expect(try kind.services().add(genp(["v_Data": secret])).object == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func add_askedForData_returnsTheSecret(kind: StoreKind) throws {
        #expect(try kind.services().add(genp(["v_Data": secret, "r_Data": true])).data == secret)
    }

    @Test(arguments: StoreKind.allCases)
    func add_askedForDataThatIsNotThere_returnsEmptyData(kind: StoreKind) throws {
        #expect(try kind.services().add(genp(["r_Data": true])).data == Data())
    }

    @Test(arguments: StoreKind.allCases)
    func add_askedForAReference_returns20BytesThatStartWithTheClass(kind: StoreKind) throws {
        let reference = try #require(kind.services().add(genp(["r_PersistentRef": true])).data)
        #expect(reference.count == 20)
        #expect(reference.prefix(4) == Data("genp".utf8))
    }

    @Test(arguments: StoreKind.allCases)
    func add_withAccessControl_returnsItAmongTheAttributes(kind: StoreKind) throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, [], nil))
        let answer = try kind.services().add(genp(["accc": control, "r_Attributes": true]))
        #expect(answer.dictionary?["accc"] as? SecAccessControl == control)
        #expect(answer.dictionary?["pdmn"] as? String == "dk")
    }

    @Test(arguments: StoreKind.allCases)
    func add_ofADuplicate_clearsTheResultOnMacOSAndLeavesItOnIOS(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp())
        #expect(services.add(genp(["r_Data": true])).object == nil)
        #expect(services.with(dialect: .strict).add(genp(["r_Data": true])).isUntouched)
    }

    @Test(arguments: StoreKind.allCases)
    func emptySecret_isReadBackAsEmptyData(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["v_Data": Data()]))
        #expect(services.find(genp(["r_Data": true])).data == Data())
    }

    @Test(arguments: StoreKind.allCases)
    func matchKeys_inAnAddition_areDroppedAndTheItemIsStored(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["m_Limit": "m_LimitOne", "m_SubjectContains": "x"]))
        #expect(services.count(genp()) == 1)
    }

    // MARK: Defaults

    @Test(arguments: StoreKind.allCases)
    func dates_givenByTheCaller_areReplacedByNow(kind: StoreKind) throws {
        let now = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
        let services = try kind.services(now: { now })
        services.add(genp(["cdat": Date.distantPast, "mdat": Date.distantFuture]))
        let attributes = try services.attributes(genp())
        #expect(attributes["cdat"] as? Date == now)
        #expect(attributes["mdat"] as? Date == now)
    }

    static let defaults: [Row<[String]>] = [
        Row("genp", genp(["acct": "", "svce": "", "sync": 0, "pdmn": "ak", "agrp": "test"]), []),
        Row(
            "inet",
            inet([
                "acct": "", "sdmn": "", "srvr": "", "ptcl": 0, "atyp": "", "port": 0, "path": "", "sync": 0,
                "pdmn": "ak",
            ]), []),
        Row("cert", cert(["ctyp": 0, "issr": Data(), "slnr": Data(), "sync": 0, "pdmn": "dk"]), []),
        Row(
            "keys",
            keys([
                "kcls": 0, "klbl": Data(), "atag": "", "crtr": 0, "type": 0, "bsiz": 0, "esiz": 0,
                "sdat": Date(timeIntervalSinceReferenceDate: 0), "edat": Date(timeIntervalSinceReferenceDate: 0),
                "sync": 0, "pdmn": "ak",
            ]), []),
    ]

    @Test(arguments: StoreKind.allCases, defaults)
    func attributesOfThePrimaryKey_leftOut_getTheirDefaults(kind: StoreKind, row: Row<[String]>) throws {
        let services = try kind.services()
        let query: Entries = ["class": row.name]
        services.add(query)
        let stored = try services.attributes(query)
        for (name, value) in row.entries.without("class") { #expect(same(stored[name], value), "\(name)") }
    }

    @Test(arguments: StoreKind.allCases)
    func otherAttributes_leftOut_stayAbsent(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp())
        let names = Set(try services.attributes(genp()).keys)
        #expect(names == Self.attributes.union(["tomb", "musr", "accc"]))
    }

    @Test(arguments: StoreKind.allCases)
    func defaultAccessibility_inThePushServicesGroup_isAlwaysThisDeviceOnly(kind: StoreKind) throws {
        let services = try kind.services(groups: ["com.apple.apsd"])
        services.add(genp())
        #expect(try services.attributes(genp())["pdmn"] as? String == "dku")
    }

    @Test(arguments: StoreKind.allCases)
    func digestAndUserView_givenByTheCaller_areNotStored(kind: StoreKind) throws {
        let services = try kind.services()
        let digest = Data(repeating: 1, count: 20)
        services.add(genp(["sha1": digest, "musr": Data(count: 16)]))
        let attributes = try services.attributes(genp())
        #expect(attributes["sha1"] as? Data != digest)
        #expect(attributes["musr"] as? Data == Data())
    }

    @Test(arguments: StoreKind.allCases)
    func tokenItem_isUnimplementedAndNotStored(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(keys(["tkid": "com.apple.setoken"])).status == errSecUnimplemented)
        #expect(services.count(keys()) == 0)
    }
}
