// SPDX-License-Identifier: Apache-2.0
// What a carrier or a member may make large: nothing of it overflows, is unreadable once stored, or keeps others out.

import Foundation
import KeychainCrypto
import Testing

@testable import KeychainSyncCore

struct BoundsTests {
    // MARK: - Numbers

    @Test(arguments: [UInt64.max, UInt64.max - 1, Bounds.number + 1])
    func name_withANumberNearTheEnd_isNone(_ number: UInt64) {
        #expect(ObjectName("h/\(MemberID.random().hex)/\(number.hex)") == nil)
        #expect(ObjectName("l/\(WriterID(7).hex)/\(number.hex)") == nil)
    }

    @Test func namesWithTheLargestNumber_listed_changeNothing() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        try world.head(0)
        world.look(1)
        let before = world.machines
        for id in [world.machines[0].member, world.machines[1].member] {
            world.carrier[.head(id, Bounds.number)] = Data()
        }
        for writer in [world.machines[0].writer, world.machines[1].writer, WriterID(9)] {
            world.carrier[.segment(writer, Bounds.number)] = Data()
        }
        for index in [0, 1] {
            world.look(index)
            #expect(world.machines[index].writer == before[index].writer)
            #expect(world.machines[index].items == before[index].items)
        }
        try world.write(0, ["a": "2"])
        try world.upload(0)
        try world.head(0)
        world.look(1)
        #expect(try world.shown(1, "a") == "2")
    }

    // MARK: - Writers

    private static func invented(_ range: Range<UInt64>) -> VersionVector {
        VersionVector(Dictionary(uniqueKeysWithValues: range.map { (WriterID($0 + 1), 1) }))
    }

    private func head(_ number: UInt64, _ vector: VersionVector, of machine: Replica) throws -> (ObjectName, Data) {
        let epoch = try machine.keyring.keys(of: machine.ring.current)
        let header = HeadHeader(ring: machine.log.id, epoch: epoch.id, member: machine.member, number: number)
        let head = Head(
            previous: .zero, tips: machine.log.tips, time: .zero, digest: .zero, count: 0, vector: vector)
        return (.head(machine.member, number), try head.sealed(header, keys: epoch, signer: machine.keys))
    }

    private func loaded(_ replica: Replica) throws -> Replica {
        let copy = try Replica(
            stored: replica.changes(since: nil).written, keys: replica.keys, keyring: replica.keyring)
        #expect(copy.changes(since: nil).written == replica.changes(since: nil).written)
        return copy
    }

    @Test func headsThatNameInventedWriters_leaveTheStateReadable_andOthersHeard() throws {
        var world = try World(3)
        world.look(1)
        let liar = world.machines[2]
        let most = UInt64(Bounds.writers)
        for round in UInt64(0)..<4 {
            let (name, bytes) = try head(round + 1, Self.invented(round * most..<(round + 1) * most), of: liar)
            world.give(1, name, bytes)
            world.machines[1] = try loaded(world.machines[1])
        }
        try world.write(0, ["a": "1"])
        try world.upload(0)
        try world.head(0)
        world.look(1)
        #expect(try world.shown(1, "a") == "1")
        #expect(world.machines[1].claims.covers(Dot(writer: world.machines[0].writer, counter: 1)))
        #expect(
            !world.findings[1].contains {
                if case .refused(.head(world.machines[0].member, _), _) = $0 { true } else { false }
            })
        world.machines[1] = try loaded(world.machines[1])
    }

    /// A vector that names more than there is room for beside what is known.
    @Test func headBesideWhatIsKnown_thatIsTooLong_isRefused() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(1)
        world.machines[1].claims[world.machines[0].writer] = 1
        let (name, bytes) = try head(1, Self.invented(0..<UInt64(Bounds.writers)), of: world.machines[0])
        world.give(1, name, bytes)
        #expect(world.findings[1] == [.refused(name, .tooLarge)])
        _ = try loaded(world.machines[1])
    }

    private func snapshot(_ logs: Range<UInt64>, of machine: Replica, by author: MemberID) throws -> (ObjectName, Data)
    {
        let epoch = try machine.keyring.keys(of: machine.ring.current)
        let id = SnapshotID.random()
        let header = SnapshotHeader(ring: machine.log.id, epoch: epoch.id, id: id)
        let tips = logs.map { (WriterID($0 + 1), LogTip(author: author, counter: 1, number: 1, hash: .zero)) }
        let manifest = try SnapshotManifest(
            author: machine.member, tips: machine.log.tips, time: .zero, digest: Bytes32(SetSum.zero.bytes), count: 0,
            logs: Dictionary(uniqueKeysWithValues: tips), parts: []
        ).signed(header, by: machine.keys)
        return (.snapshot(id, part: 0), try manifest.sealed(header, keys: epoch))
    }

    @Test func snapshotsThatStandForInventedLogs_leaveTheStateReadable_andOthersHeard() throws {
        var world = try World(3)
        world.look(1)
        let liar = world.machines[2]
        let size = UInt64(Bounds.writersOfMemberInSnapshots)
        for (round, author) in (0..<3).map({ world.machines[$0].member }).enumerated() {
            let first = UInt64(round) * size
            let (name, bytes) = try snapshot(first..<first + size, of: liar, by: author)
            world.give(1, name, bytes)
            #expect(world.findings[1].isEmpty)
            let (more, moreBytes) = try snapshot(100_000 + first..<100_001 + first, of: liar, by: author)
            world.give(1, more, moreBytes)
            #expect(world.findings[1] == [.refused(more, .tooLarge)])
            world.findings[1] = []
        }
        let (unknown, bytes) = try snapshot(900_000..<900_001, of: liar, by: .random())
        world.give(1, unknown, bytes)
        #expect(world.findings[1] == [.refused(unknown, .notAMember)])
        world.machines[1] = try loaded(world.machines[1])
        try world.write(1, ["b": "2"])
        try world.upload(1)
        #expect(world.machines[1].items.vector.counters.count == 3 * Int(size) + 1)
        world.machines[1] = try loaded(world.machines[1])
    }

    /// A log of one segment without records, signed and under the right keys.
    private func segment(_ writer: WriterID, of machine: Replica) throws -> (ObjectName, Data) {
        let epoch = try machine.keyring.keys(of: machine.ring.current)
        let batch = Batch(
            writer: writer, after: 0, through: 1, time: .zero, vector: VersionVector(), contexts: [], entries: [])
        let header = SegmentHeader(ring: machine.log.id, epoch: epoch.id, writer: writer, number: 1, previous: .zero)
        let body = SegmentBody(continues: false, author: machine.member, tips: machine.log.tips, piece: batch.bytes)
        return (.segment(writer, 1), try body.sealed(header, keys: epoch, signer: machine.keys))
    }

    @Test func memberWithManyWriters_isHeardUpToTheBound_andCanBeRemoved() throws {
        var world = try World(3)
        world.look(1)
        let liar = world.machines[2]
        let all = try (1...UInt64(Bounds.writersOfMember) + 3).map { try segment(WriterID($0), of: liar) }
        world.carryOut(world.machines[1].received(all, at: world.now), 1)
        #expect(world.machines[1].logs.count == Bounds.writersOfMember)
        #expect(world.findings[1].count { if case .refused(_, .tooLarge) = $0 { true } else { false } } == 3)
        world.carryOut(try world.machines[1].remove([liar.member], at: world.now), 1)
        #expect(!world.machines[1].ring.isActive(liar.member))
        world.machines[1] = try loaded(world.machines[1])
    }

    @Test func machineWithoutRoomForItsWriter_refusesToWrite_andStaysReadable() throws {
        var world = try World(1)
        var machine = world.machines[0]
        let full = VersionVector(
            Dictionary(uniqueKeysWithValues: (0..<UInt64(Bounds.writers)).map { (WriterID($0 + 1), 1) }))
        machine.items = MergedItems([], full, machine.keyring.ring)
        world.machines[0] = machine
        #expect(throws: Refusal.tooLarge) { try world.write(0, ["a": "1"]) }
        _ = try loaded(world.machines[0])
    }

    // MARK: - The outbox

    private func entry(_ item: UInt64, _ counter: UInt64) -> (record: SealedRecord, context: VersionVector) {
        let id = SyncID(withUnsafeBytes(of: item) { Array($0) } + [UInt8](repeating: 0, count: 8))
        let header = RecordHeader(
            kind: .value, item: id, dot: Dot(writer: WriterID(1), counter: counter), time: .zero, accessibility: 6,
            context: .zero)
        let record = SealedRecord(
            header: header, author: .random(), epoch: EpochID(number: 1, entry: .random()), sealed: Data())
        return (record, VersionVector())
    }

    /// As a machine does that enters a ring with so many items: with a scan for each it would take half an hour.
    @Test(.timeLimit(.minutes(60))) func outbox_ofManyItemsOneByOne_keepsTheNewestOfEach() {
        var outbox = Outbox()
        let items: UInt64 = 20_000
        for counter in 1...2 * items { outbox.add([entry(counter % items, counter)]) }
        #expect(outbox.count == Int(items))
        let entries = outbox.entries
        #expect(entries.map(\.record.header.dot.counter) == Array(items + 1...2 * items))
        #expect(Set(entries.map(\.transaction)).count == Int(items))
    }

    @Test func outbox_joinsTransactionsThatShareItems_andNoOthers() {
        var outbox = Outbox()
        outbox.add([entry(1, 1), entry(2, 2), entry(3, 3)])
        outbox.add([entry(4, 4), entry(5, 5)])
        outbox.add([entry(6, 6)])
        outbox.add([entry(3, 7), entry(5, 8)])
        let transactions = Dictionary(
            uniqueKeysWithValues: outbox.entries.map { ($0.record.header.dot.counter, $0.transaction) })
        #expect(transactions.keys.sorted() == [1, 2, 4, 6, 7, 8])
        #expect(Set([1, 2, 4, 7, 8].map { transactions[$0] }).count == 1)
        #expect(transactions[6] != transactions[1])
        // A whole transaction that was overwritten joins nothing.
        outbox.add([entry(6, 9)])
        #expect(outbox.entries.last?.transaction == outbox.lastTransaction)
        let copy = Outbox(outbox.entries.reversed(), lastTransaction: outbox.lastTransaction)
        #expect(copy == outbox)
    }
}
