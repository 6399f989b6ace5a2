// SPDX-License-Identifier: Apache-2.0
// A vault for one test, and stores of both kinds that can get and lose a passphrase.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainVault
import SecretMemory
import Testing

/// A store whose passphrase a test can set and take away.
protocol LockableStore: ItemStore {
    /// `nil` takes it away, and with it the items that exist only while there is one.
    func setPassphrase(_ passphrase: String?) throws
}

extension MemoryStore: LockableStore {}

/// A vault that lives as long as the services over it. Its device key opens it, with or without a passphrase.
final class TemporaryVault: LockableStore {
    private let root: String
    private let vault: Vault

    init() throws {
        // The rules are about meaning, not about disks: memory spares thousands of waits for one.
        let parent = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm/" : NSTemporaryDirectory()
        root = parent + "keychain-rules-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        var settings = VaultSettings()
        settings.unlockCache = .process
        let cheap = ScryptParameters(rounds: 1 << 15, blockSize: 8, parallelism: 1)
        settings.scryptCost = ScryptCost(floor: cheap, target: nil)
        let location = try VaultLocation(folder: root + "/vault", deviceKeyFile: root + "/key/device.key")
        vault = Vault(location, settings)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: root) } catch { print("left behind: \(root)") }
    }

    func setPassphrase(_ passphrase: String?) throws {
        if let passphrase {
            try vault.addProtector(try Self.protector(passphrase))
            return
        }
        for slot in try vault.status().slots where slot.kind?.word == "passphrase" {
            try vault.removeProtector(slot.id, erasingItems: true)
        }
    }

    private static func protector(_ passphrase: String) throws -> ProtectorSecret {
        ProtectorSecret(try #require(ProtectorKind(word: "passphrase")), secretBytes(passphrase))
    }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try vault.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try vault.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try vault.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try vault.delete(selection, authorization)
    }

    var userVerifier: (any UserVerifier)? { vault.userVerifier }
}
