// SPDX-License-Identifier: Apache-2.0
// Items that are keys on a token.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@Suite("Rules: keys on a token")
struct TokenItemTests {
    private static var onToken: Entries { keys(["tkid": "double"]) }

    // MARK: Adding and finding

    @Test(arguments: StoreKind.allCases) func keyOfAToken_isStoredWithoutBeingAskedAndComesBackWithoutBytes(
        kind: StoreKind
    ) throws {
        let bench = try TokenBench(kind)
        let key = try bench.make(["private": ["atag": "t", "labl": "l"]])
        #expect(bench.services.count(keys()) == 1)
        let item = try #require(
            bench.services.find(keys(["atag": "t", "r_Attributes": true, "r_Data": true])).dictionary)
        for (name, number) in ["kcls": 1, "type": 73, "bsiz": 256, "perm": 1, "extr": 0, "sens": 1] {
            #expect(item[name] as? Int == number, "\(name)")
        }
        #expect(item["tkid"] as? String == "double" && item["labl"] as? String == "l" && item["v_Data"] == nil)
        #expect(item["pdmn"] as? String == "aku")
        // A second time: stores remember reads.
        for _ in 1...2 {
            let bytes = bench.services.find(keys(["atag": "t", "r_Data": true]))
            #expect(bytes.status == errSecSuccess && bytes.object == nil)
        }
        let found = try #require(bench.services.find(Self.onToken.adding(["r_Ref": true])).object as? SecKey)
        #expect(found == key && bench.services.find(["v_Ref": key, "r_Ref": true]).object as? SecKey == key)
        #expect(try signing(found) == errSecSuccess && signing(key) == errSecSuccess)
        #expect(bench.person.questions.isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func publicHalf_storedWithIt_isAnOrdinaryKey(kind: StoreKind) throws {
        let bench = try TokenBench(kind)
        let key = try bench.make(["perm": true, "atag": "t"])
        let half = bench.services.find(keys(["kcls": 0, "r_Ref": true, "r_Attributes": true])).dictionary
        #expect(half?["v_Ref"] as? SecKey == SecKeyCopyPublicKey(key) && half?["tkid"] == nil)
        #expect(bench.services.count(Self.onToken) == 1 && bench.services.count(keys()) == 2)
    }

    @Test("C121", arguments: StoreKind.allCases, ["double", KeyTokens.secureEnclave])
    func addition_thatNamesAToken_makesAKeyThere(kind: StoreKind, identifier: String) throws {
        let bench = try TokenBench(kind)
        let request = keys(["tkid": identifier, "type": "73", "r_Ref": true])
        let key = try #require(bench.services.add(request).object as? SecKey)
        #expect(bench.services.find(keys(["tkid": identifier, "r_Ref": true])).object as? SecKey == key)
        #expect(try signing(key) == errSecSuccess)
        #expect(bench.services.delete(keys(["tkid": identifier])) == errSecSuccess)
        #expect(bench.services.find(keys(["tkid": identifier])).status == errSecItemNotFound)
        #expect(bench.token.keyCount == 0)
    }

    static let refusedAdditions: [Row<OSStatus>] = [
        Row("bytes", ["v_Data": secret], errSecUnimplemented), Row("another token", ["tkid": "x"], errSecUnimplemented),
        Row("RSA", ["type": "42"], errSecParam), Row("P-384", ["bsiz": 384], errSecParam),
        Row("public", ["kcls": 0], errSecParam), Row("synchronizable", ["sync": true], errSecParam),
        Row("password", ["class": "genp"], errSecUnimplemented),
        Row("foreign group", ["agrp": "foreign"], errSecMissingEntitlement),
        Row("unknown attribute", ["zzzz": "s"], errSecNoSuchAttr), Row("object", ["toid": Data([1])], errSecNoSuchAttr),
    ]

    @Test(arguments: refusedAdditions)
    func addition_thatIsRefused_leavesNoKeyOnTheToken(row: Row<OSStatus>) throws {
        let bench = try TokenBench(.memory)
        let given = keys(["tkid": "double", "type": "73"]).adding(row.entries)
        #expect(bench.services.add(given).status == row.expected)
        #expect(bench.services.count(keys()) == 0 && bench.token.keyCount == 0)
    }

    @Test(arguments: StoreKind.allCases) func keyThatIsNotStored_canBeAddedLater(kind: StoreKind) throws {
        let bench = try TokenBench(kind)
        let key = try bench.make(["perm": false])
        #expect(bench.services.count(keys()) == 0)
        #expect(bench.services.find(["v_Ref": key]).status == errSecItemNotFound)
        #expect(try signing(key) == errSecSuccess)
        for status in [errSecSuccess, errSecDuplicateItem] {
            #expect(bench.services.add(["v_Ref": key, "atag": "t"]).status == status)
        }
        let stored = try #require(bench.services.find(keys(["atag": "t", "r_Ref": true])).object as? SecKey)
        #expect(try signing(stored) == errSecSuccess && stored == key)
    }

    @Test(arguments: StoreKind.allCases) func program_withoutTheToken_findsTheItemAndNoObject(kind: StoreKind) throws {
        let (bench, others) = (try TokenBench(kind), keys(["m_Limit": "m_LimitAll", "r_Ref": true]))
        _ = try bench.make(["atag": "t"])
        let services = bench.withoutToken
        #expect(services.find(keys(["r_Ref": true])).status == errSecUnimplemented)
        #expect(services.find(keys(["r_Ref": true, "r_Attributes": true])).status == errSecUnimplemented)
        #expect((services.find(others).object as? [SecKey])?.isEmpty == true)
        #expect(services.find(keys(["r_Data": true])).object == nil)
        #expect(services.delete(keys()) == errSecSuccess && services.count(keys()) == 0)
    }

    // MARK: Access control

    @Test(arguments: StoreKind.allCases) func user_isAskedForEachUseAndNotToFindTheKey(kind: StoreKind) throws {
        let bench = try TokenBench(kind)
        let made = try bench.makeProtected([.privateKeyUsage, .userPresence], ["atag": "t"])
        let all: Entries = ["r_Ref": true, "r_Attributes": true, "r_PersistentRef": true]
        let found = try #require(bench.services.find(Self.onToken.adding(all)).dictionary?["v_Ref"] as? SecKey)
        let quiet = Self.onToken.adding(["r_Ref": true, "u_AuthUI": "u_AuthUIF"])
        let refusing = try #require(bench.services.find(quiet).object as? SecKey)
        #expect(bench.services.find(keys(["r_Ref": true, "u_AuthUI": "u_AuthUIS"])).object as? SecKey == made)
        #expect(bench.person.questions.isEmpty)
        for (count, key) in [made, found, found].enumerated() {
            #expect(try signing(key) == errSecSuccess && bench.person.questions.count == count + 1)
        }
        #expect(try signing(refusing) == errSecInteractionNotAllowed)
    }

    @Test(arguments: StoreKind.allCases) func context_ofTheSearch_travelsWithTheObject(kind: StoreKind) throws {
        let bench = try TokenBench(kind)
        _ = try bench.makeProtected([.privateKeyUsage, .userPresence])
        let person = bench.person
        let context = LAContext(services: bench.services, authenticator: { person })
        let key = try #require(bench.services.find(keys(["r_Ref": true, "u_AuthCtx": context])).object as? SecKey)
        #expect(try signing(key) == errSecSuccess && signing(key) == errSecSuccess)
        #expect(person.questions.count == 1)
        context.invalidate()
        #expect(try signing(key) == errSecAuthFailed)
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func accessControl_withoutKeyUsage_forbidsUseAndAsksNobody(kind: StoreKind, isStored: Bool) throws {
        let bench = try TokenBench(kind)
        let key = try bench.makeProtected([.userPresence], ["perm": isStored])
        #expect(try signing(key) == errSecAuthFailed && bench.person.questions.isEmpty)
    }

    @Test func keyThatIsNotStored_asksForEachUseToo() throws {
        let bench = try TokenBench(.vault)
        let key = try bench.makeProtected([.privateKeyUsage, .userPresence], ["perm": false])
        #expect(bench.person.questions.isEmpty)
        for count in 1...2 { #expect(try signing(key) == errSecSuccess && bench.person.questions.count == count) }
        for flags: SecAccessControlCreateFlags in [.applicationPassword, .biometryAny] {
            let accessControl = try bench.control([.privateKeyUsage, flags])
            #expect(bench.generate(["perm": false, "accc": accessControl]).value == nil)
        }
        #expect(bench.token.keyCount == 1)
    }

    @Test func applicationPassword_ofAKey_opensItForEachUse() throws {
        let token = TokenDouble()
        let tokens = KeyTokens()
        try tokens.use(token)
        let person = Person { _ in "word" }
        let engine = Engine(store: try StoreKind.vault.empty(), authenticator: { person }, tokens: tokens)
        let services = Services(engine: engine, accessGroups: AccessGroups(["test"]))
        let control = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleAfterFirstUnlock, [.privateKeyUsage, .applicationPassword], nil)
        let parameters: Entries = ["type": "73", "tkid": "double", "accc": try #require(control)]
        let key = try #require(attempt { services.createRandomKey(parameters as NSDictionary, $0) }.value)
        let asked = person.questions.count
        #expect(try signing(key) == errSecSuccess && person.questions.count == asked + 1)
        let item = try #require(services.find(keys(["r_Attributes": true])).dictionary)
        #expect(item["pdmn"] as? String == "cku" && person.questions.count == asked + 1)
    }

    @Test(arguments: LockableKind.allCases) func lockedKey_doesNotSign(kind: LockableKind) throws {
        let (keychain, tokens) = (try kind.keychain(), KeyTokens())
        try tokens.use(TokenDouble())
        let engine = Engine(store: keychain.services.engine.store, tokens: tokens)
        let services = Services(engine: engine, accessGroups: AccessGroups(["test"]))
        let parameters: Entries = ["type": "73", "tkid": "double"]
        let key = try #require(attempt { services.createRandomKey(parameters as NSDictionary, $0) }.value)
        try keychain.enter(.locked)
        #expect(try signing(key) == errSecInteractionNotAllowed)
        #expect(services.find(keys(["r_Ref": true])).status == errSecInteractionNotAllowed)
    }

    // MARK: Changing

    static let changes: [Row<OSStatus>] = [
        Row("label", ["labl": "new"], errSecSuccess), Row("tag", ["atag": "new"], errSecSuccess),
        Row("group", ["agrp": "test2"], errSecSuccess), Row("not synchronizable", ["sync": false], errSecSuccess),
        Row("bytes", ["v_Data": secret], errSecParam), Row("no token", ["tkid": ""], errSecParam),
        Row("another token", ["tkid": "x"], errSecUnimplemented), Row("class", ["pdmn": "dku"], errSecParam),
        Row("synchronizable", ["sync": true], errSecParam), Row("object", ["toid": Data([1])], errSecNoSuchAttr),
    ]

    @Test(arguments: StoreKind.allCases, changes)
    func update_ofAKeyOnAToken_keepsItsObjectAndProtection(kind: StoreKind, row: Row<OSStatus>) throws {
        let bench = try TokenBench(kind)
        let key = try bench.make(["atag": "t"])
        #expect(bench.services.update(Self.onToken, to: row.entries) == row.expected)
        #expect(try signing(key) == errSecSuccess)
        #expect(bench.services.find(keys(["r_Data": true])).object == nil)
    }

    @Test(arguments: StoreKind.allCases) func update_ofItsAccessControl_isRefused(kind: StoreKind) throws {
        let bench = try TokenBench(kind)
        let key = try bench.makeProtected([.privateKeyUsage, .userPresence])
        #expect(bench.services.update(keys(), to: ["accc": try bench.control([.privateKeyUsage])]) == errSecParam)
        let weaker: Entries = ["v_Ref": key, "atag": "copy", "accc": try bench.control([.privateKeyUsage])]
        #expect(bench.services.add(weaker).status == errSecParam)
        #expect(bench.services.add(["v_Ref": key, "atag": "copy"]).status == errSecSuccess)
        #expect(bench.services.find(keys(["atag": "copy", "r_Data": true])).object == nil)
    }

    // MARK: Identities

    @Test(arguments: StoreKind.allCases) func identity_whoseKeyIsOnAToken_signsThere(kind: StoreKind) throws {
        let bench = try TokenBench(kind)
        try bench.token.plant(TestKey.p256.bytes)
        let key = try bench.makeProtected([.privateKeyUsage, .userPresence])
        let certificate = try TestIdentity.first.certificate()
        let identity = try #require(SecIdentityCreate(nil, certificate, key))
        #expect(bench.services.add(["v_Ref": identity]).status == errSecSuccess)
        let asked = bench.person.questions.count
        let request = idnt(["r_Ref": true, "r_Attributes": true, "r_Data": true])
        let found = try #require(bench.services.find(request).dictionary)
        #expect(found["v_Ref"] as? SecIdentity == identity && found["v_Data"] == nil)
        #expect(bench.person.questions.count == asked)
        var privateKey: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &privateKey) == errSecSuccess)
        #expect(try signing(#require(privateKey)) == errSecSuccess)
        #expect(bench.withoutToken.find(idnt(["r_Ref": true])).status == errSecUnimplemented)
        #expect(bench.services.delete(["v_Ref": identity]) == errSecSuccess && bench.services.count(keys()) == 0)
    }
}
