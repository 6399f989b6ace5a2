// SPDX-License-Identifier: Apache-2.0
// The state of a write, and the calls on items within one transaction of the vault.

import CKeychainSQLite
import Foundation
import KeychainEngine

/// Lives as long as its transaction, on the thread that runs it.
final class VaultTransaction: ItemOperations {
    let session: Session
    let keeper: HeadKeeper
    /// The rows and the keybag, for reading and changing.
    var content: WriteTransaction { keeper.transaction }
    /// Whether the WAL must be truncated after commit because items were removed.
    var hasRemoved = false
    /// The bytes of the largest removed row, if the reserve is larger than all vaults need.
    private(set) var largestRemoved = 0
    private lazy var isReserveEnlarged = Reserve(session.location).isEnlarged
    private var hasStored = false
    /// Whether it needs hardly any space.
    var hasOnlyRemoved: Bool { hasRemoved && !hasStored }
    /// The authentication requirement because of which the last call failed.
    private(set) var requirement: UnmetRequirement?
    /// The failure of a call that had already written something: the transaction must not be committed, even if its
    /// body continues.
    private var damage: KeychainError?
    private var isEnded = false
    private let proofs: Proofs
    private let refusal: KeychainError?
    private let purpose: KeyState.Purpose
    private var openSealer: RowSealer?
    /// What other machines have to learn; `nil` if there are none, or while what comes from them is written.
    private(set) lazy var outgoing = session.isInRing ? OutgoingChanges(content.sync) : nil
    private var table: ItemTable { content.table }
    private var items: ItemWriter { content.items }

    /// - Parameters:
    ///   - refusal: The error of calls that store something, if there is only space for removing: ``WritePlan/refusal``.
    ///   - purpose: Whether an unlocked vault counts as used, so that it stays unlocked for longer.
    init(
        _ session: Session, _ keeper: HeadKeeper, _ proofs: Proofs, refusal: KeychainError? = nil,
        _ purpose: KeyState.Purpose = .using
    ) {
        (self.session, self.keeper, self.proofs) = (session, keeper, proofs)
        (self.refusal, self.purpose) = (refusal, purpose)
    }

    /// Call it at the end of the transaction: a caller may have kept the object.
    func end() { isEnded = true }

    /// Statements outside a transaction would each be committed by itself, without the head.
    ///
    /// - Throws: If the transaction must not be continued or committed.
    func checkUndamaged() throws(KeychainError) {
        // A child that was forked meanwhile has neither SQLite's locks, nor random bytes that its parent does not use.
        guard session.isOfThisProcess else { throw Vault.forkedInUse }
        if isEnded { throw .endedTransaction }
        if let damage { throw damage }
        guard items.connection.isInTransaction else { throw .lostTransaction }
    }

    /// Seals and opens rows; the same object until the transaction ends.
    ///
    /// - Throws: `locked` if not even the index is open.
    func sealer() throws(KeychainError) -> RowSealer {
        if let openSealer { return openSealer }
        let sealer = try session.keyState.sealer(purpose)
        openSealer = sealer
        return sealer
    }

    // MARK: - Calls

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try checkUndamaged()
        guard limit ?? 1 > 0 else { return SelectedItems(items: []) }
        let before = table.totalChangesCount
        do {
            return try found(selection, limit, .reading(includingValues: includingValues, proofs))
        } catch {
            throw failure(error, changesBefore: before)
        }
    }

    func insert(_ item: Item, _: Authorization) throws(KeychainError) -> StoredItem {
        try willStore()
        let before = table.totalChangesCount
        do { return try add(item) } catch { throw failure(error, changesBefore: before) }
    }

    func update(
        _ selection: Selection, _: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try willStore()
        let before = table.totalChangesCount
        do { return try replace(selection, change) } catch { throw failure(error, changesBefore: before) }
    }

    func delete(_ selection: Selection, _: Authorization) throws(KeychainError) -> Int {
        try checkUndamaged()
        hasRemoved = true
        let before = table.totalChangesCount
        do {
            let count = try remove(selection, .max)
            if count.deleted == 0, let failure = count.failure { throw failure }
            return count.deleted
        } catch {
            throw failure(error, changesBefore: before)
        }
    }

    private func willStore() throws(KeychainError) {
        try checkUndamaged()
        if let refusal { throw refusal }
        hasStored = true
    }

    /// Deletes a part of the selected items.
    ///
    /// - Parameter limit: How many at most, 1 or more.
    /// - Returns: How many; fewer than the limit if no others are left.
    func deleteSome(_ selection: Selection, limit: Int) throws(KeychainError) -> Int {
        try checkUndamaged()
        hasRemoved = true
        let before = table.totalChangesCount
        do { return try remove(selection, limit).deleted } catch { throw failure(error, changesBefore: before) }
    }

    /// The error of a call, as its caller sees it. ``Vault/commit(_:_:_:_:_:_:)`` translates the errors of all other steps.
    private func failure(_ error: any Error, changesBefore before: Int) -> KeychainError {
        let failure = DatabaseFailure.translated(error, session.location.databaseFile)
        // After some errors SQLite has rolled back everything.
        if table.totalChangesCount != before || !items.connection.isInTransaction { damage = failure }
        return failure
    }

    // MARK: - Steps

    private func found(_ selection: Selection, _ limit: Int?, _ purpose: Search.Purpose) throws -> SelectedItems {
        var search = Search(selection, try sealer(), purpose)
        try search.run(table, limit: limit)
        try stop(at: search.requirement)
        return search.found
    }

    private func add(_ item: Item) throws -> StoredItem {
        try checkNewProofs(item)
        let (sealer, rowID) = (try sealer(), try table.nextRowID())
        let id = sealer.makeID(rowID: rowID, keeper.random)
        let row = try sealer.seal(item, rowID: rowID, id: id, version: 1, proofs, keeper.random)
        try store(row, item, over: nil)
        return StoredItem(id: id, version: 1, item: item)
    }

    private func replace(
        _ selection: Selection, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws -> SelectedItems {
        var selection = selection
        // The row is sealed as a whole again.
        (selection.opensTokenKeys, selection.opensKeysOfKeychain) = (true, true)
        var found = try found(selection, nil, .reading(includingValues: true, proofs))
        let changes = try found.items.map { ($0, try $0.changed(by: change)) }
        for (_, item) in changes { try checkNewProofs(item) }
        for (stored, item) in changes { try replace(stored, by: item) }
        found.items = found.items.map(\.withoutKeyOfKeychain)
        return found
    }

    private func replace(_ stored: StoredItem, by item: Item) throws {
        let sealer = try sealer()
        let rowID = sealer.rowID(of: stored.id)
        let row = try sealer.seal(item, rowID: rowID, id: stored.id, version: stored.version + 1, proofs, keeper.random)
        try store(row, item, over: stored.item)
    }

    /// - Returns: How many rows, and the failure of those that may be selected and stay.
    private func remove(_ selection: Selection, _ limit: Int) throws -> (deleted: Int, failure: KeychainError?) {
        let sealer = try sealer()
        var search = Search(selection, sealer, .deleting)
        try search.run(table, limit: limit == .max ? nil : limit)
        for stored in search.found.items {
            let rowID = sealer.rowID(of: stored.id)
            try noteRemoval(rowID)
            try items.delete(rowID, lookups: sealer.digests.lookups(stored.item))
            if stored.item.isShared { try outgoing?.removed(rowID) }
        }
        let locked = search.locked.prefix(limit - search.found.items.count)
        for rowID in locked {
            try noteRemoval(rowID)
            try items.deleteClosed(rowID)
        }
        // Rows that cannot be opened here are kept, so that they can be restored once the key is available.
        let left = limit - search.found.items.count - locked.count
        let closed = (search.damagedByKey + search.ofAnotherDevice).prefix(left)
        for rowID in closed { try items.quarantine(rowID, at: Date()) }
        for rowID in locked + closed { try outgoing?.removed(rowID) }
        return (search.found.items.count + locked.count + closed.count, search.found.failure)
    }

    private func noteRemoval(_ rowID: Int64) throws {
        if isReserveEnlarged { largestRemoved = max(largestRemoved, try table.length(ofRow: rowID)) }
    }

    /// Writes a row whose primary key may be taken. If the row that holds the key does not open, it is moved to the
    /// quarantine and the write succeeds. Otherwise, also if the row is only locked, the write fails as a duplicate.
    ///
    /// - Parameter previous: The item that the row held before; `nil` for a new row.
    private func store(_ row: SealedRow, _ item: Item, over previous: Item?) throws {
        do {
            try write(row, item, over: previous)
        } catch let error as SQLiteFailure where error.group == SQLITE_CONSTRAINT {
            guard let key = row.key, let holder = try table.rowHolding(key) else { throw error }
            guard try !sealer().holds(holder) else {
                throw KeychainError(.duplicateItem, "An item with the same primary key exists. Update it instead.")
            }
            try items.quarantine(holder.rowID, at: Date())
            try outgoing?.forget(holder.rowID)
            try write(row, item, over: previous)
        }
    }

    private func write(_ row: SealedRow, _ item: Item, over previous: Item?) throws {
        try keeper.reserveRemoval(ofRowOf: row.metadata.count + (row.value?.count ?? 0))
        let digests = try sealer().digests
        if let previous {
            try items.replace(row, lookups: digests.lookups(item), previous: digests.lookups(previous))
        } else {
            try items.insert(row, lookups: digests.lookups(item))
        }
        try outgoing?.wrote(row.rowID, isShared: item.isShared, wasShared: previous?.isShared ?? false)
    }

    var connection: Connection { items.connection }

    /// Makes or removes the tables of a ring. Afterwards the vault is opened again.
    func move(_ move: RowChanges.RingMove) throws {
        keeper.changesFormat = true
        switch move {
        case .entered: try content.sync.makeTables()
        case .left: try content.sync.removeTables()
        }
    }

    /// Runs `body`, whose changes come from other machines and are not sent back.
    func withoutTelling<Result>(_ body: () throws(KeychainError) -> Result) throws(KeychainError) -> Result {
        let told = outgoing
        outgoing = nil
        defer { outgoing = told }
        return try body()
    }

    // MARK: - Proofs

    /// The password for a protected item must be known first. For an item that cannot be stored, the user should not be
    /// prompted.
    private func checkNewProofs(_ item: Item) throws {
        let missing = proofs.missing(item.accessControl.needs.intersection(.applicationPassword))
        guard !missing.isEmpty else { return }
        _ = try sealer().newestKeys(item.accessControl.accessibility)
        try stop(at: .needsNew(missing))
    }

    private func stop(at requirement: UnmetRequirement?) throws {
        self.requirement = requirement
        if requirement != nil { throw KeychainError.interactionNotAllowed }
    }
}

extension RowSealer {
    /// Whether the row holds an item that keeps its place.
    fileprivate func holds(_ row: SealedRow) -> Bool {
        do throws(UnreadableRow) {
            return try isWhole(row)
        } catch {
            switch error {
            case .locked, .ofAnotherDevice: return true
            case .damaged, .unknownKey, .refused: return false
            }
        }
    }
}

extension KeychainError {
    fileprivate static let endedTransaction = KeychainError(
        .invalidParameter, "The transaction has ended. Make its calls before its body returns.")
    fileprivate static let lostTransaction = KeychainError(
        .inputOutput, "The transaction was rolled back after an error. Nothing was changed. Try again.")
}
