// SPDX-License-Identifier: Apache-2.0
// A carrier that lies about its work, floods or does not answer, and members with false numbers: attacks 27 to 30 and 37.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import KeychainVault
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

extension HostileCarrierTests {
    // MARK: - Numbers

    @Test func clock_tenYearsAhead_isNamed_andUndoesNothingThatHasSeenIt() async throws {
        let laptop = try await world.founder()
        let years: UInt64 = 10 * 365 * 86_400_000
        let desktop = try await world.join("desktop", by: laptop, ahead: years)
        let item = RingMemberTests.item("a")
        try await world.act(desktop) { replica, now in
            let id = replica.keyring.ring.item(SharedItem.primaryKey(item))
            let write = LocalWrite(item: id, .value(SharedItem.encode(item), accessibility: 6))
            _ = try replica.commit([write], at: now)
            return []
        }
        try await desktop.exchange()
        let (member, report) = (try await world.replica(desktop).member, try await laptop.exchange())
        #expect(report.findings.contains { if case .clockAhead(member, _) = $0 { true } else { false } })
        #expect(try laptop.items() == ["a=pushed"])
        try laptop.update("a", "seen it")
        try await world.settle(laptop, desktop)
        for machine in [laptop, desktop] { #expect(try machine.items() == ["a=seen it"]) }
        let clock = try await world.replica(laptop).clock.milliseconds
        #expect(clock < world.now + years / 2)
    }

    /// - Parameter waits: Whether it was repaired while the change was not sent yet.
    @Test(arguments: [false, true])
    func repairedMachine_whoseClockIsRightAgain_winsNoMore(_ waits: Bool) async throws {
        let laptop = try await world.founder()
        let fast = try await world.join("desktop", by: laptop, ahead: 10 * 365 * 86_400_000)
        try fast.add("a", "1")
        try await world.settle(fast, laptop)
        let desktop = try world.machine("desktop")
        if !waits {
            _ = try await desktop.member.repair()
            try await world.settle(desktop, laptop)
        }
        for (value, machine) in [("earlier", desktop), ("later", laptop)] {
            if waits, value == "later" { _ = try await desktop.member.repair() }
            world.advance(1000)
            var item = RingMemberTests.item("a")
            item.value = Data(value.utf8)
            try await world.act(machine) { [item] replica, now in
                let id = replica.keyring.ring.item(SharedItem.primaryKey(item))
                let write = LocalWrite(item: id, .value(SharedItem.encode(item), accessibility: 6))
                return [.changed(try replica.commit([write], at: now))]
            }
        }
        try await world.settle(laptop, desktop, laptop)
        for machine in [laptop, desktop] { #expect(try machine.items() == ["a=later"]) }
    }

    /// Of a writer that nobody has announced, and of one that exists and has written less.
    @Test(arguments: [false, true]) func vector_thatNamesWhatNeverWas_waitsAndIsNamed(_ isKnown: Bool) async throws {
        let (laptop, desktop) = try await world.synced()
        let attacker = try await world.replica(desktop)
        let writer = isKnown ? try await world.replica(laptop).writer : WriterID(99)
        let vector = VersionVector([writer: 500])
        let forged = try attacker.segment([], contexts: [], vector: vector)
        let view = try await world.view(laptop)
        view.replay(forged.bytes, as: forged.name)
        try await laptop.exchange()
        #expect(try await world.replica(laptop).items.vector[attacker.writer] == 0)
        #expect(try await world.replica(laptop).items.vector[writer] == (isKnown ? 1 : 0))
        world.advance(Observations.grace)
        #expect(try await laptop.exchange().missesWrites(of: writer))
        // It keeps nothing else back.
        let server = try await world.join("server", by: laptop)
        try server.add("b", "2")
        try await server.exchange()
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=1", "b=2"])
    }

    // MARK: - Floods

    @Test func objectLargerThanAnyMayBe_isRefused() async throws {
        let (laptop, desktop) = try await world.synced()
        let replica = try await world.replica(laptop)
        let huge = Data(count: 2 << 20)
        let names: [ObjectName] = [
            .segment(replica.writer, 2), .segment(WriterID(7), 1), .snapshot(.random(), part: 0),
            .head(replica.member, 900), .entry(Bytes32(Data.random(count: 32))),
        ]
        try await world.view(desktop).flood(Dictionary(uniqueKeysWithValues: names.map { ($0, [huge]) }))
        #expect(try await Set(desktop.exchange().refused(.tooLarge)) == Set(names))
        #expect(try desktop.items() == ["a=1"])
    }

    @Test(.timeLimit(.minutes(60))) func floodOfSmallObjects_keepsNothingBack() async throws {
        let (laptop, desktop) = try await world.synced()
        let replica = try await world.replica(laptop)
        var flood: HostileCarrier.Objects = [:]
        for number in UInt64(1)...1000 {
            let junk = [Data("junk \(number)".utf8)]
            flood[.segment(WriterID(number), 1)] = junk
            flood[.segment(replica.writer, 2 + number)] = junk
            flood[.head(replica.member, 900 + number)] = junk
            flood[.snapshot(.random(), part: 0)] = junk
            flood[.entry(Bytes32(Data.random(count: 32)))] = junk
        }
        try await world.view(desktop).flood(flood)
        try laptop.update("a", "2")
        try await laptop.exchange()
        for _ in 0..<2 { try await desktop.exchange() }
        #expect(try desktop.items() == ["a=2"])
        try desktop.add("b", "1")
        try await desktop.exchange()
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=2", "b=1"])
    }

    @Test func objectsGivenSeveralTimes_areAppliedOnce() async throws {
        let (laptop, desktop) = try await world.synced()
        try await world.view(desktop).repeat(3)
        try laptop.update("a", "2")
        try await laptop.exchange()
        let report = try await desktop.exchange()
        #expect(report.applied == 1)
        #expect(!report.tellsOfACopy)
        #expect(try desktop.items() == ["a=2"])
    }

    // MARK: - False answers

    /// Junk under the next number of a machine, then its segment under the same number.
    @Test(arguments: [false, true]) func junkBeforeASegment_keepsItBackFromNobody(_ isTold: Bool) async throws {
        let (laptop, desktop) = try await world.synced()
        let replica = try await world.replica(laptop)
        let view = try await world.view(desktop)
        if !isTold { view.tellNoContents() }
        let tip = try #require(replica.logs[replica.writer]?.tip)
        // Without a key for its epoch, a machine cannot tell whether it is one.
        let header = SegmentHeader(
            ring: replica.log.id, epoch: EpochID(number: 9, entry: .random()), writer: replica.writer,
            number: tip.number + 1, previous: tip.hash)
        view.forge(.segment(replica.writer, tip.number + 1), [Data(header.bytes) + Data(count: 900)])
        try laptop.update("a", "2")
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
        view.behave()
        if !isTold { view.tellNoContents() }
        for _ in 0..<2 { try await desktop.exchange() }
        #expect(try desktop.items() == ["a=2"])
    }

    @Test func publication_calledRefusedAndShownLater_isNoCopy() async throws {
        let (laptop, desktop) = try await world.synced()
        let view = try await world.view(laptop)
        let known = Set(try await world.segments(laptop))
        view.deny { _ in true }
        view.withhold { if case .segment = $0 { !known.contains($0) } else { false } }
        try laptop.update("a", "2")
        for _ in 0..<2 { #expect(try await !laptop.exchange().tellsOfACopy) }
        view.behave()
        try laptop.add("b", "1")
        for _ in 0..<2 { #expect(try await !laptop.exchange().tellsOfACopy) }
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2", "b=1"])
    }

    @Test func carrier_thatSaysItHasStoredAndHasNot_isNoticed() async throws {
        let (laptop, desktop) = try await world.synced()
        let (view, writer) = (try await world.view(laptop), try await world.replica(laptop).writer)
        view.loseEverything()
        try laptop.update("a", "2")
        try await laptop.exchange()
        #expect(try await laptop.exchange().sawLogGoBack(of: writer))
        view.behave()
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2"])
    }

    @Test func carrier_thatFailsAnyOfItsCalls_losesNothing() async throws {
        let (laptop, desktop) = try await world.synced()
        let view = try await world.view(laptop)
        try laptop.update("a", "2")
        view.fail(CarrierFailure(.inputOutput, "The test lets this call fail."))
        let error = await #expect(throws: KeychainError.self) { try await laptop.exchange() }
        #expect(error?.reason == .inputOutput)
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2"])
    }

    @Test func carrier_thatDoesNotAnswer_keepsNobodyFromReadingAndWriting() async throws {
        let (laptop, desktop) = try await world.synced()
        let view = try await world.view(laptop)
        view.hold()
        let exchange = Task { try await laptop.exchange() }
        try await yieldUntil("the call") { view.heldCount == 1 }
        try laptop.update("a", "2")
        #expect(try laptop.items() == ["a=2"])
        view.release()
        _ = try await exchange.value
        try await laptop.exchange()
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=2"])
    }
}
