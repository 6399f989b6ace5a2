// SPDX-License-Identifier: Apache-2.0
// The secrets that open the vaults of the harness, and where these vaults lie.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainVault
import SecretMemory

/// What may open a vault here. None takes the time of a passphrase: that part of the way is the same for all of them.
enum Opener: String, CaseIterable, Codable {
    case deviceKey, recovery, newRecovery, keyFile

    var secret: ProtectorSecret {
        switch self {
        case .deviceKey: ProtectorSecret(.deviceKey)
        case .recovery: ProtectorSecret(.recoveryKey, RecoveryKey.text(Self.bytes(1)))
        case .newRecovery: ProtectorSecret(.recoveryKey, RecoveryKey.text(Self.bytes(2)))
        case .keyFile: ProtectorSecret(.keyFile, Self.bytes(3))
        }
    }

    private static func bytes(_ fill: UInt8) -> SecretBytes {
        SecretBytes(count: 32) { for index in $0.indices { $0[index] = fill } }
    }
}

/// The folder of one point: the vault and its device key, and nothing else.
struct Place {
    let root: String

    var folder: String { root + "/vault" }
    var deviceKeyFile: String { root + "/config/device.key" }
    var anchorFolder: String { root + "/config/seen" }
    /// Where operations put a backup, and find one.
    var backupFile: String { root + "/backup" }

    func location() throws(KeychainError) -> VaultLocation {
        try VaultLocation(folder: folder, deviceKeyFile: deviceKeyFile)
    }

    /// Unlocking counts for one process only, so that points know nothing of one another.
    static func settings(writerTimeout: Duration = .seconds(10)) -> VaultSettings {
        var settings = VaultSettings()
        settings.unlockCache = .process
        settings.writerTimeout = writerTimeout
        settings.rotationBatch = 4
        return settings
    }

    /// For processes that unlocking one of them unlocks, where the kernel allows it.
    static var sharingSettings: VaultSettings {
        var settings = settings()
        settings.unlockCache = .kernel
        return settings
    }

    /// The object that the program under test has.
    func shared() throws(KeychainError) -> Vault { Vault.at(try location(), Self.settings()) }

    /// Whether the kernel allows that here.
    static var canShare: Bool {
        do { return try Place(root: "/nowhere").sharing().unlockCacheInUse == .kernel } catch { return false }
    }

    /// As one of several processes that share an unlocking would open it.
    func sharing() throws(KeychainError) -> Vault { Vault(try location(), Self.sharingSettings) }

    /// Leaves nothing in the kernel: copies of a vault have the same name there.
    func lockForAll() throws { try sharing().lock(forgettingFirstUnlock: true) }

    /// As another process would open it.
    func another(writerTimeout: Duration = .seconds(10)) throws(KeychainError) -> Vault {
        Vault(try location(), Self.settings(writerTimeout: writerTimeout))
    }
}
