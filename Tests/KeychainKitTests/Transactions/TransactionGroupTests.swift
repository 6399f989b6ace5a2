// SPDX-License-Identifier: Apache-2.0
// Transactions over stores of one service, of which one names the access group and the other does not.

import KeychainEngine
import KeychainKit
import Testing

@Suite("Transactions and access groups")
struct TransactionGroupTests {
    private let keychain = MemoryStore()
    private let store: SecretStore
    /// The same items: a store that names no group finds them in the default group.
    private let named: SecretStore

    init() throws {
        store = SecretStore(service: "app", store: keychain)
        named = SecretStore(service: "app", accessGroup: "default", store: keychain)
        try store.save("old", for: "alice")
    }

    private func reasonOfRead(
        after change: (SecretTransaction) throws -> Void, in other: SecretStore
    ) -> KeychainError.Reason? {
        reason {
            try store.transaction { (transaction) -> Void in
                try change(transaction)
                _ = try transaction.in(other).read(String.self, for: "alice")
            }
        }
    }

    @Test func read_throughAStoreWithTheGroup_afterASaveWithoutIt_isRefused() {
        #expect(reasonOfRead(after: { try $0.save("new", for: "alice") }, in: named) == .invalidParameter)
    }

    @Test func read_throughAStoreWithTheGroup_afterARemovalWithoutIt_isRefused() {
        #expect(reasonOfRead(after: { $0.remove(for: "alice") }, in: named) == .invalidParameter)
    }

    @Test func read_throughAStoreWithoutAGroup_afterASaveWithIt_isRefused() {
        #expect(reasonOfRead(after: { try $0.in(named).save("new", for: "alice") }, in: store) == .invalidParameter)
    }

    @Test func read_throughAStoreOfItsOwn_afterSavesThroughBoth_isRefused() {
        let change = { (transaction: SecretTransaction) in
            try transaction.save("new", for: "alice")
            try transaction.in(named).save("newer", for: "alice")
        }
        #expect(reasonOfRead(after: change, in: store) == .invalidParameter)
    }

    @Test func asynchronousRead_throughTheOtherStore_isRefused() async {
        let result = await reason {
            try await store.transaction { (transaction) -> Void in
                try transaction.save("new", for: "alice")
                _ = try await transaction.in(named).read(String.self, for: "alice")
            }
        }
        #expect(result == .invalidParameter)
    }

    @Test func transaction_thatIsRefused_changesNothing() throws {
        _ = reasonOfRead(after: { try $0.save("new", for: "alice") }, in: named)
        #expect(try store.read(String.self, for: "alice") == "old")
    }

    @Test func readOfAnotherAccount_throughTheOtherStore_isAllowed() throws {
        try named.save("value", for: "bob")
        try store.transaction { transaction in
            try transaction.save("new", for: "alice")
            #expect(try transaction.in(named).read(String.self, for: "bob") == "value")
        }
    }

    @Test func read_throughTheOtherStore_afterTheChangesWereDiscarded_isAllowed() throws {
        try store.transaction { transaction in
            try transaction.save("new", for: "alice")
            #expect(reason { try transaction.in(named).contains(for: "alice") } == .invalidParameter)
            transaction.discardChanges()
            #expect(try transaction.in(named).read(String.self, for: "alice") == "old")
        }
    }

    @Test func changes_throughBothStores_happenInTheirOrder() throws {
        try store.transaction { transaction in
            try transaction.save("new", for: "alice")
            try transaction.in(named).save("newer", for: "alice")
        }
        #expect(try store.read(String.self, for: "alice") == "newer")
    }

    @Test func storesThatNameTheSameGroup_seeTheirOwnChanges() throws {
        let same = named
        try named.transaction { transaction in
            try transaction.save("new", for: "alice")
            #expect(try transaction.in(same).read(String.self, for: "alice") == "new")
        }
    }

    @Test func storesOfTwoGroups_seeTheirOwnChangesOnly() throws {
        let other = SecretStore(service: "app", accessGroup: "other", store: keychain)
        try named.transaction { transaction in
            try transaction.save("new", for: "alice")
            #expect(try !transaction.in(other).contains(for: "alice"))
        }
    }
}
