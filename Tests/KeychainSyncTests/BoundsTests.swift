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
    @Test(.timeLimit(.minutes(10))) func outbox_ofManyItemsOneByOne_keepsTheNewestOfEach() {
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
