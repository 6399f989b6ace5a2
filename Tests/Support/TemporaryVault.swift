// SPDX-License-Identifier: Apache-2.0
// A vault whose files exist as long as a store refers to it.

package import Foundation
package import KeychainEngine
import KeychainVault
import SecretMemory

/// A vault that its device key opens, with or without a passphrase.
package final class TemporaryVault: TransactionalStore, RepeatingStore {
    private let folder: TemporaryFolder
    private let vault: Vault

    /// - Parameter writerTimeout: How long a change waits for others.
    package init(passphrase: String? = nil, writerTimeout: Duration = .seconds(600)) throws {
        folder = try .inMemory("keychain-kit")
        var settings = VaultSettings()
        settings.unlockCache = .process
        settings.writerTimeout = writerTimeout
        settings.scryptCost = .cheap
        let location = try VaultLocation(folder: folder.path + "/vault", deviceKeyFile: folder.path + "/device.key")
        vault = Vault(location, settings)
        if let passphrase { try setPassphrase(passphrase) }
    }

    /// Gives the vault a passphrase, or takes it away, and with it the items that exist only while there is one.
    package func setPassphrase(_ passphrase: String?) throws {
        guard let passphrase else {
            for slot in try vault.status().slots where slot.kind?.word == "passphrase" {
                try vault.removeProtector(slot.id, erasingItems: true)
            }
            return
        }
        guard let kind = ProtectorKind(word: "passphrase") else { throw CocoaError(.featureUnsupported) }
        try vault.addProtector(ProtectorSecret(kind, SecretBytes(text: passphrase)))
    }

    /// Damages the item that was added last, so that it does not open.
    package func damageLastItem() throws {
        let database = try Connection(folder.path + "/vault/vault.db")
        try database.execute("UPDATE item SET metadata = zeroblob(200) WHERE id = (SELECT max(id) FROM item)")
    }

    /// Damages the value of the item that was added last. Its attributes stay readable.
    package func damageLastValue() throws {
        let database = try Connection(folder.path + "/vault/vault.db")
        try database.execute("UPDATE item SET value = zeroblob(200) WHERE id = (SELECT max(id) FROM item)")
    }

    /// What writers lock.
    package var lockFile: String { folder.path + "/vault/vault.lock" }

    package func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try vault.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    package func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try vault.insert(item, authorization)
    }

    package func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try vault.update(selection, authorization, change)
    }

    package func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try vault.delete(selection, authorization)
    }

    package func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try vault.transaction(authorization, body)
    }

    package func repeated(_ read: UnsafeRawBufferPointer, waits: Bool) -> RepeatedValue? {
        vault.repeated(read, waits: waits)
    }

    package func remembering(
        _ read: [UInt8], _ search: () throws(KeychainError) -> FoundOnce
    ) throws(KeychainError) -> StoredItem? {
        try vault.remembering(read, search)
    }

    package var lockState: LockState {
        get throws(KeychainError) { try vault.lockState }
    }

    package func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        try vault.observe(body)
    }

    package func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences {
        try vault.differences(selections, from: known)
    }

    package var userVerifier: (any UserVerifier)? { vault.userVerifier }
}
