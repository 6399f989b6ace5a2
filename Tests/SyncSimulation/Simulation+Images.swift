// SPDX-License-Identifier: Apache-2.0
// Machines that are restored without knowing it, and do in the end what the notices say.

import Foundation
import KeychainSyncCore

extension Simulation {
    /// A run in which some machines are restored from images of their disks. They use numbers again, so others follow them in different
    /// ways. In the end they join again, and so does whoever has other items than the first machine. Then all must have the same.
    ///
    /// - Returns: What happened, for statistics.
    package static func runWithImages(seed: UInt64) throws -> Counts {
        var simulation = try Simulation(seed: seed)
        simulation.imaging = SeededRandom(seed: seed &* 3)
        do {
            for step in 0..<simulation.random.pick([30, 80]) { try simulation.step(step) }
            try simulation.settle()
            try simulation.follow()
            try simulation.compareValues()
        } catch {
            throw Violation(description: "seed \(seed) with images: \(error)")
        }
        return simulation.counts
    }

    private mutating func follow() throws {
        for index in devices.indices where devices[index].isImage { try joinAgain(index) }
        for _ in devices.indices {
            guard let other = try firstThatDiffers() else { return }
            try joinAgain(other)
        }
    }

    private var active: [Int] {
        devices.indices.filter { devices[$0].disk.replica.ring.isActive(devices[$0].disk.replica.member) }
    }

    /// Leaves, is let in as another machine, and brings the items that it shows.
    private mutating func joinAgain(_ index: Int) throws {
        let old = devices[index].disk.replica
        guard old.ring.mayWrite(old.member), let sponsor = active.first(where: { $0 != index }) else { return }
        let shown = try values(old)
        let count = devices.count
        try join(by: sponsor)
        guard devices.count > count else { return }
        devices.swapAt(index, count)
        // The former machine is gone.
        devices.removeLast()
        for (item, content) in shown.sorted(by: { $0.key < $1.key }) {
            let write = LocalWrite(item: item, .value(content, accessibility: 6))
            _ = try devices[index].disk.replica.commit([write], at: devices[index].clock(now))
        }
        let member = old.member
        try perform(sponsor, .never) { replica, clock in
            replica.ring.isActive(member) ? try replica.remove([member], at: clock) : []
        }
        counts.add("joined again")
        try settle()
    }

    private func values(_ replica: Replica) throws -> [SyncID: [UInt8]] {
        var values: [SyncID: [UInt8]] = [:]
        for item in replica.items.items { values[item] = try replica.items[item].shown.map { try replica.open($0) } }
        return values
    }

    private func firstThatDiffers() throws -> Int? {
        guard let first = active.first else { return nil }
        let expected = try values(devices[first].disk.replica)
        return try active.dropFirst().first { try values(devices[$0].disk.replica) != expected }
    }

    private func compareValues() throws {
        if let other = try firstThatDiffers() { throw Violation(description: "machine \(other) has other items") }
        for index in active where !devices[index].disk.replica.outbox.isEmpty {
            throw Violation(description: "machine \(index) has not uploaded everything")
        }
    }
}
