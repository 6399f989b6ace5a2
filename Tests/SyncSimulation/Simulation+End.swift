// SPDX-License-Identifier: Apache-2.0
// The end of a run: faults stop, all machines exchange, and all must match the oracle.

import Foundation
import KeychainSyncCore

extension Simulation {
    /// Everything arrives, all machines exchange, and the responsible ones write snapshots and make new keys.
    mutating func settle() throws {
        for index in devices.indices { devices[index].awayUntil = 0 }
        for round in 0..<14 {
            // After a few rounds, what is missing counts as lost.
            now += 120_000
            meet()
            for index in devices.indices {
                for _ in 0..<3 { try look(index, .never, hides: 0) }
                try upload(index, .never)
            }
            meet()
            if round > 2 { try tidy() }
        }
    }

    mutating func meet() {
        for index in carriers.indices { carriers[index].forgetRemovals() }
        for to in carriers.indices {
            for from in carriers.indices where from != to {
                carriers[to].receive(from: carriers[from], share: 1, &random)
            }
        }
    }

    /// One machine at a time, as the order of turns would have it.
    private mutating func tidy() throws {
        for index in devices.indices {
            let replica = devices[index].disk.replica
            guard replica.ring.mayWrite(replica.member) else { continue }
            if replica.ring.needsRotation {
                try perform(index, .never) { replica, _ in try replica.rotate() }
                return
            }
            if replica.needsSnapshot, replica.isPublished { return try snapshot(index, .never) }
        }
    }

    /// A machine that joins then has only the keys of the current epoch, and what the carrier holds. It must have everything.
    mutating func admitOneMore() throws {
        let sponsors = devices.indices.filter {
            let replica = devices[$0].disk.replica
            return replica.ring.mayWrite(replica.member)
        }
        guard let sponsor = sponsors.randomElement(using: &random) else { return }
        let count = devices.count
        try join(by: sponsor)
        try check(devices.count == count + 1, "nobody joined")
        for _ in 0..<2 {
            meet()
            for index in devices.indices {
                for _ in 0..<3 { try look(index, .never, hides: 0) }
            }
        }
        let newest = devices[count].disk.replica
        try check(newest.ring.isActive(newest.member), "nobody let the newest machine in")
    }

    func compare() throws {
        let active = devices.map(\.disk).filter { $0.replica.ring.isActive($0.replica.member) }
        guard let first = active.first?.replica else { throw Violation(description: "nobody is left") }
        let expected = archive.expected(within: first.items.vector)
        for disk in active {
            let replica = disk.replica
            try check(replica.ring.counted == first.ring.counted, "ring logs differ")
            try check(replica.ring.current == first.ring.current, "epochs differ")
            try check(
                replica.items.vector == first.items.vector,
                "vectors differ: \(replica.items.vector) \(first.items.vector)")
            try check(state(replica) == expected, "items differ from the oracle's")
            try check(replica.items.digest == first.items.digest, "digests differ")
            try check(replica.outbox.isEmpty, "something was not uploaded")
            try check(!replica.needsSnapshot, "a snapshot is missing")
        }
        try checkThatNothingIsLost(active, first)
    }

    private func state(_ replica: Replica) -> [SyncID: Set<Dot>] {
        Dictionary(grouping: replica.items.records.map(\.header), by: \.item).mapValues { Set($0.map(\.dot)) }
    }

    /// Every acknowledged write of an active member has arrived, unless the same machine wrote the item again first.
    private func checkThatNothingIsLost(_ active: [SimulatedDevice.Disk], _ first: Replica) throws {
        // A machine that was restored from a backup has lost later writes, and repeats unpublished ones under other
        // dots.
        let arrived = archive.writes.values.filter { first.items.vector.covers($0.record.header.dot) }
        let published = Set(arrived.map { $0.content.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } })
        let deleted = Dictionary(
            grouping: arrived.filter { $0.record.header.kind == .deletion }, by: \.record.author)
        for disk in active {
            for (write, item) in disk.acknowledged where !published.contains(write) {
                let isReplaced =
                    disk.acknowledged.contains { $0.key > write && $0.value == item }
                    || deleted[disk.replica.member]?.contains { $0.record.header.item == item } == true
                try check(isReplaced, "write \(write) was lost")
            }
        }
    }

    private func check(_ condition: Bool, _ what: String) throws {
        if !condition { throw Violation(description: what) }
    }
}
