// SPDX-License-Identifier: Apache-2.0
// Machines that work together: what is shown, what is kept, what arrives whole.

import Foundation
import KeychainCrypto
import Testing

@testable import KeychainSyncCore

struct ReplicaTests {
    @Test func write_uploaded_isShownElsewhere() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(1)
        #expect(try world.shown(1, "a") == "1")
        #expect(world.changes[1].count == 1)
        #expect(world.findings == [[], []])
        #expect(world.machines[0].items.digest == world.machines[1].items.digest)
        #expect(world.machines[0].compareCode == world.machines[1].compareCode)
        #expect(world.machines[0].compareCode.count == 29)
    }

    @Test func concurrentEdits_showTheLater_keepTheOther_andEndWithTheNextWrite() throws {
        var world = try World(2)
        try world.write(0, ["a": "earlier"])
        try world.write(1, ["a": "later"])
        for index in [0, 1] { try world.upload(index) }
        for index in [0, 1] { world.look(index) }
        for index in [0, 1] {
            #expect(try world.shown(index, "a") == "later")
            #expect(try world.others(index, "a") == ["earlier"])
        }
        try world.write(0, ["a": "both seen"])
        try world.upload(0)
        world.look(1)
        #expect(try world.shown(1, "a") == "both seen")
        #expect(try world.others(1, "a").isEmpty)
        #expect(world.changes[1].last?.replaced.count == 2)
    }

    @Test func deletionAgainstConcurrentUpdate_leavesTheUpdate() throws {
        var world = try World(2)
        try world.write(0, ["a": "old"])
        try world.upload(0)
        world.look(1)
        try world.write(0, ["a": "new"])
        try world.write(1, ["a": nil])
        #expect(try world.shown(1, "a") == nil)
        for index in [1, 0] { try world.upload(index) }
        for index in [0, 1] { world.look(index) }
        for index in [0, 1] { #expect(try world.shown(index, "a") == "new") }
    }

    @Test func deletedItem_offeredAgainByAMachineThatWasAway_staysDeleted() throws {
        var world = try World(3)
        try world.write(0, ["a": "old"])
        try world.upload(0)
        for index in [1, 2] { world.look(index) }
        try world.write(1, ["a": nil])
        try world.upload(1)
        world.look(0)
        try world.snapshot(0)
        world.look(0)
        world.look(1)
        #expect(world.segments(of: 1).isEmpty)
        world.look(2)
        try world.write(2, ["b": "x"])
        try world.upload(2)
        for index in [0, 1, 2] { world.look(index) }
        for index in [0, 1, 2] { #expect(try world.shown(index, "a") == nil) }
    }

    @Test func samePrimaryKeyOnTwoMachines_isOneItem() throws {
        var world = try World(2)
        try world.write(0, ["a": "x"])
        try world.write(1, ["a": "y"])
        for index in [0, 1] { try world.upload(index) }
        world.look(0)
        #expect(world.machines[0].items.items.count == 1)
    }

    @Test func transactionOverSeveralSegments_arrivesWholeOrNotAtAll() throws {
        var world = try World(2)
        let large = String(repeating: "x", count: 3 << 20)
        try world.write(0, ["a": large, "b": "small"])
        try world.upload(0)
        let names = world.segments(of: 0)
        #expect(names.count == 4)
        for missing in names {
            var machine = world.machines[1]
            _ = machine.received(
                names.filter { $0 != missing }.map { ($0, world.carrier[$0] ?? Data()) }, at: world.now)
            #expect(machine.items.items.isEmpty)
        }
        world.look(1)
        #expect(try world.shown(1, "a") == large)
        #expect(try world.shown(1, "b") == "small")
        try world.snapshot(1)
        try world.join()
        world.look(2)
        #expect(try world.shown(2, "a") == large)
    }

    @Test func itemAboveTheBound_isRefused_andNothingOfItsTransactionIsWritten() throws {
        var world = try World(1)
        let huge = String(repeating: "x", count: Bounds.item + 1)
        #expect(throws: Refusal.tooLarge) { try world.write(0, ["a": huge, "b": "x"]) }
        #expect(world.machines[0].outbox.isEmpty)
        #expect(world.machines[0].items.items.isEmpty)
    }

    @Test func outbox_keepsTheNewestOfAnItem_andJoinsWhatBelongsTogether() throws {
        var world = try World(2)
        try world.write(0, ["a": "1", "b": "1"])
        try world.write(0, ["c": "1"])
        try world.write(0, ["a": "2"])
        #expect(world.machines[0].outbox.entries.count == 3)
        // Of the first transaction `b` is left: it may not go without the `a` that came later.
        let sizes = world.machines[0].outbox.entries.map { $0.record.sealed.count + 41 }
        #expect(world.machines[0].outbox.fitting() == 3)
        // What does not fit together is cut: otherwise nothing would ever be sent again.
        #expect(world.machines[0].outbox.fitting(bytes: sizes[0] + sizes[1]) == 2)
        #expect(world.machines[0].outbox.fitting(bytes: sizes[0]) == 1)
        try world.upload(0)
        world.look(1)
        #expect(try world.shown(1, "a") == "2")
    }

    @Test func segmentsInAnyOrderAndRepeated_areAppliedOnceInTheirOrder() throws {
        var world = try World(2)
        for value in 0..<6 {
            try world.write(0, ["a": "\(value)"])
            try world.upload(0)
        }
        let names = world.segments(of: 0)
        for name in names.reversed() + names { world.give(1, name, world.carrier[name] ?? Data()) }
        #expect(try world.shown(1, "a") == "5")
        #expect(world.changes[1].count == 6)
    }

    @Test func segment_waitsForWhatItsWriterHadSeen() throws {
        var world = try World(3)
        try world.write(0, ["a": "first"])
        try world.upload(0)
        world.look(1)
        try world.write(1, ["a": "second"])
        try world.upload(1)
        let (first, second) = (world.segments(of: 0)[0], world.segments(of: 1)[0])
        world.give(2, second, world.carrier[second] ?? Data())
        #expect(try world.shown(2, "a") == nil)
        world.give(2, first, world.carrier[first] ?? Data())
        #expect(try world.shown(2, "a") == "second")
        #expect(try world.others(2, "a").isEmpty)
    }

    @Test func lockedMachine_waitsWithClosedClasses_andAppliesAfterTheUnlock() throws {
        var world = try World(2)
        let open = world.machines[1].keyring
        world.carryOut(world.machines[1].use(open.only([7, 8]), at: world.now), 1)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(1)
        #expect(world.machines[1].items.items.isEmpty)
        #expect(world.findings[1].isEmpty)
        world.carryOut(world.machines[1].use(open, at: world.now), 1)
        #expect(try world.shown(1, "a") == "1")
    }

    @Test func lockedMachine_deletes() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(1)
        world.carryOut(world.machines[1].use(world.machines[1].keyring.only([8]), at: world.now), 1)
        try world.write(1, ["a": nil])
        try world.upload(1)
        world.look(0)
        #expect(try world.shown(0, "a") == nil)
    }

    @Test func newcomer_afterARotation_readsFromTheSnapshotThatIsAskedFor() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.carryOut(try world.machines[0].rotate(), 0)
        try world.join()
        world.look(2)
        #expect(try world.shown(2, "a") == nil)
        world.look(0)
        #expect(world.machines[0].needsSnapshot)
        try world.snapshot(0)
        world.look(0)
        #expect(!world.machines[0].needsSnapshot)
        world.look(2)
        #expect(try world.shown(2, "a") == "1")
        world.look(1)
        try world.write(1, ["a": "2"])
        try world.upload(1)
        world.look(2)
        #expect(try world.shown(2, "a") == "2")
    }

    @Test func crashBetweenStoringAndPublishing_repeatsTheSameBytes() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        let effects = try world.machines[0].seal(at: world.now)
        let again = world.machines[0].listed(Listing(names: Set(world.carrier.keys)), at: world.now)
        let segments = effects.filter { if case .write(.segment, _) = $0 { true } else { false } }
        #expect(segments.count == 1)
        #expect(again.contains(segments[0]))
    }

    /// The machine has died after it published, and then had to replace its keys.
    @Test func segmentOfTheFormerMember_thatLiesThereUnnoticed_isPublished() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        for case .write(let name, let bytes) in try world.machines[0].seal(at: world.now) {
            world.carrier[name] = bytes
        }
        world.carryOut(try world.machines[0].renewIdentity(at: world.now), 0)
        #expect(world.machines[0].unpublishedCount == 1)
        world.look(0)
        #expect(world.machines[0].unpublishedCount == 0)
        #expect(world.machines[0].isPublished)
        try world.snapshot(0)
        world.look(1)
        #expect(try world.shown(1, "a") == "1")
    }

    @Test func segmentOfTheFormerMember_thatDoesNotLieThere_isPublishedAgain() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        _ = try world.machines[0].seal(at: world.now)
        world.carryOut(try world.machines[0].renewIdentity(at: world.now), 0)
        world.look(0)
        #expect(world.machines[0].isPublished)
        world.look(1)
        #expect(try world.shown(1, "a") == "1")
    }

    /// Attack: a stolen machine removes the one that has removed it, before it hears of that.
    @Test func stolenMachine_thatRemovesTheOneThatRemovedIt_isSaidOnceOnAThirdMachine() throws {
        var world = try World(3)
        for index in [1, 2] { world.look(index) }
        let cards = world.machines[..<2].compactMap { world.machines[2].ring.members[$0.member]?.card }
        let removal = try world.machines[1].remove([cards[0].id], at: world.now)
        world.carryOut(try world.machines[0].remove([cards[1].id], at: world.now), 0)
        world.look(2)
        #expect(world.findings[2].isEmpty)
        for case .write(let name, let bytes) in removal { world.carrier[name] = bytes }
        for _ in 0..<2 { world.look(2) }
        #expect(world.findings[2] == [.contested(cards[0], by: cards[1])])
    }

    /// Attack: the former keys of a machine void the keys that it has made since.
    @Test func write_afterFormerKeysWereUsed_isSealedWithKeysThatTheyDoNotGet() throws {
        var world = try World(2)
        var attacker = world.machines[0]
        world.carryOut(try world.machines[0].renewIdentity(at: world.now), 0)
        for case .write(let name, let bytes) in try attacker.renewIdentity(at: world.now) {
            world.carrier[name] = bytes
        }
        for index in [0, 1] { world.look(index) }
        #expect(world.machines[1].ring.active.map(\.id) == [world.machines[1].member])
        #expect(world.machines[0].wasRemovedByFormerKeys)
        try world.write(1, ["a": "1"])
        try world.upload(1)
        let segment = try #require(world.segments(of: 1).first.flatMap { world.carrier[$0] })
        let epoch = try SegmentHeader.read(segment, ring: attacker.log.id).epoch
        #expect(epoch == world.machines[1].ring.current)
        #expect(attacker.keyring.epochs[epoch] == nil)
    }

    @Test func machineThatRenewedItsKeysTwice_isToldThatItsFirstOnesWereUsed() throws {
        var world = try World(2)
        var attacker = world.machines[0]
        for _ in 0..<2 { world.carryOut(try world.machines[0].renewIdentity(at: world.now), 0) }
        #expect(!world.machines[0].wasRemovedByFormerKeys)
        for case .write(let name, let bytes) in try attacker.renewIdentity(at: world.now) {
            world.carrier[name] = bytes
        }
        world.look(0)
        #expect(world.machines[0].wasRemovedByFormerKeys)
    }

    @Test func snapshotOfARemovedMember_standsForNoSegmentOfItsOwner_andGoesWithTheNextOne() throws {
        var world = try World(3)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(2)
        try world.snapshot(2)
        let old = world.carrier.filter { if case .snapshot = $0.key { true } else { false } }
        for (name, bytes) in old { world.give(0, name, bytes) }
        world.carryOut(try world.machines[0].remove([world.machines[2].member], at: world.now), 0)
        world.look(0)
        // A machine that does not have the snapshot takes nothing from it any more.
        #expect(world.segments(of: 0).count == 1)
        world.look(1)
        #expect(try world.shown(1, "a") == "1")
        try world.snapshot(1)
        world.look(0)
        #expect(world.segments(of: 0).isEmpty)
        #expect(old.keys.allSatisfy { world.carrier[$0] == nil })
    }

    /// A machine that was removed asks, before it leaves.
    @Test(arguments: ["1", "2"]) func ownValueBesideTheShownOne_isHidden_unlessItIsEqual(_ later: String) throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        try world.write(1, ["a": later])
        for index in [0, 1] { try world.upload(index) }
        for index in [0, 1] { world.look(index) }
        try #require(world.others(0, "a") == ["1"])
        #expect(world.machines[0].hasHiddenValues == (later != "1"))
        #expect(!world.machines[1].hasHiddenValues)
    }

    /// Its author cannot remove it, and nobody else knows it from before the removal.
    @Test func snapshotOfARemovedMember_thatNobodyHas_goesWithTheNextOne() throws {
        var world = try World(3)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        world.look(2)
        try world.snapshot(2)
        let old = world.carrier.keys.filter { if case .snapshot = $0 { true } else { false } }
        world.carryOut(try world.machines[0].remove([world.machines[2].member], at: world.now), 0)
        world.look(0)
        #expect(old.allSatisfy { world.carrier[$0] != nil })
        try world.snapshot(0)
        world.look(0)
        #expect(old.allSatisfy { world.carrier[$0] == nil })
    }

    /// What it stands for, and nobody else has, could still be asked for.
    @Test func snapshotOfARemovedMember_thatStandsForMore_stays() throws {
        var world = try World(3)
        try world.write(2, ["a": "1"])
        try world.upload(2)
        try world.snapshot(2)
        let old = world.carrier.keys.filter { if case .snapshot = $0 { true } else { false } }
        world.carryOut(try world.machines[0].remove([world.machines[2].member], at: world.now), 0)
        world.look(0, hiding: \.isSegment)
        try world.snapshot(0)
        world.look(0, hiding: \.isSegment)
        #expect(try world.shown(0, "a") == nil)
        #expect(old.allSatisfy { world.carrier[$0] != nil })
    }

    /// Which of two snapshots of the same state stays depends on their random names only if both are under the same keys.
    @Test(arguments: 0..<16) func snapshotUnderTheCurrentKeys_isNotReplacedByAnEarlierOne(_ round: Int) throws {
        var world = try World(1)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        try world.snapshot(0)
        world.look(0)
        world.carryOut(try world.machines[0].rotate(), 0)
        try world.snapshot(0)
        world.look(0)
        world.look(0)
        #expect(!world.machines[0].needsSnapshot)
        try world.join()
        world.look(1)
        #expect(try world.shown(1, "a") == "1")
    }
}
