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

    /// The object that the program under test has.
    func shared() throws(KeychainError) -> Vault { Vault.at(try location(), Self.settings()) }

    /// As another process would open it.
    func another(writerTimeout: Duration = .seconds(10)) throws(KeychainError) -> Vault {
        Vault(try location(), Self.settings(writerTimeout: writerTimeout))
    }
}
