// SPDX-License-Identifier: Apache-2.0
// What a transaction changes in the tables, as far as the head counts it.

import Foundation
import KeychainCrypto

/// How many rows, and the sum of their digests; of a change, modulo 2^64 and 2^256.
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

/// Collects what one transaction adds and takes away. Whatever changes a row reports it here, or it does not compile:
/// ``WriteTransaction`` gives out nothing else to write with.
final class RowChanges {
    private(set) var items = RowTotal()
    private(set) var lookups = RowTotal()
    /// Modulo 2^64.
    private(set) var quarantined: UInt64 = 0
    /// The keybag that was written.
    private(set) var keybag: Data?
    private(set) var isEmpty = true
    private var digests: RowDigests?
    private let prepare: () throws -> RowDigests?

    /// - Parameter prepare: Runs before the first change, and may refuse it. Without digests nothing is added up: the head
    ///   is then made of all rows when the changes are done.
    init(_ prepare: @escaping () throws -> RowDigests?) { self.prepare = prepare }

    /// To be called before a change.
    func begin() throws {
        guard isEmpty else { return }
        digests = try prepare()
        isEmpty = false
    }

    func added(item trace: RowTrace) { if let digests { items.add(digests.digest(trace.bytes)) } }

    func removed(item trace: RowTrace) { if let digests { items.remove(digests.digest(trace.bytes)) } }

    func added(lookup trace: RowTrace) { if let digests { lookups.add(digests.digest(trace.bytes)) } }

    func removed(lookup trace: RowTrace) { if let digests { lookups.remove(digests.digest(trace.bytes)) } }

    func quarantined(_ rows: Int) { quarantined &+= UInt64(bitPattern: Int64(rows)) }

    func wrote(keybag bytes: Data) { keybag = bytes }
}
