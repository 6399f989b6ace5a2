// SPDX-License-Identifier: Apache-2.0
// A vault whose files live as long as whoever holds it as a store.

package import Foundation
import KeychainCrypto
package import KeychainEngine
import KeychainVault
import SecretMemory

/// A vault that its device key opens, with or without a passphrase.
package final class TemporaryVault: ItemStore {
    private let root: String
    private let vault: Vault

    /// - Parameter writerTimeout: How long a change waits for others.
    package init(passphrase: String? = nil, writerTimeout: Duration = .seconds(30)) throws {
        // These tests are about meaning, not about disks: memory spares thousands of waits for one.
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm/" : NSTemporaryDirectory()
        root = parent + "keychain-kit-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var settings = VaultSettings()
        settings.unlockCache = .process
        settings.writerTimeout = writerTimeout
        let cheap = ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1)
        settings.scryptCost = ScryptCost(floor: cheap, target: nil)
        vault = Vault(try VaultLocation(folder: root + "/vault", deviceKeyFile: root + "/device.key"), settings)
        guard let passphrase else { return }
        guard let kind = ProtectorKind(word: "passphrase") else { throw CocoaError(.featureUnsupported) }
        try vault.addProtector(ProtectorSecret(kind, SecretBytes(text: passphrase)))
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: root) } catch { print("left behind: \(root)") }
    }

    /// What writers lock.
    package var lockFile: String { root + "/vault/vault.lock" }

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

    package var hasTransactions: Bool { vault.hasTransactions }

    package func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try vault.transaction(authorization, body)
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
