// SPDX-License-Identifier: Apache-2.0
// Migrations that are several steps, in a keychain without transactions and between two: nothing is lost in between.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainServices
import KeychainTesting
import Testing
import WrapperStores

@testable import Valet

@Suite("Migrations in steps")
struct StepMigrationTests {
    private let pairs = ["a": "1", "b": "2", "c": "3"]

    private func fill(_ valet: Valet) throws {
        for (key, value) in pairs { try valet.setString(value, forKey: key) }
    }

    /// The new items are such as the query finds.
    @Test(arguments: StoreKind.everywhere)
    func query_thatAlsoFindsWhatItMakes_removesTheOldAlone(kind: StoreKind) throws {
        let store = try kind.empty()
        let (old, new) = (try valet(store, "old"), try valet(store))
        try old.setString("1", forKey: "token")
        let query: [String: AnyHashable] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "token",
        ]
        try new.migrateObjects(matching: query, removeOnCompletion: true)
        #expect(try content(new) == ["token": "1"])
        #expect(try content(old) == [:])
    }

    @Test(arguments: [true, false])
    func value_thatIsChangedDuringTheSteps_arrivesAsItIsNow(isOneStore: Bool) throws {
        let memory = MemoryStore()
        let store = ScriptedStore(over: memory, hasTransactions: false)
        let other = isOneStore ? store : ScriptedStore(over: MemoryStore(), hasTransactions: false)
        let (old, new, others) = (try valet(store, "old"), try valet(other), try valet(memory, "old"))
        try fill(old)
        try other.interrupt {
            try new.migrateObjects(from: old, removeOnCompletion: true)
        } by: {
            try others.setString("newer", forKey: "c")
        }
        #expect(try content(new) == pairs.merging(["c": "newer"]) { $1 })
        #expect(try content(old) == [:])
    }

    @Test func value_thatIsAddedDuringTheSteps_staysWhereItIs() throws {
        let memory = MemoryStore()
        let store = ScriptedStore(over: memory, hasTransactions: false)
        let (old, new, others) = (try valet(store, "old"), try valet(store), try valet(memory, "old"))
        try fill(old)
        try store.interrupt {
            try new.migrateObjects(from: old, removeOnCompletion: true)
        } by: {
            try others.setString("4", forKey: "d")
        }
        #expect(try content(new) == pairs)
        #expect(try content(old) == ["d": "4"])
    }

    @Test(arguments: [true, false])
    func item_withoutAValue_isLeftWhereItIs(isOneStore: Bool) throws {
        let memory = MemoryStore()
        let store = ScriptedStore(over: memory, hasTransactions: false)
        let (old, new) = (try valet(store, "old"), try valet(isOneStore ? store : MemoryStore()))
        try fill(old)
        try memory.addItemWithoutValue(of: old, "bare")
        try new.migrateObjects(from: old, removeOnCompletion: true)
        #expect(try content(new) == pairs)
        #expect(try old.allKeys() == ["bare"])
    }

    @Test func removal_thatFailsHalfWay_losesNothing() throws {
        let store = ScriptedStore(over: MemoryStore(), hasTransactions: false)
        let (old, new) = (try valet(store, "old"), try valet(store))
        try fill(old)
        store.fail(.readOnly, from: 3, on: [.delete])
        #expect(
            migrationError { try new.migrateObjects(from: old, removeOnCompletion: true) } == .removalFailed)
        #expect(new.lastFailure?.reason == .readOnly)
        #expect(try content(old).merging(content(new)) { $1 } == pairs)
    }

    @Test func removal_ofAnItemWhoseServiceIsNoText_failsBeforeAnythingHasChanged() throws {
        let memory = MemoryStore()
        let new = try valet(ScriptedStore(over: memory, hasTransactions: false))
        try memory.addItemOfBinaryService(account: "key", value: "1")
        let query: [String: AnyHashable] = ["class": "genp", "acct": "key"]
        #expect(
            migrationError { try new.migrateObjects(matching: query, removeOnCompletion: true) } == .removalFailed)
        #expect(try new.allKeys() == [])
        #expect(try KeychainCatalog(store: memory).items().count == 1)
    }
}
