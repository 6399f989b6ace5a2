// SPDX-License-Identifier: Apache-2.0
// Changes of the lock state, and of items while the keychain is locked.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

extension SharedVault {
    /// What the exercisers unlock with.
    var passphrase: ProtectorSecret {
        ProtectorSecret(PassphraseProtector.kind, SecretBytes(text: "the old passphrase"))
    }

    /// With that passphrase, and locked.
    static func locked() throws -> SharedVault {
        var settings = VaultSettings.patient
        settings.scryptCost = .cheap
        let shared = try SharedVault(settings)
        try shared.vault.create()
        try shared.vault.addProtector(shared.passphrase)
        let slot = try shared.vault.status().slots.first { $0.kind == DeviceKeyProtector.kind }
        guard let slot else { throw KeychainError(.itemNotFound, "There is no slot of the device key.") }
        try shared.vault.removeProtector(slot.id, authority: shared.passphrase)
        return shared
    }
}

@Suite(.timeLimit(.minutes(60)))
struct LockChangesTests {
    @Test func lockAndUnlock_areChanges() async throws {
        let memory = MemoryStore()
        let store = SecretStore(service: "s", store: memory)
        let changes = try await store.changes()
        memory.lockState = .locked
        #expect(await changes.next(1) == ["locked"])
        memory.lockState = .beforeFirstUnlock
        #expect(await changes.next(1) == ["locked"])
        memory.lockState = .unlocked
        #expect(await changes.next(1) == ["unlocked"])
    }

    @Test func lockAndUnlock_byAnotherProcess_areChanges() async throws {
        let shared = try SharedVault.locked()
        let changes = try await shared.store.changes()
        #expect(try await shared.lines("unlock", "old") == ["done"])
        #expect(await changes.next(1) == ["unlocked"])
        try await shared.store.save("1", for: "alice")
        #expect(await changes.next(1) == ["added alice"])
        #expect(try await shared.lines("lock", "all") == ["done"])
        #expect(await changes.next(1) == ["locked"])
    }

    @Test func item_changedWhileLockedHere_comesAfterUnlocking() async throws {
        let shared = try SharedVault.locked()
        try shared.vault.unlock(shared.passphrase)
        let store = SecretStore(service: "exerciser", store: shared.vault)
        try await store.save("1", for: "alice")
        try await store.save("1", for: "bob")
        let changes = try await store.changes()
        try shared.vault.lock(forgettingFirstUnlock: true)
        #expect(await changes.next(1) == ["locked"])
        // Deleting works while the vault is locked, and does not need to be opened to be seen.
        #expect(try await shared.lines("delete", "bob") == ["done"])
        #expect(await changes.next(1) == ["removed bob"])
        // Another process has the keys for itself alone.
        let other = Vault(shared.location, shared.vault.settings)
        try other.unlock(shared.passphrase)
        try await SecretStore(service: "exerciser", store: other).save("2", for: "alice")
        #expect(await changes.next(2) == ["unlocked", "updated alice"])
        try shared.vault.lock(forgettingFirstUnlock: true)
    }

    @Test func items_thatWereThereWhenItBeganLocked_areNotNewWhenItIsUnlocked() async throws {
        let memory = MemoryStore()
        let store = SecretStore(service: "s", store: memory)
        try await store.save("1", for: "alice")
        try await store.save("1", for: "bob")
        memory.lockState = .locked
        let changes = try await store.changes()
        memory.lockState = .unlocked
        #expect(await changes.next(1) == ["unlocked"])
        try await store.save("2", for: "alice")
        try await store.remove(for: "bob")
        #expect(await changes.next(2).sorted() == ["removed bob", "updated alice"])
    }

    @Test func items_ofAVaultThatBeganLocked_areNotNewWhenItIsUnlocked() async throws {
        let shared = try SharedVault.locked()
        try shared.vault.unlock(shared.passphrase)
        try await shared.store.save("1", for: "alice")
        try shared.vault.lock(forgettingFirstUnlock: true)
        let changes = try await shared.store.changes()
        try shared.vault.unlock(shared.passphrase)
        #expect(await changes.next(1) == ["unlocked"])
        try await shared.store.save("2", for: "bob")
        #expect(await changes.next(1) == ["added bob"])
        try await shared.store.save("2", for: "alice")
        #expect(await changes.next(1) == ["updated alice"])
        try shared.vault.lock(forgettingFirstUnlock: true)
    }

    @Test func item_thatIsOpenAfterTheFirstUnlock_comesWhileLocked() async throws {
        let memory = MemoryStore()
        var store = SecretStore(service: "s", store: memory)
        store.accessibility = .afterFirstUnlock
        memory.lockState = .locked
        let changes = try await store.changes()
        try await store.save("1", for: "alice")
        #expect(await changes.next(1) == ["added alice"])
    }
}
