// SPDX-License-Identifier: Apache-2.0
// The head: what a vault holds altogether, so that nothing can be taken out of it or put back unnoticed.

import Foundation
import KeychainCrypto

/// How many changes a vault has seen, how many rows it has, and what their digests add up to.
///
/// It is stored sealed: two sums of known rows, side by side, would show what other rows have the same sum.
struct Head: Equatable {
    /// One more with each acceptance of a vault that was not as its head said.
    var epoch: UInt64 = 1
    /// One more with each committed change.
    var sequence: UInt64 = 0
    var items = RowTotal()
    var lookups = RowTotal()
    var quarantined: UInt64 = 0
    /// SHA-256 of the keybag in use.
    var keybag = Data(count: 32)

    private static let version: UInt8 = 1

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 144)
        writer.append(Self.version)
        for number in [epoch, sequence, items.count, lookups.count, quarantined] { writer.append(bigEndian: number) }
        writer.append(items.sum.bytes)
        writer.append(lookups.sum.bytes)
        writer.append(keybag)
        return writer.bytes
    }

    init(keybag: Data) { self.keybag = Checksum.sha256(keybag) }

    init(bytes: Data) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        guard try reader.number(UInt8.self) == Self.version else { throw MalformedBytes() }
        (epoch, sequence) = (try reader.number(), try reader.number())
        (items.count, lookups.count, quarantined) = (try reader.number(), try reader.number(), try reader.number())
        items.sum = SetSum(bytes: try reader.bytes(SetSum.length))
        lookups.sum = SetSum(bytes: try reader.bytes(SetSum.length))
        keybag = try reader.bytes(32)
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

    /// Whether the vault was in this state before it was in the other one, or is in the same.
    func isOlder(than mark: HeadMark) -> Bool { (epoch, sequence) < (mark.epoch, mark.sequence) }

    var mark: HeadMark { HeadMark(epoch: epoch, sequence: sequence) }
}

/// Which of a vault's states is meant.
struct HeadMark: Equatable {
    let epoch: UInt64
    let sequence: UInt64
}
