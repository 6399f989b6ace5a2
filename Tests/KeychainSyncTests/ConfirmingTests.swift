// SPDX-License-Identifier: Apache-2.0
// Confirmed writes in the core: when they can be made, and what becomes of those that a carrier lies about.

import Foundation
import KeychainCrypto
import Testing

@testable import KeychainSyncCore

extension World {
    /// What a machine would publish of a confirmed write.
    fileprivate func confirmed(_ index: Int, _ values: [String: String]) throws -> (name: ObjectName, bytes: Data) {
        var writer = try #require(try machines[index].confirming(after: listing()))
        let writes = values.map { LocalWrite(item: item($0), .value(Array($1.utf8), accessibility: 6)) }
        _ = try writer.commit(writes, at: now)
        guard case .write(let name, let bytes) = try #require(try writer.seal(at: now).first) else { throw Other() }
        return (name, bytes)
    }

    /// What the carrier did not make, as it says.
    fileprivate mutating func refused(
        _ index: Int, _ values: [String: String], isCertain: Bool = true
    ) throws -> (name: ObjectName, bytes: Data) {
        let (name, bytes) = try confirmed(index, values)
        machines[index].noteRefusal(name, bytes, isCertain: isCertain, at: now)
        return (name, bytes)
    }

    fileprivate func tellsOfACopy(_ index: Int) -> Bool {
        findings[index].contains {
            switch $0 {
            case .equivocation, .startedAgain: true
            default: false
            }
        }
    }

    private struct Other: Error {}

    /// The carrier accepts it.
    fileprivate mutating func confirm(_ index: Int, _ values: [String: String]) throws {
        now += 1000
        let (name, bytes) = try confirmed(index, values)
        carrier[name] = bytes
        give(index, name, bytes)
    }
}

struct ConfirmingTests {
    @Test func confirmedWrites_betweenOthers_areShownEverywhere() throws {
        var world = try World(2)
        try world.write(0, ["a": "1"])
        try world.upload(0)
        try world.confirm(0, ["a": "2"])
        #expect(try world.shown(0, "a") == "2")
        try world.write(0, ["a": "3"])
        try world.upload(0)
        world.look(1)
        try world.confirm(1, ["a": "4"])
        world.look(0)
        try world.confirm(0, ["a": "5"])
        world.look(1)
        for index in [0, 1] {
            #expect(try world.shown(index, "a") == "5")
            #expect(try world.others(index, "a").isEmpty)
        }
        #expect(world.machines[0].compareCode == world.machines[1].compareCode)
        #expect(world.findings == [[], []])
    }

    @Test func confirming_withSomethingUnseenOrUnsent_isNotPossible() throws {
        var world = try World(2)
        try world.write(1, ["a": "1"])
        try world.upload(1)
        #expect(try world.machines[0].confirming(after: world.listing()) == nil)
        world.look(0)
        #expect(try world.machines[0].confirming(after: world.listing()) != nil)
        try world.write(0, ["b": "1"])
        #expect(try world.machines[0].confirming(after: world.listing()) == nil)
        try world.upload(0)
        #expect(try world.machines[0].confirming(after: world.listing()) != nil)
    }

    @Test func confirming_afterAnEntryThatWasNotSeen_isNotPossible() throws {
        var world = try World(2)
        try world.join()
        #expect(try world.machines[1].confirming(after: world.listing()) == nil)
    }

    @Test func whatLiesThereAndIsNone_keepsNobodyFromConfirming() throws {
        var world = try World(1)
        world.carrier[.segment(WriterID(77), 1)] = Data("nothing".utf8)
        world.look(0)
        #expect(try world.machines[0].confirming(after: world.listing()) != nil)
    }

    @Test func removedMachine_confirmsNothing_andItsLastSegmentsHinderNobody() throws {
        var world = try World(2)
        try world.write(1, ["a": "1"])
        world.carryOut(try world.machines[0].remove([world.machines[1].member], at: world.now), 0)
        try world.upload(1)
        world.look(0)
        #expect(try world.machines[0].confirming(after: world.listing()) != nil)
        world.look(1)
        #expect(throws: Refusal.notAMember) { try world.machines[1].confirming(after: world.listing()) }
    }

    @Test func confirmedSegment_isPutBack_andRemovedOnceASnapshotCoversIt() throws {
        var world = try World(2)
        try world.confirm(0, ["a": "1"])
        let name = ObjectName.segment(world.machines[0].confirmer, 1)
        let bytes = try #require(world.carrier[name])
        world.carrier[name] = nil
        world.look(0)
        #expect(world.carrier[name] == bytes)
        try world.snapshot(0)
        world.look(0)
        world.look(0)
        #expect(world.carrier[name] == nil)
        world.look(1)
        #expect(try world.shown(1, "a") == "1")
    }

    @Test func storedMachine_goesOnWithItsConfirmedWrites() throws {
        var world = try World(2)
        try world.confirm(0, ["a": "1"])
        let machine = world.machines[0]
        world.machines[0] = try Replica(
            stored: machine.changes(since: nil).written,
            keys: machine.keys, keyring: machine.keyring)
        try world.confirm(0, ["a": "2"])
        world.look(1)
        #expect(try world.shown(1, "a") == "2")
        #expect(try world.others(1, "a").isEmpty)
    }

    @Test func machineThatForgotAnAcceptedWrite_getsItBack_andIsNoCopy() throws {
        var world = try World(2)
        let (name, bytes) = try world.confirmed(0, ["a": "1"])
        world.carrier[name] = bytes
        world.look(0)
        #expect(try world.shown(0, "a") == "1")
        #expect(world.findings[0].isEmpty)
        try world.confirm(0, ["a": "2"])
        world.look(1)
        #expect(try world.shown(1, "a") == "2")
    }

    @Test func machineThatStartsAgain_confirmsAsAnotherWriter() throws {
        var world = try World(1)
        let before = world.machines[0].confirmer
        world.carryOut(world.machines[0].startAgain(at: world.now), 0)
        #expect(world.machines[0].confirmer != before)
        #expect(world.machines[0].confirmer != world.machines[0].writer)
    }

    // MARK: - Carriers that lie

    /// Two machines are told that each was first.
    @Test func forkedCarrier_thatConfirmsTwice_showsTheLaterAndKeepsTheOther() throws {
        var world = try World(2)
        try world.confirm(0, ["a": "0"])
        world.look(1)
        let (one, other) = (try world.confirmed(0, ["a": "1"]), try world.confirmed(1, ["a": "2"]))
        world.give(0, one.name, one.bytes)
        world.give(1, other.name, other.bytes)
        #expect(world.machines[0].compareCode != world.machines[1].compareCode)
        (world.carrier[one.name], world.carrier[other.name]) = (one.bytes, other.bytes)
        for index in [0, 1] { world.look(index) }
        for index in [0, 1] {
            let values = [try world.shown(index, "a") ?? ""] + (try world.others(index, "a"))
            #expect(Set(values) == ["1", "2"])
        }
        #expect(world.machines[0].compareCode == world.machines[1].compareCode)
    }

    /// Attack 37: the server says that a segment was refused, and shows it after the one that followed.
    @Test func refusedSegment_shownLater_isNoticed_andOrdinaryChangesGoOn() throws {
        var world = try World(2)
        let refused = try world.refused(0, ["a": "refused"])
        try world.confirm(0, ["a": "accepted"])
        world.beside[refused.name] = [refused.bytes]
        for index in [0, 1] { world.look(index) }
        #expect(world.findings[0].contains(.shownAfterRefusal(refused.name)) && !world.tellsOfACopy(0))
        // They cannot know what was refused.
        #expect(world.findings[1].contains(.equivocation(world.machines[0].member, number: 1)))
        let writer = world.machines[0].writer
        try world.write(0, ["b": "1"])
        try world.upload(0)
        #expect(world.machines[0].writer == writer)
        #expect(try world.shown(0, "a") == "accepted")
        world.look(1)
        #expect(try world.shown(1, "b") == "1")
    }

    /// The server shows it before anything else of that log is confirmed: it was made, whatever the server said.
    @Test(arguments: [true, false])
    func segmentThatWasNotConfirmed_shownBeforeAnother_isMade(_ isRefused: Bool) throws {
        var world = try World(2)
        let refused = try world.refused(0, ["a": "refused"], isCertain: isRefused)
        world.carrier[refused.name] = refused.bytes
        world.look(0)
        #expect(world.machines[0].lastConfirmed == .hash(of: refused.bytes))
        #expect(Set(world.findings[0]) == (isRefused ? [.shownAfterRefusal(refused.name)] : []))
        try world.confirm(0, ["a": "next"])
        world.look(1)
        for index in [0, 1] {
            #expect(try world.shown(index, "a") == "next")
            #expect(try world.others(index, "a").isEmpty)
        }
    }

    @Test func unansweredSegment_shownAfterAnother_isNoticed() throws {
        var world = try World(1)
        let refused = try world.refused(0, ["a": "1"], isCertain: false)
        try world.confirm(0, ["a": "2"])
        world.look(0)
        #expect(world.findings[0].isEmpty)
        world.beside[refused.name] = [refused.bytes]
        world.look(0)
        #expect(world.findings[0].contains(.shownAfterRefusal(refused.name)) && !world.tellsOfACopy(0))
    }

    @Test func refusedSegment_thatIsGoneBeforeItIsRead_isNoticed() throws {
        var world = try World(1)
        let refused = try world.refused(0, ["a": "1"])
        try world.confirm(0, ["a": "2"])
        world.beside[refused.name] = [refused.bytes]
        _ = world.machines[0].listed(world.listing(), at: world.now)
        world.beside = [:]
        world.look(0)
        #expect(world.findings[0].contains(.shownAfterRefusal(refused.name)))
    }

    /// The machine was killed before it applied the other one.
    @Test(arguments: [true, false])
    func refusedSegment_shownTogetherWithAnAcceptedOne_isNotApplied(_ isFirst: Bool) throws {
        var world = try World(1)
        let refused = try world.refused(0, ["a": "refused"])
        let accepted = try world.confirmed(0, ["a": "accepted"])
        world.carrier[refused.name] = isFirst ? refused.bytes : accepted.bytes
        world.beside[refused.name] = [isFirst ? accepted.bytes : refused.bytes]
        world.look(0)
        #expect(try world.shown(0, "a") == "accepted")
        #expect(world.findings[0].contains(.shownAfterRefusal(refused.name)) && !world.tellsOfACopy(0))
    }

    @Test func refusal_isStored_andForgottenAfter30Days() throws {
        var world = try World(1)
        let refused = try world.refused(0, ["a": "refused"])
        try world.confirm(0, ["a": "accepted"])
        let machine = world.machines[0]
        world.machines[0] = try Replica(
            stored: machine.changes(since: nil).written, keys: machine.keys, keyring: machine.keyring)
        #expect(world.machines[0].changes(since: machine).isEmpty)
        world.beside[refused.name] = [refused.bytes]
        world.look(0)
        #expect(!world.tellsOfACopy(0))
        let before = world.machines[0]
        world.now += 31 * 86_400_000
        world.look(0)
        #expect(world.machines[0].changes(since: before).removed == [.refusal(.hash(of: refused.bytes))])
        #expect(world.tellsOfACopy(0))
    }

    /// Nobody else knows that it was refused, and their snapshots stand for it.
    @Test func refusedSegment_inTheSnapshotOfAnotherMachine_isNoticed() throws {
        var world = try World(2)
        let refused = try world.refused(0, ["a": "refused"])
        world.give(1, refused.name, refused.bytes)
        try world.snapshot(1)
        world.look(0)
        #expect(try world.shown(0, "a") == "refused")
        #expect(world.findings[0].contains(.shownAfterRefusal(refused.name)) && !world.tellsOfACopy(0))
    }

    @Test func refusals_areBounded_andTheOldestForgotten() throws {
        var machine = try World(1).machines[0]
        for number in 0...UInt64(Bounds.refusals) {
            machine.noteRefusal(.segment(machine.confirmer, 1), Data(number.hex.utf8), isCertain: true, at: number)
        }
        #expect(machine.refusals.count == Bounds.refusals)
        #expect(machine.refusals[.hash(of: Data(UInt64(0).hex.utf8))] == nil)
    }
}
