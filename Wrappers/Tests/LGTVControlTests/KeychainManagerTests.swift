// SPDX-License-Identifier: Apache-2.0
// Values saved, loaded and deleted, in memory and in a vault.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import LGTVControl
import Testing
import WrapperStores

@Suite("Keychain manager")
struct KeychainManagerTests {
    private let service = "com.example.remote.test"

    private func keychain(_ kind: StoreKind) throws -> KeychainManager { KeychainManager().using(try kind.empty()) }

    private func load(_ keychain: KeychainManager, _ account: String = "one") throws -> TVCredentials? {
        try keychain.load(TVCredentials.self, service: service, account: account)
    }

    private func save(_ credentials: TVCredentials, _ keychain: KeychainManager, _ account: String = "one") throws {
        try keychain.save(credentials, service: service, account: account)
    }

    // MARK: - The list of the guide

    @Test(arguments: StoreKind.allCases)
    func credentials_saved_areLoaded(kind: StoreKind) throws {
        let keychain = try keychain(kind)
        try save(.living, keychain)
        #expect(try load(keychain) == .living)
    }

    @Test func secretInARecord_saved_isLoaded() throws {
        let (keychain, record) = (try keychain(.memory), ["password": SecretValue("n33dle")])
        try keychain.save(record, service: service, account: "one")
        #expect(try keychain.load([String: SecretValue].self, service: service, account: "one") == record)
    }

    @Test(arguments: StoreKind.allCases)
    func credentials_savedAgain_areReplaced(kind: StoreKind) throws {
        let keychain = try keychain(kind)
        try save(.living, keychain)
        try save(.kitchen, keychain)
        #expect(try load(keychain) == .kitchen)
    }

    @Test(arguments: StoreKind.allCases)
    func credentials_deleted_areAbsent(kind: StoreKind) throws {
        let keychain = try keychain(kind)
        try save(.living, keychain)
        try keychain.delete(service: service, account: "one")
        #expect(try load(keychain) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func credentials_neverSaved_areAbsent(kind: StoreKind) throws {
        #expect(try load(try keychain(kind)) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func deletion_ofWhatIsNotThere_isNoError(kind: StoreKind) throws {
        let keychain = try keychain(kind)
        try save(.living, keychain)
        for _ in 1...2 { try keychain.delete(service: service, account: "one") }
        try keychain.delete(service: "nobody", account: "nothing")
    }

    @Test(arguments: StoreKind.allCases)
    func accounts_ofOneService_areIndependent(kind: StoreKind) throws {
        let keychain = try keychain(kind)
        try save(.living, keychain)
        try save(.kitchen, keychain, "two")
        try keychain.delete(service: service, account: "one")
        #expect(try load(keychain) == nil)
        #expect(try load(keychain, "two") == .kitchen)
    }

    @Test(arguments: StoreKind.allCases)
    func emptyStrings_saved_areLoadedAsSuch(kind: StoreKind) throws {
        let keychain = try keychain(kind)
        let empty = TVCredentials(ipAddress: "", macAddress: "", clientKey: "")
        try save(empty, keychain)
        #expect(try load(keychain) == empty)
    }

    @Test(arguments: StoreKind.allCases)
    func keyOfTenThousandCharacters_saved_isLoadedWhole(kind: StoreKind) throws {
        let keychain = try keychain(kind)
        var long = TVCredentials.living
        long.clientKey = String(repeating: "a", count: 10_000)
        try save(long, keychain)
        #expect(try load(keychain) == long)
    }

    @Test(arguments: StoreKind.allCases)
    func credentialsWithoutKey_saved_haveNone(kind: StoreKind) throws {
        let keychain = try keychain(kind)
        try save(.unpaired, keychain)
        #expect(try load(keychain) == .unpaired)
    }

    @Test(arguments: StoreKind.allCases)
    func value_loadedAsAnotherType_isAnEncodingFailure(kind: StoreKind) throws {
        let keychain = try keychain(kind)
        try keychain.save(["value": "test"], service: service, account: "one")
        #expect(failure { try load(keychain) } as? LGTVControl.KeychainError == .encodingFailed)
    }

    /// What it costs beyond that `make bench` says.
    @Test func saving_andLoading_askTheStoreLittleMoreThanWithoutTheManager() throws {
        let (wrapped, direct) = (ScriptedStore(), ScriptedStore())
        let (keychain, plain) = (KeychainManager().using(wrapped), SecretStore(service: "plain", store: direct))
        for _ in 1...3 {
            try save(.living, keychain)
            _ = try load(keychain)
            try plain.save(TVCredentials.living, for: "one")
            _ = try plain.read(TVCredentials.self, for: "one")
        }
        #expect(wrapped.calls.count <= direct.calls.count * 2, "\(wrapped.calls.count) for \(direct.calls.count)")
        #expect(!direct.calls.isEmpty)
    }

    // MARK: - How items lie

    @Test func credentials_saved_areJSONOfThreeFieldsInOneItem() throws {
        let store = MemoryStore()
        try save(.living, KeychainManager().using(store))
        let secrets = SecretStore(service: service, store: store)
        #expect(try secrets.items().map(\.account) == ["one"])
        let bytes = try #require(try secrets.read(Data.self, for: "one"))
        let object = try JSONSerialization.jsonObject(with: bytes) as? [String: String]
        #expect(
            object == [
                "ipAddress": "192.0.2.14", "macAddress": "02:00:5E:10:00:01",
                "clientKey": "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
            ])
    }

    @Test func item_ofAProgramWithGroups_goesToTheFirst() throws {
        let store = MemoryStore()
        let accessGroups = AccessGroups(["TEAM.first", "TEAM.second"])
        try save(.living, KeychainManager().using(store, accessGroups: accessGroups))
        let item = try SecretStore(service: service, store: store).item(for: "one")
        #expect(item?.accessGroup == "TEAM.first")
    }

    // MARK: - Errors

    @Test func program_withoutGroups_isToldTheMissingEntitlement() throws {
        let keychain = KeychainManager().using(MemoryStore(), accessGroups: AccessGroups([]))
        let error = failure { try save(.living, keychain) }
        #expect(error as? LGTVControl.KeychainError == .unexpectedStatus(-34018))
        #expect(keychain.lastFailure?.reason == .missingEntitlement)
        #expect(error?.localizedDescription == "Keychain error: -34018")
    }

    @Test func error_asNSError_hasTheStatusAsCode() {
        let error = LGTVControl.KeychainError.unexpectedStatus(-25308) as NSError
        #expect(error.domain == "NSOSStatusErrorDomain")
        #expect(error.code == -25308)
        #expect((LGTVControl.KeychainError.encodingFailed as NSError).code == -26275)
    }

    @Test func lockedKeychain_loadedFrom_isAnErrorAndNotAbsence() throws {
        let store = MemoryStore()
        let keychain = KeychainManager().using(store)
        try save(.living, keychain)
        store.lockState = .locked
        #expect(failure { try load(keychain) } as? LGTVControl.KeychainError == .unexpectedStatus(-25308))
        #expect(keychain.lastFailure?.reason == .locked)
    }

    @Test func call_thatSucceeds_leavesNoFailureBehind() throws {
        let store = MemoryStore()
        let keychain = KeychainManager().using(store)
        store.lockState = .locked
        #expect(failure { try save(.living, keychain) } != nil)
        store.lockState = .unlocked
        try save(.living, keychain)
        #expect(keychain.lastFailure == nil)
    }
}
