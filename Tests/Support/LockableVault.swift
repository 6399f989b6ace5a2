// SPDX-License-Identifier: Apache-2.0
// A real vault to be checked, in a folder of its own, and how to lock it.

import Foundation
package import KeychainEngine
package import KeychainTesting
package import KeychainVault
import SecretMemory

/// A vault that lives as long as the store under test that is made of it.
package final class LockableVault: Sendable {
    private let folder: TemporaryFolder
    package let vault: Vault
    private let key: ProtectorSecret

    /// - Parameters:
    ///   - isLockable: Whether a key file takes the place of the device key; without it the vault is always open.
    ///   - passphrase: What else opens a vault that is lockable, and proves the user; `nil`: nothing does.
    ///   - unlockCache: Where its unlocked keys are.
    package init(
        isLockable: Bool = true, passphrase: String? = nil, unlockCache: VaultSettings.UnlockCacheKind = .process
    ) throws {
        folder = try .inMemory("keychain-checks")
        var settings = VaultSettings()
        settings.unlockCache = unlockCache
        settings.scryptCost = .cheap
        settings.writerTimeout = .seconds(600)
        let (place, deviceKeyFile) = (folder.path + "/vault", folder.path + "/key/device.key")
        vault = Vault(try VaultLocation(folder: place, deviceKeyFile: deviceKeyFile), settings)
        key = ProtectorSecret(try LockableVault.kind("key-file"), .random(count: 32))
        guard isLockable else { return }
        try vault.addProtector(key)
        for slot in try vault.status().slots where slot.kind?.word == "device-key" {
            try vault.removeProtector(slot.id, authority: key)
        }
        // Last, so that its key is derived once: as the authority of the others it would be derived for each of them.
        if let passphrase {
            let secret = ProtectorSecret(try LockableVault.kind("passphrase"), SecretBytes(text: passphrase))
            try vault.addProtector(secret, authority: key)
        }
        try vault.unlock(key)
    }

    deinit {
        // The kernel would keep the keys.
        guard vault.settings.unlockCache == .kernel else { return }
        do { try vault.lock(forgettingFirstUnlock: true) } catch { print("left unlocked: \(folder.path)") }
    }

    private static func kind(_ word: String) throws -> ProtectorKind {
        guard let kind = ProtectorKind(word: word) else { throw CocoaError(.featureUnsupported) }
        return kind
    }

    package func setLockState(_ state: LockState) throws {
        try vault.lock(forgettingFirstUnlock: true)
        guard state > .beforeFirstUnlock else { return }
        try vault.unlock(key)
        if state == .locked { try vault.lock() }
    }

    package var subject: StoreUnderTest {
        var subject = StoreUnderTest(vault)
        subject.patience = .testLimit
        // The closure keeps the folder for as long as the subject.
        subject.setLockState = { try self.setLockState($0) }
        return subject
    }
}
