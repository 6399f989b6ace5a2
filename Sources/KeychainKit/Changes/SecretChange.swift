// SPDX-License-Identifier: Apache-2.0
// A change of an item or of the lock state.

/// A change of an item, or of the keychain's lock state. It never contains a value; read the item to get it.
public struct SecretChange: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case added
        /// The value or an attribute has changed.
        case updated
        case removed
        /// The keychain is locked: items that need an unlocked keychain cannot be read. Also reported while the
        /// keychain stays locked, when items of the `afterFirstUnlock…` classes may have become readable or unreadable.
        case locked
        case unlocked
    }

    public let kind: Kind
    /// The item as it is now, or as it was last seen if it was removed. `nil` for a change of the lock state.
    ///
    /// If the item requires authentication, only its name is set, since the user was not asked.
    public let item: KeychainItem?

    init(_ kind: Kind, _ item: KeychainItem? = nil) {
        self.kind = kind
        self.item = item
    }
}

extension SecretChange: CustomStringConvertible, CustomReflectable {
    /// Contains the kind, but no name.
    public var description: String { kind.rawValue }
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind.rawValue]) }
}
