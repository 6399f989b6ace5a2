// SPDX-License-Identifier: Apache-2.0
// Values of `kSecAttrAccessible`: when an item can be decrypted.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// Readable while the keychain is unlocked; the default.
    nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"

    /// Readable from the first unlock after a restart until the next restart.
    nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"

    /// Readable even while locked; deprecated by Apple.
    nonisolated(unsafe) public let kSecAttrAccessibleAlways: CFString = "dk"

    /// Readable while the keychain is unlocked, and never synchronized or moved to another device.
    nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"

    /// Readable from the first unlock after a restart, and never synchronized or moved to another device.
    nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"

    /// Readable even while locked, and never synchronized or moved to another device; deprecated by Apple.
    nonisolated(unsafe) public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"

    /// Readable while unlocked on a device with a passcode, and lost for good when the passcode is removed.
    nonisolated(unsafe) public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
#endif
