// SPDX-License-Identifier: Apache-2.0
// Machines that are restored without knowing it, and join again as the notices say.

import Foundation
import KeychainSyncCore

extension Simulation {
    /// A run at whose end a machine is restored from an image of its disk, and nothing tells it so. It uses the numbers of writes again that
    /// others have seen, and then joins again. All must have the same.
    ///
    /// - Returns: What happened, for statistics.
    package static func runWithImage(seed: UInt64) throws -> Counts {
        var simulation = try Simulation(seed: seed)
        simulation.hasImages = true
        do {
            for step in 0..<simulation.random.pick([10, 30]) { try simulation.step(step) }
            try simulation.settle()
            guard let index = simulation.active.randomElement(using: &simulation.random) else { return Counts() }
            try simulation.restoreUnknowingly(index)
            // Others have looked in the meantime, or not.
            if simulation.random.chance(0.5) { try simulation.settle() }
            guard try simulation.joinAgain(index) else { return simulation.counts }
            try simulation.compareValues()
        } catch {
            throw Violation(description: "seed \(seed) with an image: \(error)")
        }
        return simulation.counts
    }

    private var active: [Int] {
        devices.indices.filter { devices[$0].disk.replica.ring.mayWrite(devices[$0].disk.replica.member) }
    }

    /// The machine writes, and all others see it. Its disk is put back, often with what is shared, and it writes again before others look.
    private mutating func restoreUnknowingly(_ index: Int) throws {
        let image = (disk: devices[index].disk, carriers: carriers)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            try write(index)
            try upload(index, .never)
        }
        meet()
        for other in devices.indices where other != index { try look(other, .never, hides: 0) }
        devices[index].disk = image.disk
        if random.chance(0.8) { carriers = image.carriers }
        counts.add("images")
        try write(index)
        try upload(index, .never)
    }

    /// Leaves, is let in as another machine, and brings the items that it shows.
    ///
    /// - Returns: `false` if nobody could let it in.
    private mutating func joinAgain(_ index: Int) throws -> Bool {
        let old = devices[index].disk.replica
        guard old.ring.mayWrite(old.member), let sponsor = active.first(where: { $0 != index }) else { return false }
        let (shown, count) = (try values(old), devices.count)
        // As the driver does: what the newcomer could take for something else, a snapshot tells it.
        meet()
        for _ in 0..<3 { try look(sponsor, .never, hides: 0) }
        if devices[sponsor].disk.replica.needsSnapshot { try snapshot(sponsor, .never) }
        try join(by: sponsor)
        guard devices.count > count else { return false }
        devices.swapAt(index, count)
        devices.removeLast()
        for (item, content) in shown.sorted(by: { $0.key < $1.key }) {
            let write = LocalWrite(item: item, .value(content, accessibility: 6))
            _ = try devices[index].disk.replica.commit([write], at: devices[index].clock(now))
        }
        counts.add("joined again")
        try settle()
        return true
    }

    private func values(_ replica: Replica) throws -> [SyncID: [UInt8]] {
        var values: [SyncID: [UInt8]] = [:]
        for item in replica.items.items { values[item] = try replica.items[item].shown.map { try replica.open($0) } }
        return values
    }

    private func compareValues() throws {
        guard let first = active.first else { return }
        let expected = try values(devices[first].disk.replica)
        for index in active where try values(devices[index].disk.replica) != expected {
            throw Violation(description: "machines \(first) and \(index) have other items")
        }
    }
}
