// SPDX-License-Identifier: Apache-2.0
// The changes of a transaction that the head counts.

import Foundation
import KeychainCrypto

/// The number of rows and the sum of their digests; for a change, modulo 2^64 and 2^256.
struct RowTotal: Equatable {
    var count: UInt64 = 0
    var sum = SetSum.zero

    mutating func add(_ digest: SetSum) {
        count &+= 1
        sum = sum + digest
    }

    mutating func remove(_ digest: SetSum) {
        count &-= 1
        sum = sum - digest
    }

    static func + (lhs: RowTotal, rhs: RowTotal) -> RowTotal {
        RowTotal(count: lhs.count &+ rhs.count, sum: lhs.sum + rhs.sum)
    }
}

/// What only a vault in a ring has: the entries of the outbox, and all other rows.
struct RingTotals: Equatable {
    var outbox = RowTotal()
    var others = RowTotal()
}

/// Collects what one transaction adds and removes. The compiler enforces that each change of a row is reported here:
/// ``WriteTransaction`` offers no other way to write.
final class RowChanges {
    /// The changes so far; a part of the transaction that is undone sets the former ones again.
    struct Total {
        fileprivate(set) var items = RowTotal()
        fileprivate(set) var lookups = RowTotal()
        /// Modulo 2^64.
        fileprivate(set) var quarantined: UInt64 = 0
        /// Entries of the outbox, and all other rows that only a vault in a ring has.
        fileprivate(set) var outbox = RowTotal()
        fileprivate(set) var ring = RowTotal()
        fileprivate(set) var move = RingMove?.none
        /// The keybag that the transaction wrote.
        fileprivate(set) var keybag: Data?
        fileprivate(set) var isEmpty = true
    }

    enum RingMove {
        case entered, left
    }

    var total = Total()
    private var digests: RowDigests?
    private var isPrepared = false
    private let prepare: () throws -> RowDigests?

    /// - Parameter prepare: Runs before the first change, and may refuse it. If it returns no digests, no sums are
    ///   kept: the head is then computed from all rows after the changes.
    init(_ prepare: @escaping () throws -> RowDigests?) { self.prepare = prepare }

    /// Call it before a change.
    func begin() throws {
        try check()
        total.isEmpty = false
    }

    /// What ``begin()`` refuses, for a transaction that may change nothing in the end.
    func check() throws {
        guard !isPrepared else { return }
        digests = try prepare()
        isPrepared = true
    }

    /// Whether sums of changes are kept, once the first change has begun. If not, traces are not needed.
    var areAddedUp: Bool { digests != nil }

    func added(item trace: @autoclosure () -> RowTrace) {
        if let digests { total.items.add(digests.digest(trace().bytes)) }
    }

    func removed(item trace: @autoclosure () -> RowTrace) {
        if let digests { total.items.remove(digests.digest(trace().bytes)) }
    }

    func added(lookup trace: @autoclosure () -> RowTrace) {
        if let digests { total.lookups.add(digests.digest(trace().bytes)) }
    }

    func removed(lookup trace: @autoclosure () -> RowTrace) {
        if let digests { total.lookups.remove(digests.digest(trace().bytes)) }
    }

    func added(outgoing trace: @autoclosure () -> RowTrace) {
        if let digests { total.outbox.add(digests.digest(trace().bytes)) }
    }

    func removed(outgoing trace: @autoclosure () -> RowTrace) {
        if let digests { total.outbox.remove(digests.digest(trace().bytes)) }
    }

    func added(ofRing trace: @autoclosure () -> RowTrace) {
        if let digests { total.ring.add(digests.digest(trace().bytes)) }
    }

    func removed(ofRing trace: @autoclosure () -> RowTrace) {
        if let digests { total.ring.remove(digests.digest(trace().bytes)) }
    }

    /// The tables of a ring are made, or removed with all rows.
    func moved(_ move: RingMove) { (total.outbox, total.ring, total.move) = (RowTotal(), RowTotal(), move) }

    func quarantined(_ rows: Int) { total.quarantined &+= UInt64(bitPattern: Int64(rows)) }

    func wrote(keybag bytes: Data) { total.keybag = bytes }
}
