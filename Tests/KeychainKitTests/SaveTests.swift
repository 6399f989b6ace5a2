// SPDX-License-Identifier: Apache-2.0
// What saving does to an item that is there.

import Foundation
import KeychainEngine
import KeychainKit
import Testing
import VaultUnderTest

@Suite("Saving over an item")
struct SaveTests {
    private func store(_ kind: StoreKind) throws -> SecretStore {
        SecretStore(service: "app", store: try kind.empty(passphrase: "passphrase"))
    }

    @Test(arguments: StoreKind.allCases)
    func item_savedOver_staysTheSameItem(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save("1", for: "alice", ItemAttributes(label: "A", comment: "kept"))
        let before = try #require(try store.item("alice"))
        try store.save("2", for: "alice", ItemAttributes(label: "B"))
        let after = try #require(try store.item("alice"))
        #expect(after.id == before.id && after.created == before.created && after.modified > before.modified)
        #expect(after.label == "B" && after.comment == "kept")
        #expect(try store.read(String.self, for: "alice") == "2")
    }

    @Test(arguments: StoreKind.allCases)
    func accessibility_savedOver_isApplied(kind: StoreKind) throws {
        var store = try store(kind)
        try store.save("1", for: "alice")
        store.accessibility = .afterFirstUnlock
        try store.save("2", for: "alice")
        #expect(try store.item("alice")?.accessibility == .afterFirstUnlock)
    }

    @Test(arguments: StoreKind.allCases)
    func accessibility_notGiven_staysAsItIs(kind: StoreKind) throws {
        var store = try store(kind)
        store.accessibility = .afterFirstUnlock
        try store.save("1", for: "alice")
        store.accessibility = nil
        try store.save("2", for: "alice")
        #expect(try store.item("alice")?.accessibility == .afterFirstUnlock)
    }

    @Test(arguments: StoreKind.allCases)
    func accessControl_savedOver_isApplied(kind: StoreKind) throws {
        var store = try store(kind)
        try store.save("1", for: "alice")
        store.accessControl = .userPresence
        try store.save("2", for: "alice")
        store.mayAsk = false
        let reason = reason { try store.read(String.self, for: "alice") }
        #expect(reason == .interactionNotAllowed)
    }

    @Test(arguments: StoreKind.allCases)
    func accessControl_notGiven_outlivesAnotherAccessibility(kind: StoreKind) throws {
        var store = try store(kind)
        store.accessControl = .userPresence
        try store.save("1", for: "alice")
        (store.accessControl, store.accessibility) = (nil, .afterFirstUnlock)
        store.context = AuthenticationContext { Answering("passphrase") }
        try store.save("2", for: "alice")
        let item = try #require(try store.item("alice"))
        #expect(item.accessibility == .afterFirstUnlock && item.accessControl == .userPresence)
    }

    @Test(arguments: StoreKind.allCases)
    func accessibility_notGiven_outlivesAnotherAccessControl(kind: StoreKind) throws {
        var store = try store(kind)
        store.accessibility = .afterFirstUnlock
        try store.save("1", for: "alice")
        (store.accessControl, store.accessibility) = (.userPresence, nil)
        store.context = AuthenticationContext { Answering("passphrase") }
        try store.save("2", for: "alice")
        let item = try #require(try store.item("alice"))
        #expect(item.accessibility == .afterFirstUnlock && item.accessControl == .userPresence)
    }

    @Test(arguments: StoreKind.allCases)
    func accessControl_empty_asksForNothingAnyMore(kind: StoreKind) throws {
        var store = try store(kind)
        store.accessControl = .userPresence
        try store.save("1", for: "alice")
        store.context = AuthenticationContext { Answering("passphrase") }
        store.accessControl = []
        try store.save("2", for: "alice")
        (store.context, store.mayAsk) = (nil, false)
        #expect(try store.read(String.self, for: "alice") == "2")
    }

    @Test(arguments: StoreKind.allCases)
    func biometry_asked_storesNothing(kind: StoreKind) throws {
        var store = try store(kind)
        try store.save("1", for: "alice")
        store.accessControl = .biometryAny
        let reason = reason { try store.save("2", for: "alice") }
        #expect(reason == .unavailable)
        #expect(try store.read(String.self, for: "alice") == "1")
    }

    @Test(arguments: StoreKind.allCases)
    func account_created_twice_isADuplicateAndKeepsTheFirst(kind: StoreKind) throws {
        let store = try store(kind)
        try store.create("1", for: "alice")
        let reason = reason { try store.create("2", for: "alice") }
        #expect(reason == .duplicateItem)
        #expect(try store.read(String.self, for: "alice") == "1")
    }

    @Test(arguments: StoreKind.allCases)
    func saveOver_whileLocked_isLockedAndKeepsTheValue(kind: StoreKind) throws {
        guard kind == .memory else { return }
        let memory = MemoryStore()
        let store = SecretStore(service: "app", store: memory)
        try store.save("1", for: "alice")
        memory.lockState = .locked
        let reason = reason { try store.save("2", for: "alice") }
        #expect(reason == .locked)
        memory.lockState = .unlocked
        #expect(try store.read(String.self, for: "alice") == "1")
    }

    // MARK: - Update and transaction

    @Test(arguments: StoreKind.allCases)
    func item_updated_keepsItsAttributes(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save(1, for: "n", ItemAttributes(label: "Counter"))
        try store.update(Int.self, for: "n") { $0 = 2 }
        #expect(try store.item("n")?.label == "Counter")
    }

    @Test(arguments: StoreKind.allCases)
    func item_updatedToNil_isGone(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save(1, for: "n")
        try store.update(Int.self, for: "n") { $0 = nil }
        #expect(try !store.contains("n"))
    }

    @Test(arguments: StoreKind.allCases)
    func item_updatedToWhatItIs_isNotWritten(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save(1, for: "n")
        let before = try store.item("n")
        try store.update(Int.self, for: "n") { _ in }
        #expect(try store.item("n") == before)
    }

    @Test(arguments: StoreKind.allCases)
    func change_thatSomebodyElseDisturbs_runsAgainWithTheNewValue(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save(1, for: "n")
        var seen: [Int?] = []
        try store.update(Int.self, for: "n") { value in
            seen.append(value)
            if seen.count == 1 { try store.save(10, for: "n") }
            value = (value ?? 0) + 1
        }
        #expect(seen == [1, 10])
        #expect(try store.read(Int.self, for: "n") == 11)
    }

    @Test(arguments: StoreKind.allCases)
    func change_ofAnAbsentItem_thatSomebodyElseCreates_runsAgain(kind: StoreKind) async throws {
        let store = try store(kind)
        var runs = 0
        try await store.update(Int.self, for: "n") { value in
            runs += 1
            if runs == 1 { try store.save(10, for: "n") }
            value = (value ?? 0) + 1
        }
        #expect(try await store.read(Int.self, for: "n") == 11)
    }

    @Test(arguments: StoreKind.allCases)
    func transaction_whoseReadsAreDisturbed_runsAgain(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save("old", for: "alice")
        var runs = 0
        try store.transaction { transaction in
            runs += 1
            let value = try transaction.read(String.self, for: "alice")
            if runs == 1 { try store.save("new", for: "alice") }
            try transaction.save(value ?? "", for: "bob")
        }
        #expect(runs == 2)
        #expect(try store.read(String.self, for: "bob") == "new")
    }

    @Test(arguments: StoreKind.allCases)
    func transaction_thatReadsAnAbsentItem_whichComes_runsAgain(kind: StoreKind) throws {
        let store = try store(kind)
        var runs = 0
        try store.transaction { transaction in
            runs += 1
            let isThere = try transaction.contains("alice")
            if runs == 1 { try store.save("x", for: "alice") }
            try transaction.save(isThere ? "yes" : "no", for: "bob")
        }
        #expect(try store.read(String.self, for: "bob") == "yes")
    }

    @Test(arguments: StoreKind.allCases)
    func transaction_whoseBodyThrows_changesNothing(kind: StoreKind) throws {
        struct Stop: Error {}
        let store = try store(kind)
        #expect(throws: Stop.self) {
            try store.transaction { transaction in
                try transaction.save("x", for: "alice")
                throw Stop()
            }
        }
        #expect(try store.items().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func transaction_withADuplicateInItsMidst_changesNothing(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save("old", for: "bob")
        let reason = reason {
            try store.transaction { (transaction) -> Void in
                try transaction.save("x", for: "alice")
                try transaction.create("y", for: "bob")
            }
        }
        #expect(reason == .duplicateItem)
        #expect(try store.items().map(\.account) == ["bob"])
        #expect(try store.read(String.self, for: "bob") == "old")
    }

    @Test(arguments: StoreKind.allCases)
    func transaction_ofSeveralStores_seesItsOwnChanges(kind: StoreKind) throws {
        let keychain = try kind.empty()
        let store = SecretStore(service: "app", store: keychain)
        let other = SecretStore(service: "other", store: keychain)
        try store.transaction { transaction in
            try transaction.save("x", for: "alice")
            try transaction.in(other).save("y", for: "alice")
            #expect(try transaction.read(String.self, for: "alice") == "x")
            #expect(try transaction.in(other).read(String.self, for: "alice") == "y")
            transaction.remove("alice")
            #expect(try !transaction.contains("alice"))
        }
        #expect(try !store.contains("alice"))
        #expect(try other.read(String.self, for: "alice") == "y")
    }

    @Test(arguments: StoreKind.allCases)
    func accountsOfTheSameLook_inATransaction_areTwo(kind: StoreKind) throws {
        let store = try store(kind)
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        try store.save("old", for: decomposed)
        try store.transaction { transaction in
            try transaction.save("new", for: composed)
            #expect(try transaction.read(String.self, for: decomposed) == "old")
        }
    }

    @Test func pathThatIsEmpty_inATransaction_isTheSameAsNone() throws {
        let keychain = MemoryStore()
        let store = SecretStore(server: "example.com", store: keychain)
        let same = SecretStore(server: "example.com", port: 0, path: "", store: keychain)
        try store.transaction { transaction in
            try transaction.save("new", for: "alice")
            #expect(try transaction.in(same).read(String.self, for: "alice") == "new")
        }
    }

    @Test func transaction_underAnotherClockInAKeychainThatIsAValue_isOfOneKeychain() throws {
        let store = SecretStore(service: "app", store: ForgetfulStore())
        var other = store
        other.clock = KeychainClock(now: { .distantPast }, elapsed: { .zero }, sleep: { _ in })
        let result = reason {
            try store.transaction { [other] (transaction) -> Void in try transaction.in(other).save("x", for: "alice") }
        }
        #expect(result == nil)
    }

    @Test func transaction_overTwoKeychains_isRefused() throws {
        let store = SecretStore(service: "app", store: MemoryStore())
        let reason = reason {
            try store.transaction { (transaction) -> Void in
                try transaction.in(SecretStore(service: "app", store: MemoryStore())).save("x", for: "alice")
            }
        }
        #expect(reason == .invalidParameter)
    }

    @Test func transaction_thatDiscardsItsChanges_changesNothing() throws {
        let store = SecretStore(service: "app", store: MemoryStore())
        try store.transaction { transaction in
            try transaction.save("x", for: "alice")
            transaction.discardChanges()
        }
        #expect(try !store.contains("alice"))
    }

    @Test func protectedItemOfAnotherStore_inATransaction_asksOnlyWhoTheTransactionAsks() throws {
        let memory = MemoryStore(passphrase: "passphrase")
        var store = SecretStore(service: "app", store: memory)
        var other = SecretStore(service: "other", accessControl: .userPresence, store: memory)
        try other.save("old", for: "alice")
        let (person, stranger) = (Answering("passphrase"), Answering("passphrase"))
        store.context = AuthenticationContext { person }
        other.context = AuthenticationContext { stranger }
        try store.transaction { [other] transaction in
            let old = try transaction.in(other).read(String.self, for: "alice")
            try transaction.in(other).save(old ?? "", for: "alice")
        }
        #expect(person.count == 1 && stranger.count == 0)
    }

    @Test func transactionThatMayNotAsk_asksNobodyForAnotherStore() throws {
        let memory = MemoryStore(passphrase: "passphrase")
        var store = SecretStore(service: "app", store: memory)
        let other = SecretStore(service: "other", accessControl: .userPresence, store: memory)
        try other.save("old", for: "alice")
        let person = Answering("passphrase")
        store.context = AuthenticationContext { person }
        store.mayAsk = false
        let result = reason {
            try store.transaction { transaction in try transaction.in(other).read(String.self, for: "alice") }
        }
        #expect(result == .interactionNotAllowed)
        #expect(person.count == 0)
    }

    @Test func protectedItem_updated_asksOnce() throws {
        let memory = MemoryStore(passphrase: "passphrase")
        var store = SecretStore(service: "app", accessControl: .userPresence, store: memory)
        try store.save(1, for: "n")
        let person = Answering("passphrase")
        store.context = AuthenticationContext { person }
        try store.update(Int.self, for: "n") { $0 = ($0 ?? 0) + 1 }
        #expect(person.count == 1)
    }
}
