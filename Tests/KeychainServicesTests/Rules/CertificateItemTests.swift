// SPDX-License-Identifier: Apache-2.0
// Certificate objects in the item calls: what is stored, what finds it, and what comes back.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: certificate objects")
struct CertificateItemTests {
    private func object() throws -> SecCertificate { try TestCertificate.object() }

    @Test("K73", arguments: StoreKind.allCases)
    func add_ofACertificate_storesItsAttributesAndBytes(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(["v_Ref": try object()]).status == errSecSuccess)
        let item = try #require(services.find(cert(["r_Attributes": true, "r_Data": true])).dictionary)
        #expect(item["labl"] as? String == "Leaf One" && item["slnr"] as? Data == Data([0x00, 0xA1, 0xB2]))
        #expect(item["ctyp"] as? Int == 3 && item["cenc"] as? Int == 3 && item["klbl"] == nil)
        #expect(item["pkhh"] as? Data == TestCertificate.keyHash && item["skid"] as? Data == TestCertificate.keyHash)
        #expect(item["subj"] as? Data == TestCertificate.name && item["issr"] as? Data == TestCertificate.name)
        #expect(item["v_Data"] as? Data == TestCertificate.der && item["pdmn"] as? String == "dk")
    }

    @Test("K74", arguments: StoreKind.allCases)
    func add_ofACertificateAgain_isADuplicateWhateverTheLabel(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(cert(["v_Ref": try object(), "labl": "x"])).status == errSecSuccess)
        #expect(services.add(["v_Ref": try object()]).status == errSecDuplicateItem)
        #expect(services.count(cert(["labl": "x"])) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func storedCertificate_foundByItsObject_canBeReadUpdatedAndDeleted(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try object()])
        #expect(services.find(["v_Ref": try object(), "r_Data": true]).data == TestCertificate.der)
        #expect(services.update(["v_Ref": try object()], to: ["labl": "new"]) == errSecSuccess)
        #expect(services.find(["v_Ref": try object(), "r_Ref": true]).object as? SecCertificate == (try object()))
        #expect(services.count(cert(["labl": "new"])) == 1)
        #expect(services.delete(["v_Ref": try object()]) == errSecSuccess)
        #expect(services.find(["v_Ref": try object()]).status == errSecItemNotFound)
    }

    @Test("C37, C40", arguments: StoreKind.allCases)
    func certificate_askedForEverything_isADictionaryOfAllParts(kind: StoreKind) throws {
        let services = try kind.services()
        let returns: Entries = ["r_Ref": true, "r_Attributes": true, "r_Data": true, "r_PersistentRef": true]
        for answer in [services.add(returns.adding(["v_Ref": try object()])), services.find(cert(returns))] {
            let item = try #require(answer.dictionary)
            #expect(item["v_Ref"] as? SecCertificate == (try object()))
            #expect(item["v_Data"] as? Data == TestCertificate.der)
            #expect(item["class"] as? String == "cert" && item["ctyp"] as? Int == 3)
            let reference = try #require(item["v_PersistentRef"] as? Data)
            let found = services.find(["v_PersistentRef": reference, "r_Ref": true])
            #expect(found.object as? SecCertificate == (try object()))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func bytes_thatAreNoCertificate_haveNoObject(kind: StoreKind) throws {
        let services = try kind.services()
        #expect(services.add(cert(["slnr": Data([9]), "v_Data": secret, "r_Ref": true])).object == nil)
        let one = services.find(cert(["r_Ref": true]))
        #expect(one.status == errSecSuccess && one.object == nil)
        services.add(["v_Ref": try object()])
        let all = services.find(cert(["r_Ref": true, "m_Limit": "m_LimitAll"]))
        #expect(all.object as? [SecCertificate] == [try object()])
    }

    @Test(arguments: StoreKind.allCases)
    func issuer_givenAsAName_isNormalized(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try object()])
        let encoded = TestCertificate.der[30..<87]
        let other = Data([0x30, 0x35]) + TestCertificate.name.dropLast() + [0x46]
        #expect(services.count(cert(["issr": TestCertificate.name])) == 1)
        #expect(services.count(cert(["issr": Data([0x30, 0x35]) + TestCertificate.name])) == 1)
        #expect(services.count(cert(["issr": encoded])) == 1)
        #expect(services.count(cert(["issr": other])) == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func certificateObject_inAnotherClass_isNoSuchAttribute(kind: StoreKind) throws {
        for itemClass in ["genp", "keys"] {
            for call in Call.allCases {
                let services = try kind.services()
                #expect(call.status(services, ["class": itemClass, "v_Ref": try object()]) == errSecNoSuchAttr)
            }
        }
    }
}
