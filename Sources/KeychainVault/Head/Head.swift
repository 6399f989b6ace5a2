// SPDX-License-Identifier: Apache-2.0
// The head: a summary of a vault's contents, so that removed or restored rows are noticed.

import Foundation
import KeychainCrypto

/// The number of changes of a vault, the number of its rows, and the sum of their digests.
///
/// It is stored sealed: with two sums of known rows, an attacker could compute other rows with the same sum.
struct Head: Equatable {
    /// Incremented when a vault that differs from its head is accepted.
    var epoch: UInt64 = 1
    /// Incremented with each committed change.
    var sequence: UInt64 = 0
    var items = RowTotal()
    var lookups = RowTotal()
    var quarantined: UInt64 = 0
    /// SHA-256 of the keybag in use.
    var keybag = Data(count: 32)
    /// `nil` for a vault that is in no ring.
    var ring: RingTotals?

    /// That of a vault in a ring is one more.
    private static let version: UInt8 = 1

    var bytes: [UInt8] {
        FieldWriter.bytes(capacity: ring == nil ? 137 : 217) { writer in
            writer.put(ring == nil ? Self.version : Self.version + 1)
            writer.put(bigEndian: epoch)
            writer.put(bigEndian: sequence)
            writer.put(bigEndian: items.count)
            writer.put(bigEndian: lookups.count)
            writer.put(bigEndian: quarantined)
            items.sum.write(to: &writer)
            lookups.sum.write(to: &writer)
            writer.put(keybag)
            guard let ring else { return }
            writer.put(bigEndian: ring.outbox.count)
            ring.outbox.sum.write(to: &writer)
            writer.put(bigEndian: ring.others.count)
            ring.others.sum.write(to: &writer)
        }
    }

    init(keybag: Data) { self.keybag = Checksum.sha256(keybag) }

    init(bytes: Data) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        let version = try reader.number(UInt8.self)
        guard version == Self.version || version == Self.version + 1 else { throw MalformedBytes() }
        (epoch, sequence) = (try reader.number(), try reader.number())
        (items.count, lookups.count, quarantined) = (try reader.number(), try reader.number(), try reader.number())
        items.sum = SetSum(bytes: try reader.bytes(SetSum.length))
        lookups.sum = SetSum(bytes: try reader.bytes(SetSum.length))
        keybag = try reader.bytes(32)
        if version > Self.version { ring = RingTotals(outbox: try reader.total(), others: try reader.total()) }
        guard reader.isAtEnd else { throw MalformedBytes() }
    }

    /// - Returns: `nil` for bytes that are not a head of this vault.
    init?(sealed: Data, _ keys: HeadKeys) {
        do {
            self = try Head(bytes: keys.open(sealed))
        } catch {
            return nil
        }
    }

    /// Whether this state of the vault came before the other one.
    func isOlder(than mark: HeadMark) -> Bool { (epoch, sequence) < (mark.epoch, mark.sequence) }

    var mark: HeadMark { HeadMark(epoch: epoch, sequence: sequence) }
}

extension ByteReader {
    fileprivate mutating func total() throws(MalformedBytes) -> RowTotal {
        RowTotal(count: try number(), sum: SetSum(bytes: try bytes(SetSum.length)))
    }
}

/// Identifies one state of a vault.
struct HeadMark: Equatable {
    let epoch: UInt64
    let sequence: UInt64
}
