// SPDX-License-Identifier: Apache-2.0
// What the engine needs of a store: four calls, each one transaction.

/// Which items an operation is about: every condition holds exactly.
public struct Selection: Sendable {
    /// `nil` only if `id` is given.
    public var itemClass: ItemClass?
    public var id: PersistentReference?
    /// Conditions of equality, each value converted to its attribute's kind.
    public var conditions: Attributes
    /// The access groups that are searched; `nil` for all.
    public var groups: [String]?
    /// The server equals this host or ends in a dot and this host.
    public var host: String?
    /// Items that ask for the user or a password are left out.
    public var skipsConstrained = false

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

    /// Whether `stored` is selected. Stores narrow the candidates by their indexes and then ask this.
    public func matches(_ stored: StoredItem) -> Bool {
        let item = stored.item
        if let itemClass, item.itemClass != itemClass { return false }
        if let id, id.itemClass != item.itemClass || id.id != stored.id { return false }
        if skipsConstrained, !item.accessControl.needs.isEmpty { return false }
        if let groups, !groups.contains(where: { $0.isIdentical(to: item.accessGroup) }) { return false }
        return holdsConditions(item) && holdsHost(item)
    }

    private func holdsConditions(_ item: Item) -> Bool {
        let schema = item.itemClass.schema
        for (attribute, wanted) in conditions {
            guard let rule = schema[attribute] else { return false }
            // In the primary key, absent and empty are the same.
            guard let value = item[attribute] ?? (rule.keyPart == .none ? nil : .string("")) else { return false }
            guard wanted.matches(value, as: rule.kind) else { return false }
        }
        return true
    }

    private func holdsHost(_ item: Item) -> Bool {
        guard let host else { return true }
        guard case .string(let server) = item[.server] else { return false }
        return server.isIdentical(to: host) || server.utf8.reversed().starts(with: ("." + host).utf8.reversed())
    }
}

/// What a search found, and how many items it could not read.
public struct SelectedItems: Sendable {
    public var items: [StoredItem]
    /// Items that may be meant and cannot be opened: never returned, never counted as absent.
    public var damaged: Int

    public init(items: [StoredItem], damaged: Int = 0) {
        self.items = items
        self.damaged = damaged
    }
}

/// A place that keeps items. Each call is one transaction: all of it is durable when it returns, or none of it happened.
///
/// Conformers keep the primary key unique (``Schema/primaryKey``, compared by ``AttributeValue/lookupBytes(as:)``) and report each way of failing by its own ``KeychainFailure/Reason``.
/// They keep each item closed while its class is (``Accessibility/isOpen(in:)``), and open constrained items only with the
/// proofs that these ask for (``AccessControl/needs``).
public protocol ItemStore: Sendable {
    /// The items selected, in no particular order, at most `limit` of them (`nil`: all). Without `includingValues` the
    /// values are left out, which also says nothing about whether an item has one.
    ///
    /// - Throws: `locked` if one of the items is, or may be, meant and closed; what ``Authorization/satisfying(_:isNew:_:)``
    ///   throws if one of them is constrained, values included or not.
    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainFailure) -> SelectedItems

    /// Adds an item and returns its new identity.
    ///
    /// - Throws: `locked` if its class is closed; `duplicateItem` if an item with the same primary key is there, which is left
    ///   as it is.
    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainFailure) -> StoredItem

    /// Replaces every selected item by what `change` makes of it, values included; if one fails, none is changed.
    /// Returns the items before the change.
    ///
    /// - Parameter change: May be asked several times for one item.
    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainFailure) -> Item
    ) throws(KeychainFailure) -> SelectedItems

    /// Removes every selected item and returns how many there were. Works without opening values, without proofs, and
    /// while items are locked.
    ///
    /// - Throws: `corrupt` if there was none, but one that cannot be opened and so may have been meant; `locked` if whether
    ///   an item is meant cannot be told while it is closed.
    func delete(_ selection: Selection) throws(KeychainFailure) -> Int

    /// Who tells a right passphrase from a wrong one; `nil` for a store that has none.
    var userVerifier: (any UserVerifier)? { get }
}

extension ItemStore {
    public var userVerifier: (any UserVerifier)? { nil }
}
