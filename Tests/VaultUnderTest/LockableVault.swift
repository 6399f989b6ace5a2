// SPDX-License-Identifier: Apache-2.0
// A real vault to be checked, in a folder of its own, and how to lock it.

import Foundation
import KeychainCrypto
package import KeychainEngine
package import KeychainTesting
package import KeychainVault
import SecretMemory

/// A vault that lives as long as the store under test that is made of it.
package final class LockableVault: Sendable {
    private let root: String
    package let vault: Vault
    private let key: ProtectorSecret

    /// - Parameter isLockable: Whether a key file takes the place of the device key; without it the vault is always open.
    package init(isLockable: Bool = true) throws {
        // These tests are about meaning, not about disks: memory spares thousands of waits for one.
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm/" : NSTemporaryDirectory()
        root = parent + "keychain-checks-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var settings = VaultSettings()
        settings.unlockCache = .process
        let cheap = ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1)
        settings.scryptCost = ScryptCost(floor: cheap, target: nil)
        vault = Vault(try VaultLocation(folder: root + "/vault", deviceKeyFile: root + "/key/device.key"), settings)
        guard let kind = ProtectorKind(word: "key-file") else { throw CocoaError(.featureUnsupported) }
        key = ProtectorSecret(kind, .random(count: 32))
        guard isLockable else { return }
        try vault.addProtector(key)
        for slot in try vault.status().slots where slot.kind?.word == "device-key" {
            try vault.removeProtector(slot.id, authority: key)
        }
        try vault.unlock(key)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: root) } catch { print("left behind: \(root)") }
    }

    package func setLockState(_ state: LockState) throws {
        try vault.lock(forgettingFirstUnlock: true)
        guard state > .beforeFirstUnlock else { return }
        try vault.unlock(key)
        if state == .locked { try vault.lock() }
    }

    package var subject: StoreUnderTest {
        var subject = StoreUnderTest(vault)
        // The closure keeps the folder for as long as the subject.
        subject.setLockState = { try self.setLockState($0) }
        return subject
    }
}
