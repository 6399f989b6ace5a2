// SPDX-License-Identifier: Apache-2.0
// Conformance cases C01–C25: add, find, update and delete passwords.

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Conformance: basics")
struct BasicsConformanceTests {
    private var password: Entries { genp(["acct": "a", "svce": "s"]) }
    private var server: Entries {
        inet(["srvr": "www.example.com", "acct": "a", "port": 80, "ptcl": "http", "atyp": "dflt"])
    }

    @Test("C01", arguments: StoreKind.allCases)
    func search_inAnEmptyKeychain_findsNothing(kind: StoreKind) throws {
        let answer = try kind.services().find(inet())
        #expect(answer.status == errSecItemNotFound)
        #expect(answer.object == nil)
    }

    @Test("C02", arguments: StoreKind.allCases)
    func add_withoutResultVariable_succeeds(kind: StoreKind) throws {
        let item = password.adding(["v_Data": secret]) as NSDictionary
        #expect(try kind.services().add(item, nil) == errSecSuccess)
    }

    @Test("C04", arguments: StoreKind.allCases)
    func delete_withAReturnKeyLeftIn_succeeds(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(password.adding(["v_Data": secret]))
        #expect(services.delete(password.adding(["r_Data": true])) == errSecSuccess)
    }

    @Test("C05", arguments: StoreKind.allCases)
    func add_ofTheSameItemAgain_isADuplicate(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(password.adding(["v_Data": secret]))
        #expect(services.add(password.adding(["v_Data": secret])).status == errSecDuplicateItem)
    }

    @Test("C07", arguments: StoreKind.allCases)
    func update_withTheSecretInItsQuery_movesTheItem(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(password.adding(["v_Data": secret, "pdmn": "ck"]))
        let query = password.adding(["v_Data": secret, "pdmn": "ck"])
        #expect(services.update(query, to: ["acct": "b", "svce": "t"]) == errSecSuccess)
        #expect(services.find(genp(["acct": "b", "svce": "t", "r_Data": true])).data == secret)
    }

    @Test("C08", arguments: StoreKind.allCases)
    func update_ofAnItemThatMovedAway_findsNothing(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(password)
        #expect(services.update(password, to: ["acct": "b"]) == errSecSuccess)
        #expect(services.update(password, to: ["acct": "b"]) == errSecItemNotFound)
    }

    @Test("C09", arguments: StoreKind.allCases)
    func internetPassword_addedTwice_isADuplicate(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(server.adding(["v_Data": secret])).status == errSecSuccess)
        #expect(services.add(server.adding(["v_Data": secret])).status == errSecDuplicateItem)
    }

    @Test("C10", arguments: StoreKind.allCases)
    func search_byAllAttributesWithoutReturnKeys_succeeds(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(server)
        #expect(services.find(server).status == errSecSuccess)
    }

    @Test("C11", arguments: StoreKind.allCases)
    func returnedAttributes_usedAsAQuery_findTheSameItem(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(server.adding(["v_Data": secret]))
        let attributes = try services.attributes(server.adding(["m_Limit": "m_LimitOne"]))
        let query = attributes.without("sha1").adding(["class": "inet", "r_Data": true])
        #expect(services.find(query).data == secret)
    }

    @Test("C13", arguments: StoreKind.allCases)
    func update_toAnotherServer_leavesNothingBehind(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(server)
        #expect(services.update(server, to: ["srvr": "other"]) == errSecSuccess)
        #expect(services.update(server, to: ["srvr": "other"]) == errSecItemNotFound)
        #expect(services.delete(server) == errSecItemNotFound)
    }

    @Test("C14", arguments: StoreKind.allCases)
    func update_ontoAnotherItem_isADuplicateAndChangesNothing(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(server.adding(["srvr": "other"]))
        services.add(server)
        #expect(services.update(server, to: ["srvr": "other"]) == errSecDuplicateItem)
        #expect(services.delete(server) == errSecSuccess)
    }

    @Test("C16", arguments: StoreKind.allCases)
    func update_ofTheSecret_isReadBack(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(password.adding(["v_Data": secret]))
        #expect(services.update(password, to: ["v_Data": otherSecret]) == errSecSuccess)
        #expect(services.find(password.adding(["r_Data": true])).data == otherSecret)
    }

    @Test("C17", arguments: StoreKind.allCases)
    func update_ofTheSecretToAString_isRefused(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(password.adding(["v_Data": secret]))
        #expect(services.update(password, to: ["v_Data": "text"]) == errSecParam)
        #expect(services.find(password.adding(["r_Data": true])).data == secret)
    }

    @Test("C19", arguments: StoreKind.allCases)
    func add_withoutASecret_succeeds(kind: StoreKind) throws {
        #expect(try kind.services().add(password).status == errSecSuccess)
    }

    @Test("C20", arguments: StoreKind.allCases)
    func itemWithoutASecret_inAListOfEverything_hasNoValueKey(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(password)
        let all = password.adding(["r_Data": true, "r_Attributes": true, "m_Limit": "m_LimitAll"])
        let list = try #require(services.find(all).dictionaries)
        #expect(list.count == 1)
        #expect(list.first?["acct"] as? String == "a")
        #expect(list.first?["svce"] as? String == "s")
        #expect(list.first?["v_Data"] == nil)
    }

    @Test("C22", arguments: StoreKind.allCases)
    func itemWithoutASecret_inAListOfSecrets_isLeftOut(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(password)
        let answer = services.find(password.adding(["r_Data": true, "m_Limit": "m_LimitAll"]))
        #expect(answer.status == errSecSuccess)
        #expect(answer.dataList == [])
    }

    @Test("C23", arguments: StoreKind.allCases)
    func delete_byService_removesAllOfIt(kind: StoreKind) throws {
        let services = try kind.services()
        for number in 0..<20 { services.add(genp(["acct": "\(number)", "svce": "s"])) }
        #expect(services.delete(genp(["svce": "s"])) == errSecSuccess)
        #expect(services.delete(genp(["svce": "s"])) == errSecItemNotFound)
    }

    @Test("C25", arguments: StoreKind.allCases)
    func secret_of20Megabytes_isReadBackAndDeleted(kind: StoreKind) throws {
        let services = try kind.services()
        let large = Data(repeating: 0xA5, count: 20_000_000)
        #expect(services.add(password.adding(["v_Data": large])).status == errSecSuccess)
        #expect(services.find(password.adding(["r_Data": true])).data == large)
        #expect(services.delete(password) == errSecSuccess)
    }
}
