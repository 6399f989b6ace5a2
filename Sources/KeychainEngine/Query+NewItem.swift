// SPDX-License-Identifier: Apache-2.0
// From a request to a new item: defaults, dates, access group, access control.

import Foundation

extension Query {
    func newItem(caller: Caller, dialect: Engine.Dialect, at date: Date) throws(KeychainError) -> Item {
        let defaultGroup = try caller.groupForNewItems()
        try checkAddable(dialect)
        let schema = try resolvedClass().schema
        var attributes = try dropping(dialect).convertedAttributes(schema)
        let group = try newGroup(caller) ?? defaultGroup
        try Self.checkStorable(attributes)
        let accessControl = try newAccessControl(attributes, schema.itemClass, group: group)
        attributes[.accessible] = nil
        attributes[.accessGroup] = .string(group)
        attributes.fillDefaults(schema)
        attributes.stamp(created: date, modified: date)
        return Item(itemClass: schema.itemClass, attributes: attributes, accessControl: accessControl, value: value)
    }

    private func checkAddable(_ dialect: Engine.Dialect) throws(KeychainError) {
        try checkNoItemList()
        try checkNoSearchKeys(dialect)
        try checkDoesNotSkip()
        if let persistentReference, persistentReference.id == nil {
            throw KeychainError(.invalidParameter, "A new item gets a new persistent reference; leave it out.")
        }
        try checkReference(resolvedClass())
    }

    /// The group named; Apple looks at the group as given, so bytes that spell a group are a foreign one.
    private func newGroup(_ caller: Caller) throws(KeychainError) -> String? {
        guard let given = attributes[.accessGroup] else { return nil }
        guard case .string(let group) = given else { throw Caller.foreign }
        try caller.checkMayWrite(group)
        return group
    }

    private func newAccessControl(
        _ attributes: Attributes, _ itemClass: ItemClass, group: String
    ) throws(KeychainError) -> AccessControl {
        if let accessControl = try protection?.forNewItem ?? accessControl {
            try accessControl.checkStorable(synchronizable: attributes.isSynchronizable)
            return accessControl
        }
        guard let given = attributes[.accessible] else {
            return AccessControl(Self.defaultAccessibility(itemClass, group: group))
        }
        return AccessControl(try given.storableAccessibility())
    }

    /// Apple's rule: certificates are public, the push service runs before the first unlock, all else is class `ak`.
    private static func defaultAccessibility(_ itemClass: ItemClass, group: String) -> Accessibility {
        if group == "com.apple.apsd" { return .alwaysThisDeviceOnly }
        return itemClass == .certificate ? .always : .whenUnlocked
    }

    /// Refuses what would be stored and never found, or found and not protected as asked.
    static func checkStorable(_ attributes: Attributes) throws(KeychainError) {
        if let token = attributes[.tokenID], token != .string("") {
            throw KeychainError(.unsupported, "Items on a token (kSecAttrTokenID) are not supported.")
        }
        if let tombstone = attributes[.tombstone], tombstone != .number(0) {
            throw KeychainError(.unsupported, "Tombstones are not kept by this keychain.")
        }
    }
}

extension Protection {
    fileprivate var forNewItem: AccessControl {
        get throws(KeychainError) { try AccessControl(.whenUnlocked).applying(self) }
    }
}

extension AccessControl {
    func checkStorable(synchronizable: Bool) throws(KeychainError) {
        if flags != nil, synchronizable {
            throw KeychainError(.invalidParameter, "An item with access control flags cannot be synchronizable.")
        }
        // Stored with the passphrase alone as proof they would be open to whom the caller did not mean.
        guard (flags ?? []).isDisjoint(with: [.biometryAny, .biometryCurrentSet, .companion]) else {
            throw KeychainError(
                .unavailable,
                "There is no sensor for biometry and no companion device here; nothing was stored. "
                    + "Use the access control flags `userPresence` or `devicePasscode`.")
        }
    }
}

extension AttributeValue {
    /// The class to store an item in; one of Apple's names, "until reboot", cannot be stored in.
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
        // The same for every item of a single user's keychain: results show them, nothing stores them.
        self[.tombstone] = nil
        self[.multiUser] = nil
        if self[.sharingGroup] == .string("") { self[.sharingGroup] = nil }
    }

    /// Sets the dates and a fresh digest.
    ///
    /// Apple's digest is a hash over the item, secret included, so whoever sees it can test guesses of the secret. Here it
    /// is 20 random bytes, new with every write: good for telling that an item has changed, and for nothing else.
    mutating func stamp(created: Date?, modified: Date) {
        if let created { self[.creationDate] = .date(created.timeIntervalSinceReferenceDate) }
        self[.modificationDate] = .date(modified.timeIntervalSinceReferenceDate)
        var generator = SystemRandomNumberGenerator()
        let random = (generator.next(), generator.next(), generator.next())
        self[.digest] = .data(withUnsafeBytes(of: random) { Data($0.prefix(20)) })
    }
}
