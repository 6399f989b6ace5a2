// SPDX-License-Identifier: Apache-2.0
// Identities as the join of keys and certificates: what finds them, and what comes back.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Identities: searches")
struct IdentitySearchTests {
    /// The key and its certificate, each with its own label, beside a key and a certificate that are no pair.
    private func services(_ kind: StoreKind) throws -> Services {
        let services = try kind.services()
        services.add(["v_Ref": try TestKey.p256.privateKey(), "labl": "key", "atag": "tag"])
        services.add(["v_Ref": try TestKey.p256.publicKey()])
        services.add(["v_Ref": try TestKey.p384.privateKey()])
        services.add(["v_Ref": try TestCertificate.object(), "labl": "certificate"])
        services.add(["v_Ref": try TestIdentity.middle()])
        return services
    }

    @Test("K76", arguments: StoreKind.allCases)
    func keyAndItsCertificate_addedSeparately_areOneIdentity(kind: StoreKind) throws {
        let services = try services(kind)
        let all = services.find(idnt(["r_Ref": true, "m_Limit": "m_LimitAll"]))
        #expect(all.object as? [SecIdentity] == [try TestIdentity.first.object()])
        #expect(services.find(idnt(["r_Ref": true])).object as? SecIdentity == (try TestIdentity.first.object()))
        #expect(services.find(idnt(["r_Data": true])).data == TestKey.p256.bytes)
        #expect(services.find(idnt()).status == errSecSuccess)
    }

    private static let name = TestCertificate.name
    private static let number = Data([0x00, 0xA1, 0xB2])

    static let conditions: [Row<OSStatus>] = [
        Row("hash as of the key", ["klbl": TestCertificate.keyHash], errSecSuccess),
        Row("hash as of the certificate", ["pkhh": TestCertificate.keyHash], errSecSuccess),
        Row("other hash", ["klbl": Data(count: 20)], errSecItemNotFound),
        Row("hashes that differ", ["klbl": TestCertificate.keyHash, "pkhh": Data(count: 20)], errSecItemNotFound),
        Row("number and issuer", ["slnr": number, "issr": name], errSecSuccess),
        Row("issuer as a name", ["issr": Data([0x30, 0x35]) + name], errSecSuccess),
        Row("other number", ["slnr": Data([1])], errSecItemNotFound),
        Row("subject", ["subj": name, "skid": TestCertificate.keyHash, "ctyp": 3, "cenc": 3], errSecSuccess),
        Row("certificate's label", ["labl": "certificate"], errSecSuccess),
        Row("key's label", ["labl": "key"], errSecItemNotFound),
        Row("tag", ["atag": Data("tag".utf8), "type": 73, "bsiz": 256, "kcls": "1", "priv": true], errSecSuccess),
        Row("other tag", ["atag": "other"], errSecItemNotFound), Row("of RSA", ["type": 42], errSecItemNotFound),
        Row("one of each", ["atag": "tag", "slnr": number], errSecSuccess),
        Row("one of each, other tag", ["atag": "other", "slnr": number], errSecItemNotFound),
        Row("public", ["kcls": 0], errSecItemNotFound), Row("not private", ["priv": 0], errSecItemNotFound),
        Row("key's accessibility", ["pdmn": "ak"], errSecSuccess),
        Row("certificate's accessibility", ["pdmn": "dk"], errSecItemNotFound),
        Row("group", ["agrp": "test"], errSecSuccess), Row("other group", ["agrp": "test2"], errSecItemNotFound),
        Row("synchronizable", ["sync": true], errSecItemNotFound), Row("either", ["sync": "syna"], errSecSuccess),
        Row("issuers", ["m_Issuers": [Data([1]), Data([0x30, 0x35]) + name]], errSecSuccess),
        Row("other issuers", ["m_Issuers": [TestIdentity.rootName]], errSecItemNotFound),
        Row("no issuers", ["m_Issuers": [Data]()], errSecItemNotFound),
        Row("issuers that are no names", ["m_Issuers": ["x"]], errSecParam),
        Row("valid now", ["m_ValidOnDate": NSNull()], errSecSuccess),
        Row("not yet valid", ["m_ValidOnDate": Date(timeIntervalSince1970: 0)], errSecItemNotFound),
        Row("no longer valid", ["m_ValidOnDate": Date(timeIntervalSince1970: 1e10)], errSecItemNotFound),
        Row("not a number", ["m_ValidOnDate": Date(timeIntervalSinceReferenceDate: .nan)], errSecItemNotFound),
        Row("address", ["m_EmailAddressIfPresent": "A@leaf.example"], errSecSuccess),
        Row("other address", ["m_EmailAddressIfPresent": "b@leaf.example"], errSecItemNotFound),
        Row("policy text", ["m_Policy": "x"], errSecParam),
        Row("trusted or not", ["m_TrustedOnly": false], errSecSuccess),
        Row("limit of none", ["m_Limit": 0], errSecItemNotFound),
    ]

    /// With the trait, `PolicySearchTests` has the others.
    #if Certificates
        static let policies: [Row<OSStatus>] = [Row("no policy", ["m_Policy": NSObject()], errSecParam)]
    #else
        static let policies: [Row<OSStatus>] = [
            Row("policy", ["m_Policy": NSObject()], errSecUnimplemented),
            Row("trusted", ["m_TrustedOnly": true], errSecUnimplemented),
        ]
    #endif

    @Test("K79, K80, K88", arguments: StoreKind.allCases)
    func identity_isFoundByTheConditionsThatItsItemsFulfil(kind: StoreKind) throws {
        let services = try services(kind)
        for row in Self.conditions + Self.policies {
            #expect(services.find(idnt(row.entries)).status == row.expected, "\(row.name)")
        }
        let first = try TestIdentity.first.object()
        for (object, expected) in [
            (first, errSecSuccess), (try TestIdentity.renewed.object(), errSecItemNotFound),
            (try TestCertificate.object(), errSecSuccess), (try TestIdentity.middle(), errSecItemNotFound),
            (try TestKey.p256.privateKey(), errSecSuccess), (try TestKey.p256.publicKey(), errSecItemNotFound),
        ] as [(NSObject, OSStatus)] {
            let found = services.find(idnt(["v_Ref": object, "r_Ref": true]))
            #expect(found.status == expected, "\(object)")
            #expect(found.object as? SecIdentity == (expected == errSecSuccess ? first : nil))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func issuer_ofAnIssuer_isFoundThroughTheCertificatesThatAreThere(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try TestIdentity.renewed.object()])
        let root = idnt(["m_Issuers": [TestIdentity.rootName], "r_Ref": true])
        #expect(services.find(root).status == errSecItemNotFound)
        #expect(services.find(idnt(["m_Issuers": [TestIdentity.middleName.dropFirst(2)]])).status == errSecSuccess)
        services.add(["v_Ref": try TestIdentity.middle()])
        #expect(services.find(root).object as? SecIdentity == (try TestIdentity.renewed.object()))
    }

    @Test(arguments: StoreKind.allCases)
    func certificates_ofOneKey_areIdentitiesTheNewestFirst(kind: StoreKind) throws {
        let services = try kind.services()
        let expected = [try TestIdentity.renewed.object(), try TestIdentity.first.object()]
        for identity in TestIdentity.allCases { services.add(["v_Ref": try identity.certificate()]) }
        services.add(["v_Ref": try TestKey.p256.privateKey()])
        let list = services.find(idnt(["r_Ref": true, "m_Limit": "m_LimitAll"]))
        #expect(list.object as? [SecIdentity] == expected)
        #expect(services.find(idnt(["r_Ref": true])).object as? SecIdentity == expected[0])
        let old = idnt(["m_EmailAddressIfPresent": "a@leaf.example", "r_Ref": true])
        #expect(services.find(old).object as? SecIdentity == expected[1])
    }

    @Test(arguments: StoreKind.allCases)
    func identity_askedForEverything_isADictionaryOfAllParts(kind: StoreKind) throws {
        let services = try services(kind)
        let returns: Entries = ["r_Ref": true, "r_Attributes": true, "r_Data": true, "r_PersistentRef": true]
        let item = try #require(services.find(idnt(returns)).dictionary)
        #expect(item["class"] as? String == "idnt")
        #expect(item["v_Ref"] as? SecIdentity == (try TestIdentity.first.object()))
        #expect(item["v_Data"] as? Data == TestKey.p256.bytes && item["atag"] as? String == "tag")
        // Both items have these; those of the certificate count.
        #expect(item["labl"] as? String == "certificate" && item["pdmn"] as? String == "dk")
        #expect(item["pkhh"] as? Data == TestCertificate.keyHash && item["klbl"] as? Data == TestCertificate.keyHash)
        #expect(item["accc"] is SecAccessControl && item["tomb"] as? Int == 0)
        let some = try #require(services.find(idnt(["r_Attributes": true])).dictionary)
        #expect(some["v_Ref"] == nil && some["v_Data"] == nil && some["class"] == nil && some["slnr"] != nil)
    }

    @Test("C67, K83", arguments: StoreKind.allCases)
    func reference_ofAnIdentity_isThatOfItsCertificateAndFindsIt(kind: StoreKind) throws {
        let services = try services(kind)
        let certificate = try #require(services.find(cert(["labl": "certificate", "r_PersistentRef": true])).data)
        let reference = Data("idnt".utf8) + certificate.dropFirst(4)
        let object = try TestIdentity.first.object()
        for query in [["labl": "certificate"], ["v_Ref": object], ["v_PersistentRef": reference]] as [Entries] {
            #expect(services.find(idnt(query.adding(["r_PersistentRef": true]))).data == reference)
        }
        #expect(services.find(["v_PersistentRef": reference, "r_Ref": true]).object as? SecIdentity == object)
        #expect(services.find(["v_PersistentRef": reference, "labl": "certificate"]).status == errSecParam)
        #expect(services.find(["v_PersistentRef": reference, "atag": "tag"]).status == errSecParam)
        let wrong: [Row<OSStatus>] = [
            Row("of an item", idnt(["v_PersistentRef": certificate]), errSecNoSuchClass),
            Row("as a certificate", cert(["v_PersistentRef": reference]), errSecNoSuchClass),
            Row("old form", ["v_PersistentRef": Data("idnt".utf8) + Data(count: 8)], errSecItemNotFound),
            Row("unknown", ["v_PersistentRef": Data("idnt".utf8) + Data(count: 16)], errSecItemNotFound),
        ]
        for row in wrong {
            #expect(services.find(row.entries).status == row.expected, "\(row.name)")
            #expect(services.delete(row.entries) == row.expected, "\(row.name)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func items_thatAreJoinedAndNoObjects_areFoundWithoutAResult(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try TestKey.p384.privateKey(), "klbl": TestCertificate.keyHash])
        services.add(["v_Ref": try TestCertificate.object()])
        let one = services.find(idnt(["r_Ref": true]))
        #expect(one.status == errSecSuccess && one.object == nil)
        services.add(["v_Ref": try TestKey.p256.privateKey()])
        let all = services.find(idnt(["r_Ref": true, "m_Limit": "m_LimitAll"]))
        #expect(all.object as? [SecIdentity] == [try TestIdentity.first.object()])
    }

    @Test("K88", arguments: StoreKind.allCases)
    func identity_whoseItemsAreInTwoGroups_needsBoth(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try TestKey.p256.privateKey(), "agrp": "test2"])
        services.add(["v_Ref": try TestCertificate.object(), "agrp": "test"])
        #expect(services.find(idnt()).status == errSecSuccess)
        for group in ["test", "test2"] {
            let limited = services.with(groups: [group])
            for query in [[:], ["v_Ref": try TestIdentity.first.object()], ["labl": "Leaf One"]] as [Entries] {
                #expect(limited.find(idnt(query)).status == errSecItemNotFound)
                #expect(limited.delete(idnt(query)) == errSecItemNotFound)
            }
        }
        #expect(services.count(idnt()) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func certificate_whoseKeyIsThere_isMadeAnIdentity(kind: StoreKind) throws {
        let services = try kind.services()
        var identity: SecIdentity?
        #expect(services.makeIdentity(try TestCertificate.object(), &identity) == errSecItemNotFound)
        services.add(["v_Ref": try TestKey.p256.publicKey()])
        services.add(["v_Ref": try TestKey.p256.privateKey(), "sync": true])
        #expect(services.makeIdentity(try TestIdentity.middle(), &identity) == errSecItemNotFound)
        #expect(identity == nil)
        #expect(services.makeIdentity(try TestCertificate.object(), &identity) == errSecSuccess)
        #expect(identity == (try TestIdentity.first.object()))
        let certificate = try TestCertificate.object()
        #expect(SecIdentityCreateWithCertificate(NSObject(), certificate, &identity) == errSecUnimplemented)
    }

    // MARK: Protected items

    @Test(arguments: StoreKind.allCases)
    func identity_thatAsksForTheUser_asksOnceForBothItems(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try addProtected(keychain)
        #expect(keychain.questions.isEmpty)
        for returns in ["r_Ref", "r_Attributes", "r_PersistentRef"] {
            let before = keychain.questions.count
            let found = keychain.services.find(idnt([returns: true]))
            #expect(found.status == errSecSuccess && found.object != nil, "\(returns)")
            #expect(keychain.questions.count == before + 1, "\(returns)")
        }
        let refused = keychain.services.find(idnt(["r_Ref": true, "u_AuthUI": "u_AuthUIF"]))
        #expect(refused.status == errSecInteractionNotAllowed)
        #expect(keychain.services.find(idnt(["u_AuthUI": "u_AuthUIS"])).status == errSecItemNotFound)
    }

    @Test(arguments: StoreKind.allCases)
    func keyWithoutACertificate_thatAsksForTheUser_isNotAskedFor(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        let control = try protected(.userPresence).without("class")
        keychain.services.add(control.adding(["v_Ref": try TestKey.p384.privateKey()]))
        keychain.services.add(control.adding(["v_Ref": try TestIdentity.middle()]))
        #expect(keychain.services.find(idnt(["r_Ref": true])).status == errSecItemNotFound)
        keychain.services.add(["v_Ref": try TestIdentity.first.object()])
        #expect(keychain.services.find(idnt(["r_Ref": true, "m_Limit": "m_LimitAll"])).status == errSecSuccess)
        #expect(keychain.questions.isEmpty)
        #expect(keychain.services.delete(idnt()) == errSecSuccess)
        #expect(keychain.questions.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func certificates_thatAskForTheUser_areFoundByTheirOwnAttributes(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        try addProtected(keychain)
        let first = try TestIdentity.first.object()
        for query in [["labl": "Leaf One"], ["v_Ref": first], ["pkhh": TestCertificate.keyHash]] as [Entries] {
            #expect(keychain.services.find(idnt(query.adding(["r_Ref": true]))).object as? SecIdentity == first)
        }
    }

    private func addProtected(_ keychain: ProtectedKeychain) throws {
        let control = try protected(.userPresence).without("class")
        let added = keychain.services.add(control.adding(["v_Ref": try TestIdentity.first.object()]))
        try #require(added.status == errSecSuccess)
    }
}
