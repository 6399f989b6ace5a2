// SPDX-License-Identifier: Apache-2.0
// Where a new key is kept.

/// Where `KeyStore.create(_:tag:label:protection:)` makes a key. Later versions may know more places.
public struct KeyProtection: Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case hardware
        case hardwareIfAvailable = "hardware if available"
        case software
        case notExportable = "not exportable"
    }

    package let code: Code

    /// In hardware, such as a TPM, that never gives the key out. Without such hardware no key is made.
    public static let hardware = KeyProtection(code: .hardware)
    /// In hardware if there is some that can be used now and holds keys of the type, otherwise in the keychain like any other
    /// key. ``StoredKey/isHardwareBound`` says which.
    public static let hardwareIfAvailable = KeyProtection(code: .hardwareIfAvailable)
    /// In the keychain, where programs of the user can read it.
    public static let software = KeyProtection(code: .software)

    /// In the keychain, which uses the key and never gives it out: ``StoredKey/isExportable`` is false. It is bound to this device,
    /// as a key in hardware is. `SecItemCopyMatching` finds its item and has no `SecKey` for it (`errSecUnimplemented`).
    ///
    /// Does not protect against a program of the user that opens the vault without these calls.
    public static let notExportable = KeyProtection(code: .notExportable)

    /// The name, for people.
    public var description: String { code.rawValue }
}
