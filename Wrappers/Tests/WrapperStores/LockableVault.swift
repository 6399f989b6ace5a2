// SPDX-License-Identifier: Apache-2.0
// A real vault, in a folder of its own, and how to lock it.

import Foundation
public import KeychainEngine
@_spi(Wrappers) public import KeychainVault
import SecretMemory

/// A vault whose files live as long as it does.
public final class LockableVault: Sendable {
    private let folder: TemporaryFolder
    public let vault: Vault
    private let key: ProtectorSecret

    /// A key file takes the place of the device key.
    public init() throws {
        folder = try TemporaryFolder("keychain-checks")
        let (place, deviceKeyFile) = (folder.path + "/vault", folder.path + "/key/device.key")
        vault = .unshared(try VaultLocation(folder: place, deviceKeyFile: deviceKeyFile), .quick)
        guard let kind = ProtectorKind(word: "key-file") else { throw CocoaError(.featureUnsupported) }
        key = ProtectorSecret(kind, .random(count: 32))
        try vault.addProtector(key)
        for slot in try vault.status().slots where slot.kind?.word == "device-key" {
            try vault.removeProtector(slot.id, authority: key)
        }
        try vault.unlock(key)
    }

    public func setLockState(_ state: LockState) throws {
        try vault.lock(forgettingFirstUnlock: true)
        guard state > .beforeFirstUnlock else { return }
        try vault.unlock(key)
        if state == .locked { try vault.lock() }
    }
}
