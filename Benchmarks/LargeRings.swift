// SPDX-License-Identifier: Apache-2.0
// What the number of machines of a ring costs one of them: opening the ring log, and new keys for all.

import Foundation
import KeychainServices
import KeychainSyncCore

/// Rings of more and more machines that one machine has admitted, without a carrier. Only processor time grows with the
/// number of machines; what is on the carrier is counted.
func measureLargeRings() throws {
    print("rings of many machines")
    for count in [10, 100, 1_000, 4_000] { try LargeRing(count).measure() }
}

private struct LargeRing {
    private let count: Int
    private let ringKeys: RingKeys
    private let founder: DeviceKeys
    private let founderID: MemberID
    private let newest: DeviceKeys
    private let entries: [RingEntry]
    private let log: RingLog
    /// Whose root key is that of the first epoch.
    private let keyring: Keyring

    init(_ count: Int) throws {
        (self.count, founder, newest) = (count, .make(), .make())
        founderID = try founder.publicKeys().member
        var founded: RingLog
        let change: RingChange
        (founded, ringKeys, change) = try RingLog.found(name: "machine 0", keys: founder)
        var entries = change.entries
        for number in 1..<count {
            let keys = number == count - 1 ? newest : DeviceKeys.make()
            let card = MemberCard(role: .reader, keys: try keys.publicKeys(), name: "machine \(number)")
            let entry = RingEntry(
                ring: founded.id, parents: [entries[number - 1].hash], author: founderID, action: .add(card))
            entries.append(try entry.signed(by: founder))
        }
        guard founded.insert(entries).isEmpty else { throw BenchError(status: errSecInternalComponent) }
        var keyring = Keyring(ring: ringKeys)
        keyring.add(change.keys, root: change.root)
        (self.entries, log, self.keyring) = (entries, founded, keyring)
    }

    func measure() throws {
        let sealed = try entries.map { try $0.sealed(with: ringKeys) }
        var joined = log
        let card = MemberCard(role: .reader, keys: try newest.publicKeys(), name: "machine \(count - 1)")
        let wrap = try joined.admit(card, keyring, author: founderID, signer: founder).wrap.bytes
        let opening = try Self.micros {
            let opened = try OpenedRing(log.id, tips: log.tips, for: newest, wraps: [wrap], entries: sealed)
            guard opened.log.ring.active.count == count else { throw BenchError(status: errSecInternalComponent) }
        }
        var wraps = 0
        let renewal = try Self.micros {
            var log = log
            wraps = try log.rotate(ringKeys, author: founderID, signer: founder).wraps.reduce(0) { $0 + $1.bytes.count }
        }
        print("  \(count) machines")
        Row(name: "  the log opened by one that joins", micros: opening, floor: nil, base: 1).print()
        Row(name: "  new keys for all", micros: renewal, floor: nil, base: 1).print()
        print("    bytes of the log \(sealed.reduce(0) { $0 + $1.count }), of new keys \(wraps)")
    }

    /// The least of three: nothing else varies than what the machine does meanwhile.
    private static func micros(_ body: () throws -> Void) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<3 {
            let start = ContinuousClock.now
            try body()
            least = min(least, (ContinuousClock.now - start) / .microseconds(1))
        }
        return least
    }
}
