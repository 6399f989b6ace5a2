// SPDX-License-Identifier: Apache-2.0
// What has changed.

/// A change of an item, or of the keychain's lock state. It never holds a value: read that, if you want it.
public struct SecretChange: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case added
        /// The value, or anything else of the item.
        case updated
        case removed
        /// Items that are open only while the keychain is unlocked cannot be read now. Comes again when those that are open
        /// after the first unlock may have become, or ceased to be, readable while it is locked.
        case locked
        case unlocked
    }

    public let kind: Kind
    /// The item as it is now, or as it was last seen if it is gone; `nil` for a change of the lock state.
    ///
    /// Of an item that asks for the user or a password there is nothing but its name, since nobody has been asked.
    public let item: KeychainItem?

    init(_ kind: Kind, _ item: KeychainItem? = nil) {
        self.kind = kind
        self.item = item
    }
}

extension SecretChange: CustomStringConvertible, CustomReflectable {
    /// The kind, and no name.
    public var description: String { kind.rawValue }
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind.rawValue]) }
}
