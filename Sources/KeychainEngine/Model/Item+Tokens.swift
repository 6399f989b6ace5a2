// SPDX-License-Identifier: Apache-2.0
// Items that are keys on a token: their value is the object, which only the token can use.

public import Foundation

extension Item {
    /// The identifier of the token that holds the key; `nil` for items whose value is the secret itself.
    public var tokenIdentifier: String? {
        guard itemClass == .key, case .string(let identifier) = attributes[.tokenID], !identifier.isEmpty else {
            return nil
        }
        return identifier
    }

    /// Whether the item is a key on a token. Stores give out its value only to use it (`Selection.opensTokenKeys`), so
    /// finding such a key never asks the user.
    public var isOnToken: Bool { tokenIdentifier != nil }

    /// The public half of a key on a token: a point of P-256.
    public var tokenPublicKey: Data? {
        guard isOnToken, case .data(let point) = attributes[.tokenObject] else { return nil }
        return point
    }
}

extension Item {
    /// Whether it is a key that the keychain uses and never gives out: its value is the key itself.
    var isOfKeychain: Bool { tokenIdentifier == Self.keychainIdentifier }

    /// The value of `kSecAttrTokenID` of keys in the keychain that are only used and never given out. No other token has it.
    package static let keychainIdentifier = "keychain"
}

extension StoredItem {
    /// The item that `change` makes of it. Of a key that is never given out `change` sees no value, and it stays such a key.
    package func changed(
        by change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> Item {
        guard item.isOfKeychain else { return try change(self) }
        var new = try change(withoutTokenObject)
        guard new.isOfKeychain, new.value == nil else { throw .tokenKeyIsFixed }
        new.value = item.value
        return new
    }

    /// What an update gives back of it.
    package var withoutKeyOfKeychain: StoredItem { item.isOfKeychain ? withoutTokenObject : self }

    /// What stores give out of a key on a token.
    package var withoutTokenObject: StoredItem {
        var copy = self
        if item.isOnToken { copy.item.value = nil }
        return copy
    }
}

extension AccessControl {
    /// The same conditions in the class of the same name that is bound to this device.
    func onThisDevice() throws(KeychainError) -> AccessControl {
        guard let flags else { return AccessControl(accessibility.onThisDevice) }
        return try AccessControl(accessibility.onThisDevice, flags: flags)
    }

    /// Apple's rule: an access control that is given to a key has to allow its use.
    ///
    /// - Throws: `authenticationFailed` without the flag `privateKeyUsage`.
    package func checkAllowsUse() throws(KeychainError) {
        guard let flags, !flags.contains(.privateKeyUsage) else { return }
        throw KeychainError(
            .authenticationFailed,
            "The access control of the key does not allow its use. Make a key whose access control has `privateKeyUsage`."
        )
    }
}

extension Accessibility {
    var onThisDevice: Accessibility {
        switch self {
        case .whenUnlocked: .whenUnlockedThisDeviceOnly
        case .afterFirstUnlock: .afterFirstUnlockThisDeviceOnly
        case .always: .alwaysThisDeviceOnly
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly:
            self
        }
    }
}

extension KeychainError {
    static let tokenKeyIsFixed = KeychainError(
        .invalidParameter,
        "A key on a token keeps its value, its token and its protection. Nothing was changed. Make a new key instead.")
}
