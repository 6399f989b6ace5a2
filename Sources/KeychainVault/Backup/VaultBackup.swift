// SPDX-License-Identifier: Apache-2.0
// What can be told about a backup.

public import Foundation
public import KeychainEngine

/// What is in a backup of a vault: no names, no values.
public struct VaultBackup: Sendable {
    /// Whether it could be opened on this machine, with the device key and credentials that are here.
    public enum Opening: Sendable {
        /// Without anybody being asked.
        case byItself
        /// With the secret of a protector that is not here, such as a passphrase.
        case unlockable
        /// By nothing: only another device key opens it.
        case notHere
    }

    public let file: String
    public let vaultID: UUID
    public let formatVersion: Int
    public let protectors: [VaultStatus.Slot]
    public let opening: Opening
    public let itemCount: Int
    public let quarantinedCount: Int
    /// Items that do not open under their own key.
    public let damagedCount: Int
    /// Items that could not be looked at, since they are locked or nothing here opens the backup.
    public let lockedCount: Int
    public let ofAnotherDeviceCount: Int
    /// Whether one of the two copies of the keybag is damaged.
    public let isKeybagCopyDamaged: Bool
    /// Why the device key that is here could not be read, if ``opening`` is `notHere` because of that.
    public let obstacle: KeychainError?

    /// Whether the backup is worth nothing without the device key's file.
    public var opensWithDeviceKeyAlone: Bool { protectors.allSatisfy { $0.kind == .deviceKey } }

    /// What the file looked like before it was read.
    let state: FileState?

    init(_ file: String, _ state: FileState?, _ contents: VaultContents, _ settings: VaultSettings) {
        self.file = file
        self.state = state
        vaultID = contents.keybag.vaultID
        formatVersion = Int(contents.formatVersion)
        protectors = contents.keybag.slots.map { VaultStatus.Slot($0, settings) }
        opening = contents.opening
        itemCount = contents.itemCount
        quarantinedCount = contents.quarantinedCount
        damagedCount = contents.items?.damaged ?? 0
        lockedCount = contents.items?.locked ?? contents.itemCount
        ofAnotherDeviceCount = contents.items?.ofAnotherDevice ?? 0
        isKeybagCopyDamaged = contents.isKeybagCopyDamaged
        obstacle = contents.obstacle
    }
}

/// What a restoration did.
public struct VaultRestoration: Sendable {
    public let backup: VaultBackup
    /// The file that holds the vault that was there before, until somebody removes it; `nil` if there was none.
    public let replaced: String?
    /// Why what was restored could not be accepted, such as `locked`; it can be read then, and written after ``Vault/accept()``.
    /// `nil` if it was, and can be written at once.
    public let obstacle: KeychainError?

    public var isAccepted: Bool { obstacle == nil }
}
