// SPDX-License-Identifier: Apache-2.0
// What the engine needs of a store: four calls, each one transaction.

public import Foundation

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
    /// Nobody is asked for items that ask for the user or a password: of those that nothing proven opens nothing but the name
    /// is shown (``StoredItem/sighting``). A store that cannot do that asks if it may, and else leaves them out. Without effect if values are asked for.
    public var namesConstrained = false

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
    /// The same of items for another device alone, which are whole.
    public var ofAnotherDevice: Int

    public init(items: [StoredItem], damaged: Int = 0, ofAnotherDevice: Int = 0) {
        self.items = items
        self.damaged = damaged
        self.ofAnotherDevice = ofAnotherDevice
    }

    /// Why there are no items, if some may be meant that cannot be opened; `nil` if some were found, or there are none.
    public var obstacle: KeychainError? {
        guard items.isEmpty else { return nil }
        if damaged > 0 { return .damagedItem }
        return ofAnotherDevice > 0 ? .itemOfAnotherDevice : nil
    }
}

/// The calls on items that a store answers, and within a transaction the transaction.
///
/// Conformers keep the primary key unique (``Schema/primaryKey``, compared by ``AttributeValue/lookupBytes(as:)``) and report
/// each way of failing by its own ``KeychainError/Reason``. They keep each item closed while its class is
/// (``Accessibility/isOpen(in:)``), and open constrained items only with the proofs that these ask for (``AccessControl/needs``).
public protocol ItemOperations {
    /// The items selected, in no particular order, at most `limit` of them (`nil`: all). Without `includingValues` the
    /// values are left out, which also says nothing about whether an item has one.
    ///
    /// - Throws: `locked` if one of the items is, or may be, meant and closed; what ``Authorization/satisfying(_:_:)``
    ///   throws if one of them is constrained, values included or not.
    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems

    /// Adds an item and returns its new identity.
    ///
    /// - Throws: `locked` if its class is closed; `duplicateItem` if an item with the same primary key is there, which is left
    ///   as it is.
    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem

    /// Replaces every selected item by what `change` makes of it, values included; if one fails, none is changed.
    /// Returns the items before the change.
    ///
    /// - Parameter change: May be asked several times for one item.
    /// - Throws: What `change` throws; `duplicateItem`; `unsupported` if the store cannot make all of it one transaction;
    ///   as ``select(_:limit:includingValues:_:)``.
    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems

    /// Removes every selected item and returns how many there were. Works without opening values, without proofs, and
    /// while items are locked.
    ///
    /// - Parameter authorization: Asks nobody; its `Authorization.gate` counts.
    /// - Throws: `corrupt` if there was none, but one that cannot be opened and so may have been meant; `locked` if whether
    ///   an item is meant cannot be told while it is closed.
    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int
}

extension ItemOperations {
    /// Removes every selected item, for a caller who waits until it is done.
    public func delete(_ selection: Selection) throws(KeychainError) -> Int { try delete(selection, .none) }
}

/// A place that keeps items. Each call is one transaction: all of it is durable when it returns, or none of it happened.
///
/// A store asks `Authorization.gate` directly before it commits, so that nothing happens after the call has ended.
public protocol ItemStore: ItemOperations, Sendable {
    /// Whether several calls can be made one transaction.
    var hasTransactions: Bool { get }

    /// Makes one transaction of all calls on what `body` is given: all of it is durable when this returns, or, if `body`
    /// throws, none of it happened.
    ///
    /// Nobody else writes meanwhile, so nobody is asked meanwhile either: where items want proofs, everything is taken back,
    /// the person is asked, and `body` runs again.
    ///
    /// - Parameter body: Must not use the store but through what it is given.
    /// - Throws: `unsupported` if the store has no transactions, what `body` throws, and what each call throws.
    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result

    /// How far the store is unlocked for this process.
    var lockState: LockState { get throws(KeychainError) }

    /// Calls `body` after items or the lock state may have changed, by whatever process, until the observation goes.
    ///
    /// What has changed is for the observer to find out. Several changes may be one call, and calls come one after another,
    /// on a thread on which the store may be used. What changes after this has returned is never missed.
    ///
    /// - Throws: `unsupported` if the store does not notice changes.
    func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation

    /// How the items that one of the selections means differ from those of an earlier look. Nobody is asked, and no value is
    /// opened. A store that notices changes should find them without opening what has not changed; one that does not
    /// answer this itself has its observers miss items that ask for the user or a password, and take one that begins to ask
    /// for removed.
    ///
    /// - Parameter known: The versions of the items of before.
    /// - Throws: `locked` if that cannot be told while the store is locked.
    func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences

    /// Who tells a right passphrase from a wrong one; `nil` for a store that has none.
    var userVerifier: (any UserVerifier)? { get }
}

extension ItemStore {
    public var hasTransactions: Bool { false }

    public func transaction<Result>(
        _: Authorization, _: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        throw KeychainError(
            .unsupported, "This store has no transactions over several items. Keep one record in one item.")
    }

    public var lockState: LockState {
        get throws(KeychainError) { .unlocked }
    }

    public func observe(_: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        throw KeychainError(.unsupported, "This store does not notice changes.")
    }

    public var userVerifier: (any UserVerifier)? { nil }
}
