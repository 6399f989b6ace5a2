// SPDX-License-Identifier: Apache-2.0
// Updates and transactions over items that are there.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import Testing

extension SaveTests {
    @Test(arguments: StoreKind.allCases)
    func item_updated_keepsItsAttributes(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save(1, for: "n", attributes: ItemAttributes(label: "Counter"))
        try store.update(Int.self, for: "n") { $0 = 2 }
        #expect(try store.item(for: "n")?.label == "Counter")
    }

    @Test(arguments: StoreKind.allCases)
    func item_updatedToNil_isGone(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save(1, for: "n")
        try store.update(Int.self, for: "n") { $0 = nil }
        #expect(try !store.contains(for: "n"))
    }

    @Test(arguments: StoreKind.allCases)
    func item_updatedToWhatItIs_isNotWritten(kind: StoreKind) throws {
        let store = try store(kind)
        try store.save(1, for: "n")
        let before = try store.item(for: "n")
        try store.update(Int.self, for: "n") { _ in }
        #expect(try store.item(for: "n") == before)
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
    func change_ofAnItemThatSomebodyElseCreates_runsAgain(kind: StoreKind) async throws {
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
    func transaction_thatReadAnItemBeforeItCame_runsAgain(kind: StoreKind) throws {
        let store = try store(kind)
        var runs = 0
        try store.transaction { transaction in
            runs += 1
            let isThere = try transaction.contains(for: "alice")
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
            transaction.remove(for: "alice")
            #expect(try !transaction.contains(for: "alice"))
        }
        #expect(try !store.contains(for: "alice"))
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
        let store = SecretStore(server: .init("example.com"), store: keychain)
        let same = SecretStore(server: .init("example.com", port: 0, path: ""), store: keychain)
        try store.transaction { transaction in
            try transaction.save("new", for: "alice")
            #expect(try transaction.in(same).read(String.self, for: "alice") == "new")
        }
    }

    @Test func transaction_underAnotherClockInAKeychainThatIsAValue_isOfOneKeychain() throws {
        let store = SecretStore(service: "app", store: ForgetfulStore())
        var other = store
        other.clock = SuspendingClock()
        other.now = { .distantPast }
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
        #expect(try !store.contains(for: "alice"))
    }

    @Test func protectedItemOfAnotherStore_inATransaction_asksOnlyWhoTheTransactionAsks() throws {
        let memory = MemoryStore(passphrase: "passphrase")
        var store = SecretStore(service: "app", store: memory)
        var other = SecretStore(service: "other", accessControl: .userPresence, store: memory)
        try other.save("old", for: "alice")
        let (person, stranger) = (Person(passphrase: "passphrase"), Person(passphrase: "passphrase"))
        store.context = AuthenticationContext { person }
        other.context = AuthenticationContext { stranger }
        try store.transaction { [other] transaction in
            let old = try transaction.in(other).read(String.self, for: "alice")
            try transaction.in(other).save(old ?? "", for: "alice")
        }
        #expect(person.questions.count == 1 && stranger.questions.count == 0)
    }

    @Test func transaction_thatMayNotAsk_asksNobodyForAnotherStore() throws {
        let memory = MemoryStore(passphrase: "passphrase")
        var store = SecretStore(service: "app", store: memory)
        let other = SecretStore(service: "other", accessControl: .userPresence, store: memory)
        try other.save("old", for: "alice")
        let person = Person(passphrase: "passphrase")
        store.context = AuthenticationContext { person }
        store.allowsInteraction = false
        let result = reason {
            try store.transaction { transaction in try transaction.in(other).read(String.self, for: "alice") }
        }
        #expect(result == .interactionNotAllowed)
        #expect(person.questions.count == 0)
    }

    @Test func protectedItem_updated_asksOnce() throws {
        let memory = MemoryStore(passphrase: "passphrase")
        var store = SecretStore(service: "app", accessControl: .userPresence, store: memory)
        try store.save(1, for: "n")
        let person = Person(passphrase: "passphrase")
        store.context = AuthenticationContext { person }
        try store.update(Int.self, for: "n") { $0 = ($0 ?? 0) + 1 }
        #expect(person.questions.count == 1)
    }
}
