// SPDX-License-Identifier: Apache-2.0
// Hostile carriers and members: refused, noticed, or harmless.

import Foundation
import KeychainCrypto
import Testing

@testable import KeychainSyncCore

struct AttackTests {
    /// Two machines that have the same item, and the objects on the carrier.
    private func synced() throws -> World {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(1)
        try world.head(0)
        world.look(1)
        return world
    }

    @Test func names_ofTwoSegmentsSwapped_areRefused() throws {
        var world = try World(2)
        for value in ["1", "2"] {
            try world.write(0, ["a": value])
            try world.upload(0)
        }
        let names = world.segments(of: 0)
        let (first, second) = (world.carrier[names[0]], world.carrier[names[1]])
        (world.carrier[names[0]], world.carrier[names[1]]) = (second, first)
        world.look(1)
        #expect(world.machines[1].items.items.isEmpty)
        #expect(world.findings[1].contains(.refused(names[0], .wrongName)))
    }

    @Test func anyByteOfAnyObjectChanged_changesNothingElsewhere() throws {
        var world = try synced()
        try world.write(0, ["b": "2"])
        try world.upload(0)
        try world.snapshot(0)
        let before = world.machines[1]
        var random = 0
        for (name, bytes) in world.carrier.sorted(by: { $0.key < $1.key }) {
            for index in stride(from: random % 7, to: bytes.count, by: 41) {
                var (changed, machine) = (bytes, before)
                changed[index] ^= 4
                _ = machine.received([(name, changed)], at: world.now)
                #expect(machine.items == before.items)
                #expect(machine.ring.counted == before.ring.counted)
                random += 1
            }
        }
    }

    @Test func logCutAtItsEnd_isNoticed() throws {
        var world = try synced()
        let last = try #require(world.segments(of: 0).last)
        world.look(1, hiding: { $0 == last })
        #expect(world.findings[1].contains(.logWentBack(world.machines[0].writer, known: 1, shown: 0)))
        #expect(try world.shown(1, "a") == "1")
    }

    @Test func middleOfALogHidden_holdsBackTheRest_andIsNoticedAfterTheGrace() throws {
        var world = try synced()
        try world.upload(0, ["2", "3"], of: "a")
        let hidden = world.segments(of: 0)[1]
        try world.head(0)
        world.look(1, hiding: { $0 == hidden })
        #expect(try world.shown(1, "a") == "1")
        #expect(world.machines[1].overdue(at: world.now).isEmpty)
        let later = world.now + Observations.grace
        #expect(
            world.machines[1].overdue(at: later) == [.found(.withheld(world.machines[0].writer, counter: 3))])
        world.look(1)
        #expect(world.machines[1].overdue(at: later).isEmpty)
    }

    private func stalled(_ world: inout World, at now: UInt64) -> [Effect] {
        world.machines[1].overdue(at: now).filter { if case .found(.stalled) = $0 { true } else { false } }
    }

    @Test func segmentHidden_isNoticedAfterTheGrace_withoutAHead() throws {
        var world = try synced()
        try world.upload(0, ["2", "3"], of: "a")
        let hidden = world.segments(of: 0)[1]
        world.look(1, hiding: { $0 == hidden })
        let (now, later) = (world.now, world.now + Observations.grace)
        #expect(stalled(&world, at: now) == [])
        #expect(stalled(&world, at: later - 1) == [])
        #expect(stalled(&world, at: later) == [.found(.stalled(world.machines[0].writer, number: 2))])
        world.look(1)
        #expect(stalled(&world, at: later) == [])
    }

    /// It has gone on in between.
    @Test func segmentHidden_afterAnotherOneHasCome_isNoticedAfterTheGraceOfItsOwn() throws {
        var world = try synced()
        for value in ["2", "3", "4", "5"] {
            try world.write(0, ["a": value])
            try world.upload(0)
        }
        let names = world.segments(of: 0)
        world.look(1, hiding: { $0 == names[1] || $0 == names[3] })
        let (now, later) = (world.now, world.now + Observations.grace)
        #expect(stalled(&world, at: now) == [])
        world.look(1, hiding: { $0 == names[3] })
        #expect(try world.shown(1, "a") == "3")
        #expect(stalled(&world, at: later) == [])
        #expect(stalled(&world, at: later + Observations.grace).count == 1)
    }

    @Test func segmentHidden_ofARemovedMember_isNotNoticed() throws {
        var world = try World(3)
        for index in world.machines.indices { world.look(index) }
        world.carryOut(try world.machines[0].remove([world.machines[2].member], at: world.now), 0)
        world.look(1)
        for value in ["1", "2"] {
            try world.write(2, ["a": value])
            try world.upload(2)
        }
        let hidden = try #require(world.segments(of: 2).first)
        world.look(1, hiding: { $0 == hidden })
        let (now, later) = (world.now, world.now + Observations.grace)
        #expect(stalled(&world, at: now) == [])
        #expect(stalled(&world, at: later) == [])
    }

    /// The carrier guesses from the sizes which segments delete something.
    @Test func deletionsHidden_bringNothingBack_andAreNoticedAfterTheGrace() throws {
        var world = try synced()
        try world.write(0, ["a": nil])
        try world.upload(0)
        let deletion = try #require(world.segments(of: 0).last)
        try world.write(0, ["b": "2"])
        try world.upload(0)
        world.look(1, hiding: { $0 == deletion })
        // Later segments wait: no machine sees a state that never existed.
        #expect(try world.shown(1, "a") == "1" && world.shown(1, "b") == nil)
        try world.head(0)
        world.look(1, hiding: { $0 == deletion })
        let found = world.machines[1].overdue(at: world.now + Observations.grace)
        #expect(found.contains { if case .found(.withheld(world.machines[0].writer, _)) = $0 { true } else { false } })
        world.look(1)
        #expect(try world.shown(1, "a") == nil && world.shown(1, "b") == "2")
    }

    @Test func carrierRolledBack_isNoticedAndHealed_gapsIncluded() throws {
        var world = try synced()
        let old = world.carrier
        try world.write(0, ["b": "2"])
        try world.upload(0)
        world.look(1)
        let lost = try #require(world.segments(of: 0).last)
        world.carrier = old
        try world.write(0, ["c": "3"])
        try world.upload(0)
        #expect(world.carrier[lost] == nil)
        world.look(0)
        #expect(world.carrier[lost] != nil)
        // Also while a later one is there.
        #expect(world.findings[0].contains(.logWentBack(world.machines[0].writer, known: 3, shown: 1)))
        world.findings[0] = []
        world.carrier[lost] = nil
        world.carrier[world.segments(of: 0)[1]] = nil
        world.look(0)
        #expect(world.findings[0].contains(.logWentBack(world.machines[0].writer, known: 3, shown: 1)))
        try world.join()
        world.look(2)
        #expect(try world.shown(2, "c") == "3")
        #expect(try world.shown(2, "b") == "2")
    }

    @Test func carrierEmptied_isFilledAgainByWhoIsLeft() throws {
        var world = try synced()
        try world.snapshot(1)
        for index in [0, 1] { world.look(index) }
        #expect(world.segments(of: 0).isEmpty)
        world.carrier = [:]
        world.look(1)
        #expect(world.findings[1].contains { if case .snapshotMissing = $0 { true } else { false } })
        #expect(world.machines[1].needsSnapshot)
        try world.snapshot(1)
        world.look(1)
        #expect(!world.machines[1].needsSnapshot)
        try world.join()
        world.look(2)
        #expect(try world.shown(2, "a") == "1")
    }

    @Test func revisionThatGoesBack_isNoticed() {
        var observations = Observations()
        #expect(observations.observed(7).isEmpty)
        #expect(observations.observed(7).isEmpty)
        #expect(observations.observed(6) == [.revisionWentBack(known: 7, shown: 6)])
    }

    @Test func oldSnapshotAfterANewerOne_bringsNothingBack() throws {
        var world = try synced()
        try world.snapshot(0)
        let old = world.carrier
        try world.write(0, ["a": nil])
        try world.upload(0)
        world.look(1)
        try world.snapshot(0)
        world.look(1)
        for (name, bytes) in old.sorted(by: { $0.key < $1.key }) { world.give(1, name, bytes) }
        world.look(1)
        #expect(try world.shown(1, "a") == nil)
    }

    @Test func removedMember_isHeardUpToTheCut_andNotAfterIt() throws {
        var world = try World(3)
        try world.write(2, ["a": "accepted"])
        try world.upload(2)
        world.look(0)
        world.carryOut(try world.machines[0].remove([world.machines[2].member], at: world.now), 0)
        try world.write(2, ["a": "late", "b": "late"])
        try world.upload(2)
        for _ in 0..<2 { for index in [0, 1] { world.look(index) } }
        for index in [0, 1] {
            #expect(try world.shown(index, "a") == "accepted")
            #expect(try world.shown(index, "b") == nil)
        }
        let late = world.segments(of: 2)[1]
        #expect(world.findings[1].contains(.refused(late, .afterRemoval)))
        world.look(2)
        #expect(throws: Refusal.notAMember) { try world.write(2, ["a": "more"]) }
        #expect(throws: Refusal.notAMember) { try world.machines[2].seal(at: world.now) }
        #expect(throws: Refusal.notAMember) { try world.machines[2].head(at: world.now) }
    }

    @Test func removedMember_whatOnlyAReaderHasSeen_isNotTaken() throws {
        var world = try World(3)
        try world.join(as: .reader)
        world.look(0)
        try world.write(2, ["a": "early"])
        try world.upload(2)
        world.look(3)
        try world.head(3)
        world.carryOut(try world.machines[0].remove([world.machines[2].member], at: world.now), 0)
        world.look(0)
        #expect(world.machines[0].observations.heads[world.machines[3].member] != nil)
        #expect(try world.shown(0, "a") == nil)
    }

    /// Several times, since the order of the writers, which are random, matters.
    @Test(arguments: 0..<6)
    func removedMember_whatOneMachineAppliedFirst_reachesAll(_ round: Int) throws {
        var world = try World(3)
        try world.write(2, ["a": "early"])
        try world.upload(2)
        // 1 applies it; 0 removes its author without having seen it.
        world.look(1)
        world.carryOut(try world.machines[0].remove([world.machines[2].member], at: world.now), 0)
        world.look(0)
        #expect(try world.shown(0, "a") == nil)
        world.look(1)
        #expect(world.machines[1].ring.current == world.machines[0].ring.current)
        try world.upload(1)
        world.look(0)
        #expect(try world.shown(0, "a") == "early")
        #expect(world.machines[0].items.digest == world.machines[1].items.digest)
    }

    @Test func removedMember_cannotWriteASnapshotOrAsAnother() throws {
        var world = try World(3)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        for index in [1, 2] { world.look(index) }
        let thief = world.machines[2]
        world.carryOut(try world.machines[0].remove([thief.member], at: world.now), 0)
        world.look(1)
        var forger = thief
        for case .write(let name, let bytes) in try forger.snapshot(at: world.now) { world.give(1, name, bytes) }
        #expect(world.findings[1].contains { if case .refused(.snapshot, .notAMember) = $0 { true } else { false } })
        // With the old transport key it can seal, but not sign, what machine 0 would write next.
        let tip = try #require(world.machines[1].logs[world.machines[0].writer]?.tip)
        let header = SegmentHeader(
            ring: thief.log.id, epoch: thief.ring.current, writer: world.machines[0].writer, number: tip.number + 1,
            previous: tip.hash)
        let body = SegmentBody(continues: false, author: world.machines[0].member, tips: thief.log.tips, piece: [])
        let forged = try body.sealed(header, keys: try thief.keyring.keys(of: thief.ring.current), signer: thief.keys)
        let name = ObjectName.segment(header.writer, header.number)
        world.give(1, name, forged)
        #expect(world.findings[1].contains(.refused(name, .badSignature)))
    }

    @Test func epochThatFalls_isRefused() throws {
        var world = try World(2)
        let oldKeys = try world.machines[0].keyring.keys(of: world.machines[0].ring.current)
        world.carryOut(try world.machines[0].rotate(), 0)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(1)
        let (machine, tip) = (world.machines[0], try #require(world.machines[0].logs[world.machines[0].writer]?.tip))
        let header = SegmentHeader(
            ring: machine.log.id, epoch: oldKeys.id, writer: machine.writer, number: 2, previous: tip.hash)
        let body = SegmentBody(continues: false, author: machine.member, tips: machine.log.tips, piece: [])
        let name = ObjectName.segment(machine.writer, 2)
        world.give(1, name, try body.sealed(header, keys: oldKeys, signer: machine.keys))
        #expect(world.findings[1].contains(.refused(name, .contradiction)))
    }

    @Test func clone_isNoticed_andItsWritesSurvive() throws {
        var world = try synced()
        let clone = world.machines[0]
        try world.write(0, ["a": "original"])
        try world.upload(0)
        world.machines.append(clone)
        world.findings.append([])
        world.changes.append([])
        try world.write(2, ["b": "clone"])
        try world.upload(2)
        #expect(world.findings[2] == [.startedAgain(clone.writer)])
        try world.upload(2)
        for index in [0, 1, 2] { world.look(index) }
        for index in [0, 1, 2] {
            #expect(try world.shown(index, "a") == "original")
            #expect(try world.shown(index, "b") == "clone")
        }
    }

    @Test func machineRestoredFromABackup_noticesItsOwnLog_andLosesNothing() throws {
        var world = try synced()
        let backup = world.machines[0]
        try world.write(0, ["a": "2"])
        try world.upload(0)
        world.look(1)
        world.machines[0] = backup
        try world.write(0, ["b": "after the restore"])
        world.look(0)
        #expect(world.findings[0].contains(.startedAgain(backup.writer)))
        #expect(world.machines[0].writer != backup.writer)
        try world.upload(0)
        for index in [0, 1] { world.look(index) }
        for index in [0, 1] {
            #expect(try world.shown(index, "a") == "2")
            #expect(try world.shown(index, "b") == "after the restore")
        }
        #expect(world.machines[0].items.digest == world.machines[1].items.digest)
    }

    @Test func clockTenYearsAhead_isNamed_andDragsNobodyAlong() throws {
        var world = try World(2)
        let (now, ahead) = (world.now, UInt64(10 * 365 * 86_400_000))
        world.now += ahead
        try world.write(0, ["a": "from the future"])
        try world.upload(0)
        world.now = now
        world.look(1)
        #expect(world.findings[1] == [.clockAhead(world.machines[0].member, milliseconds: ahead + 1000)])
        try world.write(1, ["a": "seen it"])
        #expect(try world.shown(1, "a") == "seen it")
        #expect(world.machines[1].clock.milliseconds < now + 10_000)
        try world.upload(1)
        world.look(0)
        #expect(try world.shown(0, "a") == "seen it")
    }

    @Test func vectorThatNamesWritersOfNobody_waits_andIsNamed() throws {
        var world = try synced()
        let machine = world.machines[0]
        let tip = try #require(machine.logs[machine.writer]?.tip)
        let batch = Batch(
            writer: machine.writer, after: tip.counter, through: tip.counter, time: .zero,
            vector: VersionVector([WriterID(99): 5]), contexts: [], entries: [])
        let epoch = try machine.keyring.keys(of: machine.ring.current)
        let header = SegmentHeader(
            ring: machine.log.id, epoch: epoch.id, writer: machine.writer, number: 2, previous: tip.hash)
        let body = SegmentBody(continues: false, author: machine.member, tips: machine.log.tips, piece: batch.bytes)
        world.give(1, .segment(machine.writer, 2), try body.sealed(header, keys: epoch, signer: machine.keys))
        #expect(world.machines[1].items.vector[WriterID(99)] == 0)
        #expect(
            world.machines[1].overdue(at: world.now + Observations.grace) == [
                .found(.withheld(WriterID(99), counter: 5))
            ])
    }

    @Test func headRepeatedFromEarlier_orTwoWithOneNumber_isNoticed() throws {
        var world = try synced()
        var twin = world.machines[0]
        try world.head(0)
        world.look(1)
        let name = ObjectName.head(world.machines[0].member, 2)
        world.now += 1000
        for case .write(_, let bytes) in try twin.head(at: world.now) { world.give(1, name, bytes) }
        #expect(world.findings[1] == [.equivocation(world.machines[0].member, number: 2)])
        world.look(1, hiding: { $0 == name })
        #expect(world.findings[1].contains(.headWentBack(world.machines[0].member, known: 2, shown: 1)))
    }

    @Test func machineThatIsHidden_isMissedAfterAWeek_andAnOldViewBefore() throws {
        var world = try World(3)
        for index in [0, 1] { try world.head(index) }
        world.look(2)
        let later = world.now + Observations.longSilence
        #expect(
            world.machines[2].overdue(at: world.now + Observations.betweenHeads + Observations.grace)
                == [.found(.viewIsOld(since: world.now))])
        #expect(world.machines[2].overdue(at: later).count == 3)
    }

    @Test func forkedMachines_haveOtherCodesToCompare() throws {
        var world = try World(3)
        for index in [0, 1] { try world.write(index, ["a": "\(index)"]) }
        for index in [0, 1] { try world.upload(index) }
        #expect(world.machines[0].compareCode != world.machines[1].compareCode)
        for index in [0, 1] { world.look(index) }
        #expect(world.machines[0].compareCode == world.machines[1].compareCode)
    }

    @Test func equalVectorsWithOtherItems_areNoticed() throws {
        let world = try synced()
        let machine = world.machines[1]
        var liar = Observations()
        let header = HeadHeader(
            ring: machine.log.id, epoch: machine.ring.current, member: world.machines[0].member, number: 9)
        let head = Head(
            previous: .zero, tips: [], time: .zero, digest: .zero, count: 0, vector: machine.items.vector)
        let found = liar.received(
            header, head, .zero, at: world.now, vector: machine.items.vector, digest: machine.items.digest)
        #expect(found == [.differentState(world.machines[0].member)])
    }

    @Test func junkUnderSegmentNames_takesBoundedMemory() throws {
        var world = try synced()
        let epoch = EpochID(number: 9, entry: .random())
        let filler = Data(count: Bounds.object - SegmentHeader.length)
        for number in 0..<UInt64(80) {
            let header = SegmentHeader(
                ring: world.machines[1].log.id, epoch: epoch, writer: WriterID(number), number: 1, previous: .zero)
            world.give(1, .segment(WriterID(number), 1), Data(header.bytes) + filler)
        }
        let held = world.machines[1].waiting.logs.values.flatMap(\.values).reduce(0) { $0 + $1.bytes.count }
        #expect(held <= Bounds.waiting)
        try world.write(0, ["a": "after"])
        try world.upload(0)
        world.look(1)
        #expect(try world.shown(1, "a") == "after")
    }
}
