// SPDX-License-Identifier: Apache-2.0
// The description of a backup.

public import Foundation
public import KeychainEngine

/// The contents of a backup of a vault, without names and values.
public struct VaultBackup: Sendable {
    /// Whether the device key and credentials on this machine open it.
    public enum Opening: Sendable {
        /// Without a prompt.
        case byItself
        /// With the secret of a protector that is not on this machine, such as a passphrase.
        case unlockable
        /// Not on this machine: only another device key opens it.
        case notHere
    }

    public let file: String
    public let vaultID: UUID
    public let formatVersion: Int
    public let protectors: [VaultStatus.Slot]
    public let opening: Opening
    public let itemCount: Int
    /// Of these, the ones of the keychain itself, which no list shows, such as earlier versions of items. Those that
    /// could not be checked are not counted.
    public let internalItemCount: Int
    public let quarantinedCount: Int
    /// Items that do not open under their own key.
    public let damagedCount: Int
    /// Items that could not be checked, since they are locked or nothing on this machine opens the backup.
    public let lockedCount: Int
    public let ofAnotherDeviceCount: Int
    /// Whether one of the two copies of the keybag is damaged.
    public let isKeybagCopyDamaged: Bool
    /// The differences between the contents and their own head. If there are any, only a forced restoration takes the
    /// backup. None if the index is not open on this machine.
    public let differences: [HeadFinding]
    /// Why this machine's device key could not be read, if ``opening`` is `notHere` for that reason.
    public let deviceKeyFailure: KeychainError?

    /// Whether the backup is useless without the device key's file.
    public var opensWithDeviceKeyAlone: Bool { protectors.allSatisfy { $0.kind == .deviceKey } }

    /// The outside state of the file before it was read.
    let state: FileState?

    init(_ file: String, _ state: FileState?, _ contents: VaultContents, _ settings: VaultSettings) {
        self.file = file
        self.state = state
        vaultID = contents.keybag.vaultID
        formatVersion = Int(contents.formatVersion)
        protectors = contents.keybag.slots.map { VaultStatus.Slot($0, settings) }
        opening = contents.opening
        itemCount = contents.itemCount
        internalItemCount = contents.items?.ofTheKeychain ?? 0
        quarantinedCount = contents.quarantinedCount
        damagedCount = contents.items?.damaged ?? 0
        lockedCount = contents.items?.locked ?? contents.itemCount
        ofAnotherDeviceCount = contents.items?.ofAnotherDevice ?? 0
        isKeybagCopyDamaged = contents.isKeybagCopyDamaged
        differences = contents.differences
        deviceKeyFailure = contents.deviceKeyFailure
    }
}

/// The result of a restoration.
public struct VaultRestoration: Sendable {
    public let backup: VaultBackup
    /// The file that contains the replaced vault, until the user removes it; `nil` if there was none.
    public let replaced: String?
    /// The file that contains the WAL of a missing database, with changes that may exist nowhere else; `nil` if there
    /// was none.
    public let replacedWAL: String?
    /// Why the restored vault could not be accepted, such as `locked`. It can then be read, but written only after
    /// ``Vault/accept()``. `nil` if it was accepted and can be written at once.
    public let acceptanceFailure: KeychainError?
    /// Whether ``acceptanceFailure`` is that the restored vault does not open here now: it is locked, or only another
    /// device key opens it. If it is false, something else failed, such as the medium.
    public let isClosedHere: Bool
    /// Why the replaced vault, if it was another one, could not be locked: its keys may still be in the kernel keyring.
    public let lockFailure: KeychainError?

    public var isAccepted: Bool { acceptanceFailure == nil }
}
