// SPDX-License-Identifier: Apache-2.0
// Deletions of keys on a token: what the token forgets.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import KeychainTesting
import Testing

@Suite("Rules: deletions of keys on a token")
struct TokenDeletionTests {
    @Test(arguments: StoreKind.allCases) func deletedKey_isForgottenByItsTokenAndDoesNotSign(kind: StoreKind) throws {
        let bench = try TokenBench(kind)
        let (key, other) = (try bench.make(["atag": "1"]), try bench.make(["atag": "2"]))
        #expect(bench.services.delete(["v_Ref": key]) == errSecSuccess)
        #expect(bench.token.calls.filter { $0 == "forget" }.count == 1)
        #expect(try signing(key) == errSecItemNotFound && signing(other) == errSecSuccess)
        bench.token.fail(KeychainError(.unavailable, "Unplugged."))
        #expect(bench.services.delete(keys()) == errSecSuccess && bench.services.count(keys()) == 0)
    }

    @Test(arguments: StoreKind.allCases) func deletion_thatFails_leavesTheKeyOnItsToken(kind: StoreKind) throws {
        let store = ScriptedStore(over: try kind.empty(passphrase: "p"))
        let bench = try TokenBench(over: store)
        let key = try bench.make()
        store.fail(.full, on: [.delete])
        #expect(bench.services.delete(keys()) == errSecDiskFull)
        #expect(bench.token.keyCount == 1 && bench.services.count(keys()) == 1)
        #expect(try signing(key) == errSecSuccess)
    }

    /// Tokens know keys, not items.
    @Test(arguments: StoreKind.allCases) func keyOfTwoItems_isForgottenWithTheLast(kind: StoreKind) throws {
        let bench = try TokenBench(kind)
        let key = try bench.make(["atag": "t"])
        let copy: Entries = ["v_Ref": key, "atag": "copy", "agrp": "test2"]
        #expect(bench.services.add(copy).status == errSecSuccess)
        #expect(bench.services.delete(keys(["atag": "t"])) == errSecSuccess && bench.token.keyCount == 1)
        let left = try #require(bench.services.find(keys(["atag": "copy", "r_Ref": true])).object as? SecKey)
        #expect(try signing(left) == errSecSuccess)
        #expect(bench.services.delete(keys(["atag": "copy"])) == errSecSuccess && bench.token.keyCount == 0)
    }

    /// Another program gives the key a new tag after the deletion has read it.
    @Test(arguments: StoreKind.allCases) func keyThatIsChangedDuringItsDeletion_staysOnItsToken(kind: StoreKind) throws
    {
        let base = try kind.empty(passphrase: "p")
        let other = try TokenBench(over: base).services
        let store = StoreWithRival(base: base) { _ = other.update(keys(["atag": "t"]), to: ["atag": "new"]) }
        let bench = try TokenBench(over: store)
        let key = try bench.make(["atag": "t"])
        #expect(bench.services.delete(keys(["atag": "t"])) == errSecItemNotFound)
        #expect(bench.token.keyCount == 1 && bench.services.count(keys(["atag": "new"])) == 1)
        #expect(bench.services.delete(keys(["atag": "new"])) == errSecSuccess && bench.token.keyCount == 0)
        #expect(try signing(key) == errSecItemNotFound)
    }
}

/// A store in which another program is faster than each deletion.
private struct StoreWithRival: ItemStore {
    let base: any ItemStore
    /// What the other program does directly before a deletion.
    let beforeDeletion: @Sendable () -> Void

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try base.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try base.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try base.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        beforeDeletion()
        return try base.delete(selection, authorization)
    }

    var userVerifier: (any UserVerifier)? { base.userVerifier }
}
