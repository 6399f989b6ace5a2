// SPDX-License-Identifier: Apache-2.0
// Updates the head within the transaction that changes the rows.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// The head during one transaction: it is read and checked before the first change, and written once, directly before the
/// commit, if anything has changed.
final class HeadKeeper {
    /// Collects the changes of the transaction.
    private lazy var changes = RowChanges { [unowned self] in try prepare() }
    /// The interface for the body of the transaction.
    private(set) lazy var transaction = WriteTransaction(connection, changes)
    private let session: Session
    private let connection: Connection
    /// The random bytes of the transaction.
    let random = RandomBatch()
    /// `nil` if the session has compared the vault with it before.
    private let seen: SeenAnchors?
    /// The head to which the changes are added; `nil` if the head is computed from all rows.
    private var base: Head?
    private var next: (sealed: Data, head: Head)?
    private var keys: HeadKeys?
    /// The end of the WAL when the transaction began.
    private var start: WALHeader?
    /// Whether the transaction makes or removes tables.
    var changesFormat = false
    /// The size of the reserve before this transaction, with all its parts, enlarged it.
    private(set) var formerReserve: Int?

    /// Create it before the transaction begins: the anchors must not be newer than the state that the transaction sees.
    init(_ session: Session, _ connection: Connection) {
        (self.session, self.connection) = (session, connection)
        seen = session.knownHead.good == nil ? session.anchors.read() : nil
    }

    /// Call it when the transaction has begun: nobody else can commit any more.
    func began() { start = connection.walHeader }

    /// Whether there was no commit since the last one of this session, which left the keybag and the format unchanged.
    var isUnchanged: Bool { start != nil && start == session.knownHead.good?.end }

    /// - Throws: `rolledBack` if the vault differs from its head.
    private func prepare() throws -> RowDigests? {
        let keys = try openKeys()
        if let known = session.knownHead.good {
            base = isUnchanged ? known.head : try stillNewest(known, keys)
        } else {
            let look = try look(.quick)
            guard look.findings.isEmpty else { throw KeychainError.rolledBack(look.findings, session.location) }
            base = look.head
        }
        return base == nil ? nil : keys.rows
    }

    private enum Step {
        static let begin = SQL.kept("SAVEPOINT part")
        static let keep = SQL.kept("RELEASE part")
        static let undo = SQL.kept("ROLLBACK TO part")
    }

    /// Runs a part of the transaction. If it throws, only its own changes are undone.
    ///
    /// - Returns: Whether it has succeeded.
    /// - Throws: If SQLite has rolled back the whole transaction.
    func part(_ body: () throws -> Void) throws -> Bool {
        let before = changes.total
        try connection.execute(Step.begin)
        do {
            try body()
            try connection.execute(Step.keep)
            return true
        } catch {
            try connection.execute(Step.undo)
            try connection.execute(Step.keep)
            changes.total = before
            return false
        }
    }

    /// The totals that the head and the changes so far tell of the rows of a ring; `nil` if there is no head, or no ring.
    func ringTotals() throws -> RingTotals? {
        try changes.check()
        return base?.adding(changes.total).ring
    }

    /// - Throws: `rolledBack` if the vault differs from its head.
    func check() throws { try changes.check() }

    private func openKeys() throws -> HeadKeys {
        if let keys { return keys }
        let opened = try session.headKeys()
        keys = opened
        return opened
    }

    private func look(_ extent: HeadExamination.Extent) throws -> HeadExamination {
        try HeadExamination(session, connection, seen ?? session.anchors.read(), extent)
    }

    /// Another process may have written since; the head must then be a later one.
    private func stillNewest(_ known: KnownHead.Good, _ keys: HeadKeys) throws -> Head {
        let sealed = try HeadTable(connection).read()
        if sealed == known.sealed { return known.head }
        guard let head = sealed.flatMap({ Head(sealed: $0, keys) }) else {
            throw KeychainError.rolledBack([.unreadableHead], session.location)
        }
        guard !head.isOlder(than: known.head.mark) else {
            throw KeychainError.rolledBack(
                [.older(changes: known.head.sequence &- head.sequence)], session.location)
        }
        return head
    }

    /// Reserves the space in which a stored row can be removed.
    ///
    /// - Throws: `diskFull`.
    func reserveRemoval(ofRowOf bytes: Int) throws(KeychainError) {
        guard Reserve.size(forRowOf: bytes) > Reserve.size else { return }
        let former = try Reserve(session.location).cover(rowOf: bytes)
        formerReserve = formerReserve ?? former
    }

    /// Writes the head, and upgrades a vault of an older format. Call it directly before the commit.
    ///
    /// - Parameter addingIndex: Whether to upgrade to the newest format, whose index needs space that a removal on a
    ///   full disk does not have.
    func finish(addingIndex: Bool = true) throws {
        guard !changes.total.isEmpty else { return }
        if session.isOfFormerFormat { try VaultSchema.raise(connection, indexing: addingIndex) }
        let keys = try openKeys()
        var head = try base.map { $0.adding(changes.total) } ?? made(of: keys)
        if let keybag = changes.total.keybag { head.keybag = Checksum.sha256(keybag) }
        head.sequence &+= 1
        try store(head, keys)
    }

    private func store(_ head: Head, _ keys: HeadKeys) throws {
        let sealed = try keys.seal(head.bytes, random)
        try HeadTable(connection).write(sealed)
        next = (sealed, head)
    }

    /// The transaction for a repair of the index. If the vault differs from its head, the head stays unchanged:
    /// restored entries match it again, and other differences are not accepted.
    func repairingTransaction() throws -> WriteTransaction {
        try look(.wholeVault).findings.isEmpty ? transaction : WriteTransaction(connection, RowChanges { nil })
    }

    /// See ``HeadReport``.
    func state() throws -> Data { try HeadExamination.state(connection, openKeys()) }

    /// Makes a head for the present rows, later than all states that were seen. If what the vault stores about syncing was changed
    /// by others, the vault is in no ring any more.
    ///
    /// - Parameters:
    ///   - isRestored: Whether another state replaced the vault. Processes that have the vault open on a machine without
    ///     anchors then also see the new head as the later one.
    ///   - replaced: The stored head of that vault, if it has one.
    /// - Returns: The differences; if there are none, and nothing was restored, nothing is written.
    func accept(isRestored: Bool = false, replacing replaced: Data? = nil) throws -> [HeadFinding] {
        let keys = try openKeys()
        let look = try look(.wholeVault)
        guard !look.findings.isEmpty || isRestored && !look.isOfFormerFormat else { return [] }
        // Changes that somebody else has put there would be signed and sent.
        if look.findings.contains(.changed(.ring)) {
            try VaultSchema.removeRing(connection)
            changesFormat = true
        }
        try VaultSchema.raise(connection)
        var head = try made(of: keys)
        let former = replaced.flatMap { Head(sealed: $0, keys)?.mark }
        let marks = [look.head?.mark, former, (seen ?? session.anchors.read()).newest(keys)].compactMap { $0 }
        head.epoch = (marks.map(\.epoch).max() ?? 0) &+ 1
        head.sequence = (marks.map(\.sequence).max() ?? 0) &+ 1
        try store(head, keys)
        return look.findings
    }

    /// Computes the head from all rows.
    private func made(of keys: HeadKeys) throws -> Head {
        var head = Head(keybag: (session.keyState.authentic ?? session.keybag).bytes)
        try head.count(connection, keys)
        return head
    }

    /// Call it when the transaction is durable.
    func committed() {
        guard let next, let keys else { return }
        session.knownHead.good = KnownHead.Good(head: next.head, sealed: next.sealed, end: end)
        session.anchors.write(Anchor.bytes(next.head.mark, session.anchors.place, keys))
    }

    /// Call it when the WAL may have been truncated after the commit.
    func truncated() {
        guard let known = session.knownHead.good, let former = known.end, let end = connection.walHeader,
            end.hasSameCommits(as: former)
        else { return }
        session.knownHead.good = KnownHead.Good(head: known.head, sealed: known.sealed, end: end)
    }

    /// The end of the WAL after the commit, unless the session's view of the vault is outdated by it, or another process has
    /// committed since, without the writer lock.
    private var end: WALHeader? {
        guard changes.total.keybag == nil, !session.isOfFormerFormat, !changesFormat, let start,
            let end = connection.walHeader, end.directlyFollows(start)
        else { return nil }
        return end
    }
}

extension Head {
    fileprivate func adding(_ changes: RowChanges.Total) -> Head {
        var next = self
        next.items = items + changes.items
        next.lookups = lookups + changes.lookups
        next.quarantined = quarantined &+ changes.quarantined
        let ring: RingTotals? =
            switch changes.move {
            case .entered: RingTotals()
            case .left: nil
            case nil: ring
            }
        next.ring = ring.map { RingTotals(outbox: $0.outbox + changes.outbox, others: $0.others + changes.ring) }
        return next
    }
}
