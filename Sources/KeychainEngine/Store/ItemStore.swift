// SPDX-License-Identifier: Apache-2.0
// The interface between the engine and a store: four calls, each one transaction.

public import Foundation

/// The items that an operation applies to. All conditions must match exactly.
public struct Selection: Sendable {
    /// `nil` only if `id` is given.
    public var itemClass: ItemClass?
    public var id: PersistentReference?
    /// Attributes that must be equal, each value converted to its attribute's kind.
    public var conditions: Attributes
    /// The access groups to search; `nil` for all but ``AccessGroups/internalGroup``.
    public var groups: [String]?
    /// Matches servers that equal this host or are subdomains of it.
    public var host: String?
    /// Whether items that require authentication are left out, unless the existing proofs or the application password of
    /// the context open them. The user is not asked.
    public var skipsConstrained = false
    /// Whether items that require authentication are returned with only their name unless the existing proofs open them
    /// (``StoredItem/listingEntry``). The user is not asked. A store that cannot do that asks the user if that is
    /// allowed, and otherwise leaves such items out. Without effect if values are requested.
    public var namesConstrained = false
    /// Whether a search without a limit leaves out locked items and counts them (``SelectedItems/locked``). If no other item
    /// is found it is `locked`, as without this. A store that cannot count them throws `locked`.
    package var leavesOutLocked = false
    /// Whether values of keys on tokens are included, which are the objects of their tokens. If not, such keys are
    /// returned without a value, and no proofs are required for them. Those that the keychain uses by itself and never gives out
    /// have no value in any case.
    public var opensTokenKeys = false
    /// Whether the latter are included too, for their use.
    package var opensKeysOfKeychain = false

    /// Whether the value of a key on a token is read.
    package func opensKey(_ item: Item) -> Bool { item.isOfKeychain ? opensKeysOfKeychain : opensTokenKeys }

    public init(
        itemClass: ItemClass?, id: PersistentReference? = nil, conditions: Attributes = Attributes(),
        groups: [String]? = nil, host: String? = nil
    ) {
        self.itemClass = itemClass
        self.id = id
        self.conditions = conditions
        self.groups = groups
        self.host = host
    }

    /// Whether `stored` is selected by a request without proofs. Stores narrow the candidates by their indexes first,
    /// then call this.
    public func matches(_ stored: StoredItem) -> Bool { matches(stored, Proofs()) }

    /// Whether `stored` is selected by a request with these proofs. Whether they open the item is left to the store.
    package func matches(_ stored: StoredItem, _ proofs: Proofs) -> Bool {
        let item = stored.item
        if let itemClass, item.itemClass != itemClass { return false }
        if let id, id.itemClass != item.itemClass || id.id != stored.id { return false }
        if skipsConstrained, !proofs.suffice(for: item.needsToBeFound) { return false }
        return item.attributes.look { isInGroups($0) && holdsConditions(item, $0) } && holdsHost(item)
    }

    /// An access group that is not text counts as the empty one.
    private func isInGroups(_ attributes: Attributes.Look) -> Bool {
        attributes.withText(of: .accessGroup) { own in
            guard let groups else { return !Self.isSame(AccessGroups.internalGroup, own) }
            return groups.contains { Self.isSame($0, own) }
        }
    }

    private static func isSame(_ group: String, _ own: UnsafeRawBufferPointer?) -> Bool {
        var group = group
        return group.withUTF8 { UnsafeRawBufferPointer($0).hasSameBytes(as: own) }
    }

    private func holdsConditions(_ item: Item, _ attributes: Attributes.Look) -> Bool {
        let schema = item.itemClass.schema
        for (attribute, wanted) in conditions {
            guard let rule = schema[attribute] else { return false }
            switch attribute {
            case .accessible, .tombstone, .multiUser:
                guard let value = item[attribute], wanted.matches(value, as: rule.kind) else { return false }
            default: guard Self.holds(wanted, rule, attributes) else { return false }
            }
        }
        return true
    }

    /// The same as ``AttributeValue/matches(_:as:)`` without making a value of the stored bytes.
    private static func holds(_ wanted: AttributeValue, _ rule: Schema.Rule, _ attributes: Attributes.Look) -> Bool {
        attributes.withLookupBytes(of: rule.attribute, as: rule.kind) { stored in
            // In the primary key, absent and empty are the same.
            guard let stored else { return rule.keyPart != .none && wanted.matches(.string(""), as: rule.kind) }
            return wanted.withLookupBytes(as: rule.kind) { $0.hasSameBytes(as: stored) }
        }
    }

    private func holdsHost(_ item: Item) -> Bool {
        guard let host else { return true }
        guard case .string(let server) = item[.server] else { return false }
        return server.isIdentical(to: host) || server.utf8.reversed().starts(with: ("." + host).utf8.reversed())
    }
}

/// The result of a search, and the number of items that could not be read.
public struct SelectedItems: Sendable {
    public var items: [StoredItem]
    /// The number of items that may match and cannot be opened. They are never returned, and never treated as absent.
    public var damaged: Int
    /// The number of items that may match and can be opened only on another device.
    public var ofAnotherDevice: Int
    /// The number of items that may match and are locked; 0 unless ``Selection/leavesOutLocked``.
    package var locked = 0

    public init(items: [StoredItem], damaged: Int = 0, ofAnotherDevice: Int = 0) {
        self.items = items
        self.damaged = damaged
        self.ofAnotherDevice = ofAnotherDevice
    }

    /// The error for a search that found only items that cannot be opened; `nil` if other items were found, or none at
    /// all.
    public var failure: KeychainError? {
        guard items.isEmpty else { return nil }
        if damaged > 0 { return .damagedItem }
        return ofAnotherDevice > 0 ? .itemOfAnotherDevice : nil
    }
}

/// The calls on items of a store or of a transaction.
///
/// Conformers keep the primary key unique (``Schema/primaryKey``, compared by ``AttributeValue/lookupBytes(as:)``) and
/// report each kind of failure with its own ``KeychainError/Reason``. They do not open items of locked classes
/// (``Accessibility/isOpen(in:)``), and open constrained items only with the proofs that these require
/// (``AccessControl/needs``).
public protocol ItemOperations {
    /// The selected items in the order of ``ItemOrder``: the first `limit` of them (`nil`: all). Without
    /// `includingValues` the values are left out; the result then does not show whether an item has a value.
    ///
    /// Damaged items do not count towards the limit.
    ///
    /// - Throws: `locked` if an item that matches, or may match, is locked, even if the limit excludes it; the errors
    ///   of ``Authorization/satisfying(_:_:)`` if one of them is constrained, with or without values.
    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems

    /// Adds an item and returns its new identity.
    ///
    /// - Throws: `locked` if its class is locked; `duplicateItem` if an item with the same primary key exists, which
    ///   stays as it is.
    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem

    /// Replaces every selected item, including its value, by the result of `change`. If one replacement fails, no item
    /// is changed. Returns the items before the change, in the order of ``ItemOrder``.
    ///
    /// - Parameter change: May be called several times for one item.
    /// - Throws: The errors of `change`; `duplicateItem`; `unsupported` if the store cannot make the whole update one
    ///   transaction; the errors of ``select(_:limit:includingValues:_:)``.
    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems

    /// Removes every selected item and returns the number of removed items. It opens no values, needs no proofs, and
    /// works while items are locked.
    ///
    /// - Parameter authorization: Only its `Authorization.gate` is used. The user is not asked.
    /// - Throws: `corrupt` if nothing was removed, but an item that cannot be opened may have matched; `locked` if it
    ///   cannot be known while an item is locked whether it matches.
    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int
}

extension ItemOperations {
    /// Removes every selected item. This call cannot be ended from outside.
    public func delete(_ selection: Selection) throws(KeychainError) -> Int { try delete(selection, .none) }
}

/// A store of items. Each call is one transaction: it is complete and durable when it returns, or nothing has happened.
///
/// A store enters `Authorization.gate` directly before it commits, so that nothing happens after the call has ended.
public protocol ItemStore: ItemOperations, Sendable {
    /// This store if it can make several calls one transaction; `nil` if each call is its own transaction. The default
    /// follows the type's conformance. A store over another store returns `nil` if that store does.
    var transactional: (any TransactionalStore)? { get }

    /// The lock state of the store for this process.
    var lockState: LockState { get throws(KeychainError) }

    /// Calls `body` after any process may have changed items or the lock state, until the observation is released.
    ///
    /// The observer must find out what has changed. Several changes may be reported in one call. Calls come one after
    /// another, on a thread on which the store may be used. Every change after this returns is reported.
    ///
    /// - Throws: `unsupported` if the store does not notice changes.
    func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation

    /// The differences between the selected items now and those known from before. The user is not asked, and no value
    /// is opened.
    ///
    /// A store that notices changes should find the differences without opening unchanged items. The default
    /// implementation does not see items that require authentication, and reports an item as removed when it starts to
    /// require it.
    ///
    /// - Parameter known: The known versions of items.
    /// - Throws: `locked` if this cannot be known while the store is locked.
    func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences

    /// Verifies passphrases; `nil` if the store has none.
    var userVerifier: (any UserVerifier)? { get }
}

extension ItemStore {
    public var transactional: (any TransactionalStore)? { self as? any TransactionalStore }

    public var lockState: LockState {
        get throws(KeychainError) { .unlocked }
    }

    public func observe(_: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        throw KeychainError(.unsupported, "This store cannot observe changes.")
    }

    public var userVerifier: (any UserVerifier)? { nil }
}
