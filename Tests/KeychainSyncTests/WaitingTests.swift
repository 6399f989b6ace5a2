// SPDX-License-Identifier: Apache-2.0
// What members can make others keep although it never can be applied: it is bounded, and keeps nothing else back.

import Foundation
import KeychainCrypto
import Testing

@testable import KeychainSyncCore

struct WaitingTests {
    /// The third one makes up logs and snapshots that never are complete. The second one keeps what it can.
    private static func world() throws -> World {
        var world = try World(3)
        world.look(1)
        return world
    }

    // MARK: - Segments

    /// The first segments of made-up logs, each of a transaction that never is complete.
    private func flood(_ writers: ClosedRange<UInt64>, _ world: World) throws -> [(name: ObjectName, bytes: Data)] {
        let liar = world.machines[2]
        let epoch = try liar.keyring.keys(of: liar.ring.current)
        let piece = [UInt8](repeating: 0, count: SegmentBody.room(tips: liar.log.tips.count))
        return try writers.map { number in
            let writer = WriterID(number)
            let header = SegmentHeader(ring: liar.log.id, epoch: epoch.id, writer: writer, number: 1, previous: .zero)
            let body = SegmentBody(continues: true, author: liar.member, tips: liar.log.tips, piece: piece)
            return (.segment(writer, 1), try body.sealed(header, keys: epoch, signer: liar.keys))
        }
    }

    private func size(_ replica: Replica) -> Int {
        replica.waiting.logs.values.flatMap(\.values).reduce(0) { $0 + $1.bytes.count }
    }

    @Test func segmentsOfInventedWriters_takeBoundedMemory() throws {
        var world = try Self.world()
        world.carryOut(world.machines[1].received(try flood(1...80, world), at: world.now), 1)
        #expect(size(world.machines[1]) <= Bounds.waiting)
        #expect(size(world.machines[1]) > Bounds.waiting / 2)
    }

    @Test func segment_afterMoreThanThereIsRoomFor_isApplied() throws {
        var world = try Self.world()
        for (name, bytes) in try flood(1...150, world) { world.carrier[name] = bytes }
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(1)
        #expect(try world.shown(1, "a") == "1")
        #expect(size(world.machines[1]) <= Bounds.waiting)
    }

    @Test func transaction_whoseSegmentsComeOneAfterTheOther_isApplied_whileOthersWait() throws {
        var world = try Self.world()
        try world.write(0, ["a": String(repeating: "a", count: 2 * Bounds.object)])
        let parts = try world.machines[0].seal(at: world.now).compactMap { effect -> (name: ObjectName, bytes: Data)? in
            if case .write(let name, let bytes) = effect { (name, bytes) } else { nil }
        }
        try #require(parts.count == 3)
        for objects in [
            try flood(1...40, world), try flood(41...80, world) + parts[..<2], try flood(81...120, world) + parts[2...],
        ] {
            world.carryOut(world.machines[1].received(objects, at: world.now), 1)
        }
        #expect(try world.shown(1, "a") != nil)
    }

    /// More than there is room for follows a write that comes last.
    @Test func segmentsThatHadNoRoom_areReadAgain_andAllApplied() throws {
        var world = try Self.world()
        try world.write(0, ["first": "1"])
        try world.upload(0)
        world.look(2)
        let value = String(repeating: "a", count: 900_000)
        for number in 0..<80 {
            try world.write(2, ["\(number)": value])
            try world.upload(2)
        }
        let hidden = Set(world.segments(of: 0))
        world.look(1, hiding: hidden.contains)
        #expect(world.machines[1].items.count == 0)
        #expect(size(world.machines[1]) <= Bounds.waiting)
        world.look(1)
        #expect(world.machines[1].items.count == 81)
        #expect(size(world.machines[1]) == 0)
    }

    @Test func logsThatHadNoRoom_areStillToldAsStalled() throws {
        var world = try Self.world()
        for (name, bytes) in try flood(1...100, world) { world.carrier[name] = bytes }
        world.look(1)
        _ = world.machines[1].overdue(at: world.now)
        let noted = Set(world.machines[1].stalled.keys)
        #expect(noted.count > 50)
        world.look(1)
        let effects = world.machines[1].overdue(at: world.now + Observations.grace)
        let told = effects.compactMap { if case .found(.stalled(let writer, _)) = $0 { writer } else { nil } }
        #expect(noted.isSubset(of: told.map { .segment($0, 1) }))
    }

    // MARK: - Snapshots

    private static let part = Data([1])

    /// The manifest of a snapshot whose parts are all the same.
    ///
    /// - Parameter writer: Of the log that it stands for, up to its third segment.
    private func manifest(
        _ parts: Int, _ world: World, writer: WriterID = WriterID(1)
    ) throws -> (id: SnapshotID, bytes: Data) {
        let (liar, id) = (world.machines[2], SnapshotID.random())
        let epoch = try liar.keyring.keys(of: liar.ring.current)
        let header = SnapshotHeader(ring: liar.log.id, epoch: epoch.id, id: id)
        let tip = LogTip(author: liar.member, counter: 3, number: 3, hash: .zero)
        let manifest = try SnapshotManifest(
            author: liar.member, tips: liar.log.tips, time: .zero, digest: Bytes32(SetSum.zero.bytes), count: 0,
            logs: [writer: tip], parts: [ObjectHash](repeating: .hash(of: Self.part), count: parts)
        ).signed(header, by: liar.keys)
        return (id, try manifest.sealed(header, keys: epoch))
    }

    private func names(_ id: SnapshotID, _ parts: Int) -> [ObjectName] {
        (0...parts).map { .snapshot(id, part: UInt16($0)) }
    }

    @Test func partsOfSnapshotsThatAreNeverWhole_takeBoundedMemory() throws {
        var world = try Self.world()
        for _ in 0..<3 {
            let (id, bytes) = try manifest(Bounds.parts, world)
            world.give(1, .snapshot(id, part: 0), bytes)
            let parts = names(id, Bounds.parts - 1).dropFirst().map { (name: $0, bytes: Self.part) }
            world.carryOut(world.machines[1].received(parts, at: world.now), 1)
        }
        let kept = world.machines[1].snapshots.values.reduce(0) { $0 + $1.parts.count }
        #expect(kept > 0 && kept <= Bounds.parts + Bounds.snapshotParts)
    }

    /// The snapshots of which a machine reads parts, listing after listing, although none ever comes.
    private func turns(_ sizes: [(parts: Int, listed: Int)], _ count: Int) throws -> [[Int]] {
        var (world, ids, all) = (try Self.world(), [SnapshotID](), Set<ObjectName>())
        for size in sizes {
            let (id, bytes) = try manifest(size.parts, world)
            world.give(1, .snapshot(id, part: 0), bytes)
            ids.append(id)
            all.formUnion(names(id, size.listed))
        }
        let listing = Listing(names: world.listing().names.union(all))
        var turns: [[Int]] = []
        for _ in 0..<count {
            var read: Set<SnapshotID> = []
            for case .read(let names) in world.machines[1].listed(listing, at: world.now) {
                for case .snapshot(let id, _) in names { read.insert(id) }
            }
            turns.append(ids.indices.filter { read.contains(ids[$0]) })
        }
        return turns
    }

    @Test func smallSnapshotsAndALargeOne_areReadTogether() throws {
        #expect(try turns([(100, 100), (300, 300), (100, 100)], 1) == [[0, 1, 2]])
    }

    @Test func snapshotsForWhichThereIsNoRoom_haveTheirTurn() throws {
        #expect(try turns([(300, 300), (301, 301), (302, 302)], 4) == [[0], [1], [2], [0]])
    }

    @Test func snapshotThatIsWhole_isReadBeforeOneThatIsNot() throws {
        #expect(try turns([(300, 299), (301, 301)], 1) == [[1]])
    }

    /// The snapshot comes first, since the log may have two ends.
    @Test func logOfASnapshotThatIsNeverWhole_isToldAsStalledAfterTheGrace() throws {
        var world = try Self.world()
        let writer = world.machines[0].writer
        let (id, bytes) = try manifest(1, world, writer: writer)
        world.carrier[.snapshot(id, part: 0)] = bytes
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(1)
        #expect(try world.shown(1, "a") == nil)
        #expect(world.machines[1].overdue(at: world.now) == [])
        #expect(
            world.machines[1].overdue(at: world.now + Observations.grace) == [.found(.stalled(writer, number: 1))])
    }
}
