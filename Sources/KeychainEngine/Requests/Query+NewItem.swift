// SPDX-License-Identifier: Apache-2.0
// Creates a new item from a request: defaults, dates, access group, access control.

import Foundation
import SecretMemory

extension Query {
    func newItem(accessGroups: AccessGroups, dialect: Engine.Dialect, at date: Date) throws(KeychainError) -> Item {
        let defaultGroup = try accessGroups.groupForNewItems()
        try checkAddable(dialect)
        let schema = try resolvedClass().schema
        var attributes = try dropping(dialect).convertedAttributes(schema)
        let group = try newGroup(accessGroups) ?? defaultGroup
        try Self.checkStorable(attributes, onToken: onToken != nil)
        let accessControl = try newAccessControl(attributes, schema.itemClass, group: group)
        attributes[.accessible] = nil
        attributes[.accessGroup] = .string(group)
        attributes.fillDefaults(schema)
        attributes.stamp(created: date, modified: date)
        return try placingOnToken(
            Item(itemClass: schema.itemClass, attributes: attributes, accessControl: accessControl, value: value))
    }

    private func checkAddable(_ dialect: Engine.Dialect) throws(KeychainError) {
        try checkNoItemList()
        try checkNoSearchKeys(dialect)
        try checkDoesNotSkip()
        if let persistentReference, persistentReference.id == nil {
            throw KeychainError(.invalidParameter, "A new item gets a new persistent reference; leave it out.")
        }
    }

    /// The named group. Apple compares the group as it was given, so a group given as bytes is a foreign group.
    private func newGroup(_ accessGroups: AccessGroups) throws(KeychainError) -> String? {
        guard let given = attributes[.accessGroup] else { return nil }
        guard case .string(let group) = given else { throw AccessGroups.foreign }
        try accessGroups.checkMayWrite(group)
        return group
    }

    private func newAccessControl(
        _ attributes: Attributes, _ itemClass: ItemClass, group: String
    ) throws(KeychainError) -> AccessControl {
        let requested: AccessControl? =
            if let protection { try AccessControl(.whenUnlocked).applying(protection) } else { accessControl }
        if let requested {
            try requested.checkStorable(synchronizable: attributes.isSynchronizable)
            return requested
        }
        guard let given = attributes[.accessible] else {
            return AccessControl(Self.defaultAccessibility(itemClass, group: group))
        }
        return AccessControl(try given.storableAccessibility())
    }

    /// Apple's rule: certificates and items of the push service are always open, the latter only on this device. All
    /// other items have class `ak`.
    private static func defaultAccessibility(_ itemClass: ItemClass, group: String) -> Accessibility {
        if group == "com.apple.apsd" { return .alwaysThisDeviceOnly }
        return itemClass == .certificate ? .always : .whenUnlocked
    }

    /// Refuses items that could never be found, or that would not be protected as requested.
    ///
    /// - Parameter onToken: Whether a token has made a key for the item.
    static func checkStorable(_ attributes: Attributes, onToken: Bool = false) throws(KeychainError) {
        if let token = attributes[.tokenID], token != .string(""), !onToken {
            throw KeychainError(
                .unsupported,
                "Only new keys of a token can be stored with its identifier (kSecAttrTokenID), not other items or keys."
            )
        }
        if let tombstone = attributes[.tombstone], tombstone != .number(0) {
            throw KeychainError(.unsupported, "This keychain does not store tombstones.")
        }
    }
}

extension AccessControl {
    func checkStorable(synchronizable: Bool) throws(KeychainError) {
        if flags != nil, synchronizable {
            throw KeychainError(.invalidParameter, "An item with access control flags cannot be synchronizable.")
        }
        // With only the passphrase as proof, these items would be open to more people than the caller intended.
        guard (flags ?? []).isDisjoint(with: [.biometryAny, .biometryCurrentSet, .companion]) else {
            throw KeychainError(
                .unavailable,
                "There is no sensor for biometry and no companion device here; nothing was stored. "
                    + "Use the access control flags `userPresence` or `devicePasscode`.")
        }
    }
}

extension AttributeValue {
    /// The class to store an item in. Apple's class "until reboot" cannot be stored.
    func storableAccessibility() throws(KeychainError) -> Accessibility {
        guard let accessibility else {
            throw KeychainError(.invalidParameter, "Items cannot be stored in that accessibility class.")
        }
        return accessibility
    }
}

extension Attributes {
    fileprivate mutating func fillDefaults(_ schema: Schema) {
        for rule in schema.rules where self[rule.attribute] == nil {
            self[rule.attribute] = rule.defaultValue
        }
        // These are the same for every item of a single user's keychain. Results contain them, but they are not stored.
        self[.tombstone] = nil
        self[.multiUser] = nil
        if self[.sharingGroup] == .string("") { self[.sharingGroup] = nil }
    }

    /// Sets the dates and a new digest.
    ///
    /// Apple's digest is a hash over the item including the secret, so anyone who sees it can test guesses of the
    /// secret. Here it is 20 random bytes that change with every write. They only show that an item has changed.
    mutating func stamp(created: Date?, modified: Date) {
        if let created { self[.creationDate] = .date(created.timeIntervalSinceReferenceDate) }
        self[.modificationDate] = .date(modified.timeIntervalSinceReferenceDate)
        var digest = Data(count: 20)
        digest.withUnsafeMutableBytes(fillWithRandomBytes)
        self[.digest] = .data(digest)
    }
}
