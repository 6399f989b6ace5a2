// SPDX-License-Identifier: Apache-2.0
// Conformance cases C26–C43: what comes back, by return keys and limit.

import Foundation
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Conformance: result shapes")
struct ResultShapeConformanceTests {
    private var certificate: Entries {
        cert(["ctyp": 3, "issr": Data("issuer".utf8), "slnr": Data([1]), "v_Data": Data("der".utf8)])
    }

    @Test("C26", arguments: StoreKind.allCases)
    func list_ofSecretsAndReferences_holdsDictionariesWithBoth(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["svce": "s", "v_Data": secret]))
        let query = genp(["svce": "s", "r_Data": true, "r_PersistentRef": true, "m_Limit": "m_LimitAll"])
        let list = try #require(services.find(query).dictionaries)
        #expect(list.count == 1)
        #expect(list.first?["v_Data"] as? Data == secret)
        #expect((list.first?["v_PersistentRef"] as? Data)?.count == 20)
    }

    @Test("C28", arguments: StoreKind.allCases)
    func list_ofReferences_holdsData(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["svce": "s", "v_Data": secret]))
        let query = genp(["svce": "s", "r_PersistentRef": true, "m_Limit": "m_LimitAll"])
        #expect(services.find(query).dataList?.map(\.count) == [20])
    }

    @Test("C29", arguments: StoreKind.allCases)
    func add_returningAttributesAndReference_hasNoSecret(kind: StoreKind) throws {
        let item = genp(["acct": "a", "v_Data": secret, "r_Attributes": true, "r_PersistentRef": true])
        let dictionary = try #require(kind.services().add(item).dictionary)
        #expect(dictionary["v_PersistentRef"] is Data)
        #expect(dictionary["v_Data"] == nil)
        #expect(dictionary["persistref"] == nil)
    }

    @Test("C31", arguments: StoreKind.allCases)
    func search_returningAttributes_hasNoSecret(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(genp(["v_Data": secret]))
        #expect(try services.attributes(genp())["v_Data"] == nil)
    }

    @Test("C32", arguments: StoreKind.allCases, ["genp", "inet"])
    func add_ofAPasswordReturningAReference_succeedsWithNothing(kind: StoreKind, itemClass: String) throws {
        let answer = try kind.services().add(["class": itemClass, "r_Ref": true])
        #expect(answer.status == errSecSuccess)
        #expect(answer.object == nil)
    }

    @Test("C34", arguments: StoreKind.allCases)
    func add_ofAnObjectThatIsNoCertificate_isRefused(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(cert(["v_Ref": NSObject()])).status == errSecParam)
        #expect(services.count(cert()) == 0)
    }

    @Test("C35", arguments: StoreKind.allCases)
    func add_ofACertificateWithoutReturnKeys_hasNoResult(kind: StoreKind) throws {
        let answer = try kind.services().add(certificate)
        #expect(answer.status == errSecSuccess)
        #expect(answer.object == nil)
    }

    @Test("C38", arguments: StoreKind.allCases)
    func add_ofACertificateReturningData_returnsItsBytes(kind: StoreKind) throws {
        #expect(try kind.services().add(certificate.adding(["r_Data": true])).data == Data("der".utf8))
    }

    @Test("C40", arguments: StoreKind.allCases)
    func add_ofACertificateReturningAllButAnObject_returnsNumbersAndAWorkingReference(kind: StoreKind) throws {
        let services = try kind.services()
        let item = certificate.adding(["cenc": 3, "r_Data": true, "r_Attributes": true, "r_PersistentRef": true])
        let dictionary = try #require(services.add(item).dictionary)
        #expect(dictionary["v_Data"] as? Data == Data("der".utf8))
        #expect(dictionary["ctyp"] as? Int == 3)
        #expect(dictionary["cenc"] as? Int == 3)
        let reference = try #require(dictionary["v_PersistentRef"] as? Data)
        #expect(services.find(["v_PersistentRef": reference, "r_Data": true]).data == Data("der".utf8))
    }

    @Test("C41", arguments: StoreKind.allCases)
    func certificate_withAnApplicationTag_isNoSuchAttribute(kind: StoreKind) throws {
        let services = try kind.services()
        let tagged = certificate.adding(["atag": "tag"])
        #expect(services.add(tagged).status == errSecNoSuchAttr)
        #expect(services.delete(tagged) == errSecNoSuchAttr)
    }

    @Test("C43", arguments: StoreKind.allCases, ["binn", "bini", "bin0", "bin1", "bin2", "bin3"])
    func extraServerData_withoutItsEntitlement_isRefused(kind: StoreKind, name: String) throws {
        #expect(try kind.services().add(inet([name: Data([1])])).status == errSecMissingEntitlement)
    }
}
