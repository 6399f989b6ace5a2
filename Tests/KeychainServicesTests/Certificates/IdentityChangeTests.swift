// SPDX-License-Identifier: Apache-2.0
// Adding, changing and removing identities: both items or none.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Identities: changes")
struct IdentityChangeTests {
    private func first() throws -> SecIdentity { try TestIdentity.first.object() }

    // MARK: Adding

    @Test("K86", arguments: StoreKind.allCases)
    func add_ofAnIdentity_storesBothItemsWithItsAttributes(kind: StoreKind) throws {
        let services = try kind.services()
        let own: Entries = ["v_Ref": try first(), "agrp": "test2", "labl": "l", "pdmn": "aku", "sync": false]
        #expect(services.add(own).status == errSecSuccess)
        for itemClass in ["cert", "keys"] {
            let item = try services.attributes(["class": itemClass])
            #expect(item["agrp"] as? String == "test2" && item["labl"] as? String == "l")
            #expect(item["pdmn"] as? String == "aku")
        }
        #expect(services.find(keys(["r_Ref": true])).object as? SecKey == (try TestKey.p256.privateKey()))
        #expect(services.find(cert(["r_Ref": true])).object as? SecCertificate == (try TestCertificate.object()))
        #expect(services.add(idnt(["v_Ref": try first(), "sync": true])).status == errSecSuccess)
        #expect(try services.attributes(cert(["sync": true]))["labl"] as? String == "Leaf One")
        #expect(try services.attributes(keys(["sync": true]))["pdmn"] as? String == "ak")
        #expect(services.count(idnt(["sync": "syna"])) == 2)
    }

    @Test("K82", arguments: StoreKind.allCases, [["cert"], ["keys"], ["cert", "keys"], []])
    func add_ofAnIdentity_isADuplicateOnlyIfBothItemsAreThere(kind: StoreKind, present: [String]) throws {
        let services = try kind.services()
        if present.contains("cert") { services.add(["v_Ref": try TestCertificate.object(), "labl": "old"]) }
        if present.contains("keys") { services.add(["v_Ref": try TestKey.p256.privateKey(), "labl": "old"]) }
        let added = services.add(["v_Ref": try first(), "labl": "new", "r_PersistentRef": true])
        #expect(added.status == (present.count == 2 ? errSecDuplicateItem : errSecSuccess))
        #expect(services.count(cert()) == 1 && services.count(keys()) == 1 && services.count(idnt()) == 1)
        for itemClass in present { #expect(services.count(["class": itemClass, "labl": "old"]) == 1) }
        if present.count == 2 { return #expect(added.object == nil) }
        #expect(added.data?.count == 20 && added.data == services.find(idnt(["r_PersistentRef": true])).data)
    }

    @Test(arguments: StoreKind.allCases)
    func add_ofAnIdentity_returnsWhatIsAskedFor(kind: StoreKind) throws {
        let returns: Entries = ["r_Ref": true, "r_Attributes": true, "r_Data": true]
        for present in [false, true] {
            let services = try kind.services()
            if present { services.add(["v_Ref": try TestCertificate.object(), "labl": "old"]) }
            let item = try #require(services.add(returns.adding(["v_Ref": try first(), "labl": "new"])).dictionary)
            #expect(item["v_Ref"] as? SecIdentity == (try first()) && item["v_Data"] as? Data == TestKey.p256.bytes)
            #expect(item["class"] as? String == "idnt" && item["labl"] as? String == (present ? "old" : "new"))
        }
        let object = try kind.services().add(["v_Ref": try first(), "r_Ref": true]).object
        #expect(object as? SecIdentity == (try first()))
    }

    /// Items with the primary key of a half that do not make the identity.
    static let inTheWay: [Row<Void>] = [
        Row(
            "other certificate",
            cert([
                "ctyp": 3, "issr": TestCertificate.name, "slnr": Data([0x00, 0xA1, 0xB2]), "pkhh": Data(count: 20),
            ]), ()),
        Row(
            "unmarked key",
            keys(["kcls": 1, "type": 73, "bsiz": 256, "esiz": 256, "klbl": TestCertificate.keyHash]), ()),
    ]

    @Test(arguments: StoreKind.allCases, inTheWay)
    func add_whereAnotherItemIsInThePlace_isADuplicateAndAddsNothing(kind: StoreKind, row: Row<Void>) throws {
        let services = try kind.services()
        try #require(services.add(row.entries).status == errSecSuccess)
        #expect(services.add(["v_Ref": try first()]).status == errSecDuplicateItem)
        #expect(services.count(cert()) + services.count(keys()) == 1)
    }

    static let refused: [Row<OSStatus>] = [
        Row("foreign group", ["agrp": "foreign"], errSecMissingEntitlement),
        Row("attribute of keys", ["atag": "t"], errSecNoSuchAttr),
        Row("attribute of certificates", ["slnr": Data([1])], errSecNoSuchAttr),
        Row("bytes", ["v_Data": secret], errSecParam), Row("class of keys", ["class": "keys"], errSecParam),
        Row("wrong type", ["labl": NSNull()], errSecParam), Row("accessibility", ["pdmn": "zz"], errSecParam),
        Row("token", ["tkid": "t"], errSecUnimplemented),
    ]

    @Test(arguments: StoreKind.allCases)
    func add_ofAnIdentity_thatIsRefused_storesNothing(kind: StoreKind) throws {
        let services = try kind.services()
        for row in Self.refused {
            #expect(services.add(row.entries.adding(["v_Ref": try first()])).status == row.expected, "\(row.name)")
        }
        for object in [try TestCertificate.object(), try TestKey.p256.privateKey()] as [NSObject] {
            #expect(services.add(idnt(["v_Ref": object])).status == errSecParam)
        }
        #expect(services.add(idnt(["labl": "l", "v_Data": secret])).status == errSecParam)
        #expect(services.count(cert()) + services.count(keys()) == 0)
    }

    @Test(arguments: LockableKind.allCases)
    func add_ofAnIdentity_whoseKeyCannotBeSealed_storesNothing(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        try keychain.enter(.locked)
        #expect(keychain.services.add(["v_Ref": try first()]).status == errSecInteractionNotAllowed)
        try keychain.enter(.unlocked)
        #expect(keychain.services.count(cert()) + keychain.services.count(keys()) == 0)
    }

    @Test func change_inAStoreWithoutTransactions_isUnimplementedAndChangesNothing() throws {
        let store = InterruptedStore()
        let services = Services(engine: Engine(store: store), accessGroups: AccessGroups(["test"]))
        #expect(services.add(["v_Ref": try first()]).status == errSecUnimplemented)
        #expect(services.count(cert()) + services.count(keys()) == 0)
        #expect(services.delete(idnt()) == errSecItemNotFound)
        services.add(["v_Ref": try TestCertificate.object()])
        services.add(["v_Ref": try TestKey.p256.privateKey()])
        #expect(services.find(idnt(["r_Ref": true])).object as? SecIdentity == (try first()))
        #expect(services.delete(idnt()) == errSecUnimplemented)
        #expect(services.update(idnt(), to: ["labl": "l"]) == errSecUnimplemented)
        #expect(services.count(idnt()) == 1 && services.count(cert(["labl": "l"])) == 0)
    }

    // MARK: Removing

    /// Both identities of a key, a key and a certificate without their other half, and a password.
    private func services(_ kind: StoreKind) throws -> Services {
        let services = try kind.services()
        for identity in TestIdentity.allCases { services.add(["v_Ref": try identity.object()]) }
        services.add(["v_Ref": try TestKey.p384.privateKey(), "labl": "Leaf One"])
        services.add(["v_Ref": try TestKey.p256.publicKey()])
        services.add(["v_Ref": try TestIdentity.middle()])
        services.add(genp())
        return services
    }

    @Test("K85", arguments: StoreKind.allCases, ["object", "reference", "label", "group and label"])
    func delete_ofOneIdentity_keepsTheKeyWhileAnotherNeedsIt(kind: StoreKind, means: String) throws {
        let services = try services(kind)
        for (identity, label) in [(TestIdentity.first, "Leaf One"), (.renewed, "Leaf Two")] {
            let reference = try #require(services.find(idnt(["labl": label, "r_PersistentRef": true])).data)
            let query: Entries =
                switch means {
                case "object": ["v_Ref": try identity.object()]
                case "reference": ["v_PersistentRef": reference]
                case "label": idnt(["labl": label])
                default: idnt(["labl": label, "agrp": "test"])
                }
            #expect(services.delete(query) == errSecSuccess)
            #expect(services.find(query).status == errSecItemNotFound && services.delete(query) == errSecItemNotFound)
            let left = label == "Leaf One" ? 1 : 0
            #expect(services.count(keys(["klbl": TestCertificate.keyHash, "kcls": 1])) == left)
        }
        #expect(services.count(idnt()) == 0 && services.count(genp()) == 1)
        #expect(services.count(cert()) == 1 && services.count(keys()) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func delete_ofAllIdentities_removesPairsAndNothingElse(kind: StoreKind) throws {
        let services = try services(kind)
        #expect(services.delete(idnt(["m_Limit": "m_LimitAll", "r_Ref": true])) == errSecSuccess)
        #expect(services.count(cert()) == 1 && services.count(keys()) == 2 && services.count(genp()) == 1)
        for itemClass in ["idnt", "cert", "keys", "inet", "genp"] {
            let expected = ["idnt", "inet"].contains(itemClass) ? errSecItemNotFound : errSecSuccess
            #expect(services.delete(["class": itemClass]) == expected, "\(itemClass)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func delete_leavesAKeyThatACertificateInAnotherGroupNeeds(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try first()])
        services.add(["v_Ref": try TestIdentity.renewed.certificate(), "agrp": "test2"])
        #expect(services.delete(["v_Ref": try first()]) == errSecSuccess)
        #expect(services.count(idnt()) == 1 && services.count(cert(["agrp": "test"])) == 0)
        services.add(["v_Ref": try TestCertificate.object()])
        #expect(services.delete(idnt(["agrp": "test"])) == errSecSuccess)
        #expect(services.count(cert(["agrp": "test2"])) == 1 && services.count(keys()) == 1)
    }

    @Test(arguments: LockableKind.allCases)
    func delete_ofIdentitiesWhileTheKeyIsLocked_isRefusedAndRemovesNothing(kind: LockableKind) throws {
        let keychain = try kind.keychain()
        keychain.services.add(["v_Ref": try first()])
        try keychain.enter(.locked)
        for query in [idnt(), ["v_Ref": try first()]] {
            #expect(keychain.services.delete(query) == errSecInteractionNotAllowed)
            #expect(keychain.services.find(query).status == errSecInteractionNotAllowed)
        }
        try keychain.enter(.unlocked)
        #expect(keychain.services.count(idnt()) == 1)
    }

    // MARK: Changing

    @Test("C68, K80", arguments: StoreKind.allCases)
    func update_ofAnIdentity_changesBothItems(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try first(), "labl": "old"])
        let moved = services.update(idnt(["agrp": "test", "labl": "old"]), to: ["agrp": "test2", "labl": "new"])
        #expect(moved == errSecSuccess && services.count(idnt(["agrp": "test"])) == 0)
        for itemClass in ["cert", "keys", "idnt"] {
            #expect(services.count(["class": itemClass, "agrp": "test2", "labl": "new"]) == 1, "\(itemClass)")
        }
        #expect(services.update(["v_Ref": try first()], to: ["pdmn": "ck"]) == errSecSuccess)
        #expect(services.count(cert(["pdmn": "ck"])) == 1 && services.count(keys(["pdmn": "ck"])) == 1)
        let reference = try #require(services.find(idnt(["r_PersistentRef": true])).data)
        #expect(services.update(["v_PersistentRef": reference], to: ["labl": "l"]) == -26276)
        #expect(services.update(idnt(), to: ["v_Data": secret]) == errSecParam)
        #expect(services.find(idnt(["labl": "new", "r_Ref": true])).object as? SecIdentity == (try first()))
    }

    @Test(arguments: StoreKind.allCases)
    func update_ofWhichOneItemFails_changesNeither(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try first(), "labl": "old"])
        services.add(["v_Ref": try TestKey.p256.privateKey(), "agrp": "test2"])
        #expect(services.update(idnt(["labl": "old"]), to: ["agrp": "test2", "labl": "new"]) == errSecDuplicateItem)
        #expect(services.count(cert(["agrp": "test", "labl": "old"])) == 1)
        #expect(services.count(keys(["agrp": "test", "labl": "old"])) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func update_ofAnIdentityThatAsksForTheUser_asksOnceOrChangesNothing(kind: StoreKind) throws {
        let keychain = try ProtectedKeychain(kind)
        let control = try protected(.userPresence).without("class")
        keychain.services.add(control.adding(["v_Ref": try first()]))
        let refused = idnt(["u_AuthUI": "u_AuthUIF"])
        #expect(keychain.services.update(refused, to: ["labl": "new"]) == errSecInteractionNotAllowed)
        #expect(keychain.services.update(idnt(), to: ["labl": "new"]) == errSecSuccess)
        #expect(keychain.questions.count == 1)
        #expect(keychain.services.find(idnt(["labl": "new"])).status == errSecSuccess)
    }

    /// Requests within a transaction of the typed interface use that one.
    @Test(arguments: StoreKind.allCases)
    func identity_addedInATransactionThatFails_isNotThere(kind: StoreKind) throws {
        let services = try kind.services()
        var query = Query(nil)
        query.isForIdentities = true
        func part(_ hash: Attribute, _ others: Attributes) -> Query.IdentityParts.Part {
            var attributes = others
            attributes[hash] = .data(TestCertificate.keyHash)
            return Query.IdentityParts.Part(attributes, value: secret)
        }
        query.identity = Query.IdentityParts(
            certificate: part(.publicKeyHash, [:]),
            key: part(.applicationLabel, [.keyClass: .number(1), .isPrivate: .number(1)]))
        for fails in [true, false] {
            let failure = KeychainError(.cancelled, "A failure of a test.")
            do throws(KeychainError) {
                try services.engine.transaction(as: query) { (requests) throws(KeychainError) in
                    try requests.addIdentity(query, accessGroups: services.accessGroups)
                    if fails { throw failure }
                }
            } catch {
                #expect(error == failure)
            }
            #expect(services.count(idnt()) == (fails ? 0 : 1))
        }
    }
}
