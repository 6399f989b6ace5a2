// SPDX-License-Identifier: Apache-2.0
// Requests for identities, where there is none: what they take, and what they answer.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: identities")
struct IdentityTests {
    private static let hash = Data(repeating: 7, count: 20)

    /// A certificate and a key that do not belong together, and a password.
    private func services(_ kind: StoreKind, _ dialect: Engine.Dialect = .lenient) throws -> Services {
        let services = try kind.services(dialect: dialect)
        services.add(genp(["acct": "a", "v_Data": secret]))
        services.add(cert(["pkhh": Self.hash, "v_Data": secret]))
        services.add(keys(["klbl": Data([1]), "priv": true, "v_Data": secret]))
        return services
    }

    static let searches: [Row<OSStatus>] = [
        Row("class alone", [:], errSecItemNotFound), Row("label", ["labl": "l"], errSecItemNotFound),
        Row("object", ["r_Ref": true], errSecItemNotFound),
        Row("all objects", ["r_Ref": true, "m_Limit": "m_LimitAll"], errSecItemNotFound),
        Row("attribute of certificates", ["issr": Data([1])], errSecItemNotFound),
        Row("attribute of keys", ["atag": "t"], errSecItemNotFound),
        Row("one of each", ["slnr": Data([1]), "klbl": Data([1])], errSecItemNotFound),
        Row("group", ["agrp": "test"], errSecItemNotFound), Row("either kind", ["sync": "syna"], errSecItemNotFound),
        Row("issuers", ["m_Issuers": [Data()]], errSecItemNotFound),
        Row("trusted only", ["m_TrustedOnly": true], errSecItemNotFound),
        Row("foreign group", ["agrp": "foreign"], errSecMissingEntitlement),
        Row("attribute of passwords", ["svce": "s"], errSecNoSuchAttr),
        Row("unknown attribute", ["zzzz": "s"], errSecNoSuchAttr),
        Row("wrong type", ["labl": NSNull()], errSecParam), Row("wrong type for a key", ["sdat": "x"], errSecParam),
        Row("wrong type for a certificate", ["issr": Date()], errSecParam),
        Row("limit", ["m_Limit": -2], errSecParam), Row("return", ["r_Data": "yes"], errSecParam),
        Row("accessibility", ["pdmn": "zz"], errSecParam), Row("item list", ["u_ItemList": [Data]()], errSecParam),
        Row("object given", ["v_Ref": NSObject()], errSecParam),
        Row("host", ["m_HostOrSubdomainOfHost": "x"], errSecUnimplemented),
        Row(
            "reference of a key", ["v_PersistentRef": Data("keys".utf8) + Data(count: 16)], errSecNoSuchClass),
    ]

    @Test(arguments: StoreKind.allCases, searches)
    func search_forIdentities_findsNoneOrIsRefused(kind: StoreKind, row: Row<OSStatus>) throws {
        #expect(try services(kind).find(idnt(row.entries)).status == row.expected)
    }

    /// The dictionary of a caller is refused before; this is a request of the typed interface.
    @Test(arguments: StoreKind.allCases)
    func searchForIdentities_limitedToLessThanNone_isRefused(kind: StoreKind) throws {
        let services = try services(kind)
        var query = Query(nil)
        query.isForIdentities = true
        query.limit = .atMost(-1)
        let failure = #expect(throws: KeychainError.self) {
            try services.engine.copyMatching(query, accessGroups: services.accessGroups)
        }
        #expect(failure?.reason == .invalidParameter)
    }

    static let changes: [Row<OSStatus>] = [
        Row("class alone", [:], errSecItemNotFound), Row("label", ["labl": "l"], errSecItemNotFound),
        Row("group", ["agrp": "test"], errSecItemNotFound),
        Row("foreign group", ["agrp": "foreign"], errSecMissingEntitlement),
        Row("attribute of certificates", ["issr": Data([1])], errSecNoSuchAttr),
        Row("attribute of keys", ["atag": "t"], errSecNoSuchAttr),
        Row("wrong type", ["labl": NSNull()], errSecParam), Row("skipping", ["u_AuthUI": "u_AuthUIS"], errSecParam),
        Row("object given", ["v_Ref": NSObject()], errSecParam),
    ]

    @Test(arguments: StoreKind.allCases, changes)
    func change_ofIdentities_findsNoneOrIsRefused(kind: StoreKind, row: Row<OSStatus>) throws {
        let services = try services(kind)
        #expect(services.delete(idnt(row.entries)) == row.expected)
        #expect(services.update(idnt(row.entries), to: ["labl": "new"]) == row.expected)
        #expect(services.count(cert()) == 1 && services.count(keys()) == 1)
    }

    static let updates: [Row<OSStatus>] = [
        Row("label", ["labl": "new"], errSecItemNotFound), Row("nothing", [:], errSecItemNotFound),
        Row("attribute of keys", ["atag": "t"], errSecNoSuchAttr), Row("wrong type", ["labl": NSNull()], errSecParam),
        Row("foreign group", ["agrp": "foreign"], errSecMissingEntitlement),
    ]

    @Test(arguments: StoreKind.allCases, updates)
    func attributesToUpdate_ofIdentities_areCheckedForBothClasses(kind: StoreKind, row: Row<OSStatus>) throws {
        #expect(try services(kind).update(idnt(), to: row.entries) == row.expected)
    }

    @Test(arguments: StoreKind.allCases)
    func matchKey_inADeletionOfIdentities_isRefusedInTheStrictDialect(kind: StoreKind) throws {
        let services = try services(kind, .strict)
        #expect(services.delete(idnt(["m_Limit": "m_LimitAll"])) == errSecParam)
        #expect(services.update(idnt(["r_Ref": true]), to: ["labl": "l"]) == errSecParam)
    }

    /// What has the hash and is no private key with its certificate.
    static let pairs: [Row<Void>] = [
        Row("public key", ["kcls": 0, "priv": true], ()), Row("not marked", ["kcls": 1], ()),
        Row("one synchronizable", ["kcls": 1, "priv": true, "sync": true], ()),
        Row("one of another program", ["kcls": 1, "priv": true, "agrp": "foreign"], ()),
    ]

    @Test("K88", arguments: StoreKind.allCases, pairs)
    func keyAndCertificate_thatAreNoPair_areNoIdentityAndStay(kind: StoreKind, row: Row<Void>) throws {
        let services = try services(kind)
        let all = services.with(groups: ["test", "test2", "foreign"])
        let key = keys(["klbl": Self.hash, "v_Data": secret]).adding(row.entries)
        try #require(all.add(key).status == errSecSuccess)
        for call in [Call.find, .update, .delete] {
            #expect(call.status(services, idnt(["sync": "syna"])) == errSecItemNotFound, "\(call)")
        }
        #expect(all.count(cert()) == 1 && all.count(keys(["sync": "syna"])) == 2)
    }

    /// Objects of public keys are marked as private, so Apple joins them too.
    @Test("K77", arguments: StoreKind.allCases)
    func publicKeyAndItsCertificate_areNoIdentity(kind: StoreKind) throws {
        let services = try kind.services()
        services.add(["v_Ref": try TestKey.p256.publicKey()])
        services.add(cert(["pkhh": Data(hex: "a30b4ea027c1da5448b14442e74d85d9c5b38b6e"), "v_Data": secret]))
        #expect(services.find(idnt()).status == errSecItemNotFound)
        #expect(services.find(idnt(["v_Ref": try TestKey.p256.publicKey()])).status == errSecItemNotFound)
        services.add(["v_Ref": try TestKey.p256.privateKey()])
        #expect(services.find(idnt()).status == errSecSuccess)
    }
}
