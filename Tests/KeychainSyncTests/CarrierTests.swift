// SPDX-License-Identifier: Apache-2.0
// A carrier that has no keys: what it puts beside objects, in their place, or takes away, and what machines say of it.

import Foundation
import KeychainCrypto
import Testing

@testable import KeychainSyncCore

struct CarrierTests {
    /// Two machines that have the same item.
    private func synced(_ count: Int = 2) throws -> World {
        var world = try World(count)
        for index in 1..<count { world.look(index) }
        try world.write(0, ["a": "1"])
        try world.upload(0)
        for index in 1..<count { world.look(index) }
        return world
    }

    private static func isEquivocation(_ finding: Finding) -> Bool {
        if case .equivocation = finding { true } else { false }
    }

    private func hasStartedAgain(_ world: World) -> Bool {
        world.findings.joined().contains { if case .startedAgain = $0 { true } else { false } }
    }

    // MARK: - Files in the place of segments

    /// What somebody can make who has no keys, or who has only its own.
    private func junk(_ kind: Int, _ number: UInt64, for index: Int, in world: World) throws -> Data {
        let (machine, other) = (world.machines[index], world.machines[1 - index])
        let tip = try #require(machine.logs[machine.writer]?.tip)
        let epoch = try machine.keyring.keys(of: machine.ring.current)
        let header = SegmentHeader(
            ring: machine.log.id, epoch: epoch.id, writer: machine.writer, number: number, previous: tip.hash)
        let body = SegmentBody(continues: false, author: other.member, tips: machine.log.tips, piece: [1])
        switch kind {
        case 0: return Data()
        case 1: return Data("anything".utf8)
        // All of what is in clear.
        case 2: return Data(header.bytes) + Data(count: 918)
        // By another member, under its own signature.
        default: return try body.sealed(header, keys: epoch, signer: other.keys)
        }
    }

    @Test(arguments: 0..<4)
    func junkUnderTheNextNumber_makesNoMachineStartAgain_andKeepsNothingFromOthers(_ kind: Int) throws {
        var world = try synced()
        let writer = world.machines[0].writer
        let name = ObjectName.segment(writer, 2)
        let junk = try junk(kind, 2, for: 0, in: world)
        world.carrier[name] = junk
        for _ in 0..<3 { world.look(0) }
        #expect(world.machines[0].writer == writer)
        #expect(world.findings[0].contains { if case .refused(name, _) = $0 { true } else { false } })
        try world.write(0, ["b": "2"])
        try world.upload(0)
        #expect(world.machines[0].writer == writer && !hasStartedAgain(world))
        #expect(world.contents(name).count == 2)
        for index in [0, 1] { world.look(index) }
        #expect(world.machines[0].isPublished)
        #expect(try world.shown(1, "b") == "2")
        #expect(!world.findings.joined().contains(where: Self.isEquivocation))
    }

    @Test(arguments: 0..<4)
    func junkBesideASegment_isNoSignOfACopy(_ kind: Int) throws {
        var world = try synced()
        let name = world.segments(of: 0)[0]
        let junk = try junk(kind, 1, for: 0, in: world)
        world.beside[name] = [junk]
        for index in [0, 1] {
            world.give(index, name, junk)
            world.look(index)
            #expect(world.findings[index].contains { if case .refused(name, _) = $0 { true } else { false } })
        }
        #expect(!world.findings.joined().contains(where: Self.isEquivocation) && !hasStartedAgain(world))
    }

    /// A first file of that name, under keys that nobody has.
    @Test func junkOfAnUnknownEpoch_takesNoPlaceFromASegment() throws {
        var world = try synced()
        let header = SegmentHeader(
            ring: world.machines[0].log.id, epoch: EpochID(number: 9, entry: .random()),
            writer: world.machines[0].writer, number: 2,
            previous: try #require(world.machines[0].logs[world.machines[0].writer]?.tip.hash))
        world.carrier[.segment(header.writer, 2)] = Data(header.bytes) + Data(count: 918)
        world.look(1)
        try world.write(0, ["b": "2"])
        try world.upload(0)
        for index in [0, 1] { world.look(index) }
        for case .write(let name, let bytes) in try world.machines[0].seal(at: world.now) { world.give(1, name, bytes) }
        let mine = try #require(world.machines[0].own[header.writer]?[2]?.bytes)
        world.give(1, .segment(header.writer, 2), mine)
        #expect(try world.shown(1, "b") == "2")
    }

    @Test func segmentReplacedByJunk_isPutBackBesideIt_andMissedByOthers() throws {
        var world = try synced()
        let name = world.segments(of: 0)[0]
        world.carrier[name] = Data("junk".utf8)
        world.look(1)
        #expect(world.findings[1].contains(.logWentBack(world.machines[0].writer, known: 1, shown: 0)))
        world.look(0)
        #expect(world.findings[0].contains(.refused(name, .malformed)))
        #expect(world.contents(name).count == 2)
        try world.join()
        world.look(2)
        #expect(try world.shown(2, "a") == "1")
    }

    @Test func entryReplacedByJunk_isPutBackBesideIt_andTheSameInOtherBytesIsNot() throws {
        var world = try synced()
        let (hash, bytes) = try #require(world.machines[0].entries.first)
        let name = ObjectName.entry(hash)
        world.carrier[name] = Data("junk".utf8)
        world.look(0)
        #expect(world.findings[0].contains(.entriesMissing(1)))
        #expect(world.contents(name) == [Data("junk".utf8), bytes])
        let again = try #require(world.machines[0].log.entries[hash]).sealed(with: world.machines[0].ringKeys)
        (world.carrier[name], world.beside[name], world.findings[0]) = (again, nil, [])
        for _ in 0..<2 { world.look(0) }
        #expect(world.findings[0].isEmpty)
        #expect(world.contents(name) == [again] && world.machines[0].entries[hash] == again)
    }

    @Test func junkBesideAWrap_keepsNobodyFromTheKeys() throws {
        var world = try synced()
        world.carryOut(try world.machines[0].rotate(), 0)
        let name = ObjectName.wrap(world.machines[0].ring.current, world.machines[1].member)
        world.beside[name] = [Data("junk".utf8)]
        world.look(1)
        #expect(world.machines[1].keyring.epochs[world.machines[0].ring.current] != nil)
    }

    @Test func junkBesideAPartOfASnapshot_keepsNobodyFromIt() throws {
        var world = try synced()
        try world.snapshot(0)
        for case .snapshot(let id, 1) in world.carrier.keys {
            world.beside[.snapshot(id, part: 1)] = [Data("junk".utf8)]
        }
        world.look(0)
        try world.join()
        world.look(2)
        #expect(try world.shown(2, "a") == "1")
    }

    @Test func junk_isReadOnce_andSaidEachTime() throws {
        var world = try synced()
        let names: [ObjectName] = [
            .segment(world.machines[0].writer, 2), .segment(WriterID(5), 1), .head(world.machines[0].member, 7),
            .snapshot(.random(), part: 0), .entry(.hash(of: Data())),
        ]
        for name in names { world.carrier[name] = Data("junk".utf8) }
        world.look(1)
        for _ in 0..<2 {
            let effects = world.machines[1].listed(world.listing(), at: world.now)
            #expect(!effects.contains { if case .read = $0 { true } else { false } })
            for name in names { #expect(effects.contains(.found(.refused(name, .malformed)))) }
        }
        // Something else lies beside it.
        world.beside[names[1]] = [Data("other".utf8)]
        #expect(world.machines[1].listed(world.listing(), at: world.now).contains(.read([names[1]])))
    }

    // MARK: - Copies of a machine

    /// A machine and its copy each write something while their folders are apart. Then all files are in one.
    private func copied() throws -> World {
        var world = try synced()
        var copy = world.machines[0]
        try world.write(0, ["original": "1"])
        try world.upload(0)
        let item = LocalWrite(item: world.item("copy"), .value(Array("2".utf8), accessibility: 6))
        _ = try copy.commit([item], at: world.now)
        for case .write(let name, let bytes) in try copy.seal(at: world.now) {
            _ = copy.published(name, .created, at: world.now)
            world.beside[name] = [bytes]
        }
        world.machines.append(copy)
        world.findings.append([])
        world.changes.append([])
        return world
    }

    @Test func copyOfAMachine_isNoticedByAll_eachTime_andNothingIsAppliedTwice() throws {
        var world = try copied()
        let (member, writer) = (world.machines[0].member, world.machines[0].writer)
        for _ in 0..<2 {
            for index in [0, 1, 2] {
                world.findings[index] = []
                world.look(index)
                #expect(world.findings[index].contains(.equivocation(member, number: 2)), "\(index)")
            }
        }
        #expect(world.machines[0].writer == writer && world.machines[2].writer == writer)
        #expect(world.changes[1].filter { $0.item == world.item("original") }.count <= 1)
        #expect(try (world.shown(1, "original") != nil) != (world.shown(1, "copy") != nil))
        #expect(try world.shown(0, "original") == "1" && world.shown(2, "copy") == "2")
        // Another process, which has to read again.
        world.machines[1] = try Replica(
            stored: world.machines[1].changes(since: nil).written, keys: world.machines[1].keys,
            keyring: world.machines[1].keyring)
        world.findings[1] = []
        world.look(1)
        #expect(world.findings[1].contains(.equivocation(member, number: 2)))
    }

    @Test func copyOfAMachine_thatOthersHaveNotFollowed_keepsNothingOfTheOtherOneBack() throws {
        var world = try synced()
        var copy = world.machines[0]
        try world.write(0, ["original": "1"])
        try world.upload(0)
        world.look(1)
        for number in 0..<3 {
            let write = LocalWrite(item: world.item("copy"), .value([UInt8(number)], accessibility: 6))
            _ = try copy.commit([write], at: world.now)
            for case .write(let name, let bytes) in try copy.seal(at: world.now) {
                _ = copy.published(name, .created, at: world.now)
                world.beside[name, default: []].append(bytes)
            }
            world.look(1)
        }
        for value in ["2", "3", "4"] {
            try world.write(0, ["original": value])
            for case .write(let name, let bytes) in try world.machines[0].seal(at: world.now) {
                _ = world.machines[0].published(name, .created, at: world.now)
                world.carrier[name] = bytes
            }
        }
        world.look(1)
        #expect(try world.shown(1, "original") == "4")
        #expect(world.findings[1].contains(.equivocation(world.machines[0].member, number: 2)))
    }

    /// Its files are gone, but it has what it wrote, and says that there are two.
    @Test func copyOfAMachine_afterASnapshotOfWhoFollowedTheOriginal_isNoticedAndKeepsItsSegments() throws {
        var world = try copied()
        let name = ObjectName.segment(world.machines[0].writer, 2)
        let bytes = try #require(world.beside[name]?.first)
        world.beside = [:]
        world.look(1)
        try world.snapshot(1)
        world.look(0)
        #expect(world.segments(of: 0).isEmpty)
        for _ in 0..<2 {
            world.findings[2] = []
            world.look(2)
            #expect(world.findings[2].contains(.equivocation(world.machines[0].member, number: 2)))
        }
        #expect(world.contents(name) == [bytes])
        #expect(!world.machines[2].needsSnapshot)
        world.look(1)
        #expect(world.findings[1].contains(.equivocation(world.machines[0].member, number: 2)))
    }

    // MARK: - Findings

    @Test func snapshotThatReplacesAnother_isNoRollback() throws {
        var world = try synced(3)
        try world.snapshot(1)
        for index in [0, 1, 2] { world.look(index) }
        try world.upload(0, ["2", "3"], of: "a")
        for index in [1, 2] { world.look(index) }
        try world.snapshot(1)
        for index in [0, 1] { world.look(index) }
        #expect(world.segments(of: 0).isEmpty)
        world.look(2)
        #expect(world.findings == [[], [], []])
        #expect(world.machines[2].snapshots.count == 1)
    }

    @Test func snapshotThatReplacesAnother_andCannotBeRead_isSaid() throws {
        var world = try synced(3)
        try world.snapshot(1)
        for index in [0, 1, 2] { world.look(index) }
        try world.write(0, ["a": "2"])
        try world.upload(0)
        world.look(1)
        let old = Set(world.carrier.keys)
        try world.snapshot(1)
        for index in [0, 1] { world.look(index) }
        // The parts are listed, and cannot be read.
        let new = world.carrier.keys.filter { if case .snapshot(_, 1...) = $0 { !old.contains($0) } else { false } }
        for name in new { world.carrier[name] = Data("damaged".utf8) }
        world.look(2)
        #expect(world.findings[2].contains(.logWentBack(world.machines[0].writer, known: 1, shown: 0)))
        #expect(world.findings[2].contains { if case .snapshotMissing = $0 { true } else { false } })
    }

    @Test func middleOfALogTaken_isNoticed_whateverElseHasAHighNumber() throws {
        var world = try synced()
        try world.upload(0, ["2", "3"], of: "a")
        world.look(1)
        let names = world.segments(of: 0)
        world.carrier[names[1]] = nil
        world.carrier[.segment(world.machines[0].writer, Bounds.number)] = Data()
        world.look(1)
        #expect(world.findings[1].contains(.logWentBack(world.machines[0].writer, known: 3, shown: 1)))
    }

    /// Something of it is not uploaded yet.
    @Test func ownLogTaken_isNoticed_alsoWhileMoreIsToCome() throws {
        var world = try synced()
        try world.write(0, ["a": "2"])
        _ = try world.machines[0].seal(at: world.now)
        world.carrier[world.segments(of: 0)[0]] = nil
        world.look(0)
        #expect(world.findings[0].contains(.logWentBack(world.machines[0].writer, known: 1, shown: 0)))
    }

    @Test(arguments: [Data(), Data("junk".utf8)])
    func headTaken_isNoticed_whateverElseHasAHighNumber(_ junk: Data) throws {
        var world = try synced()
        let member = world.machines[0].member
        for _ in 0..<2 { try world.head(0) }
        world.look(1)
        world.carrier[.head(member, 2)] = nil
        let header = HeadHeader(
            ring: world.machines[0].log.id, epoch: EpochID(number: 5, entry: .random()), member: member, number: 99)
        world.carrier[.head(member, 98)] = junk
        world.carrier[.head(member, 99)] = Data(header.bytes) + Data(count: 900)
        world.look(1)
        #expect(world.findings[1].contains(.headWentBack(member, known: 2, shown: 1)))
    }

    /// It never writes another one, so this would be said for ever.
    @Test func headOfARemovedMember_thatIsTaken_isNotMissed() throws {
        var world = try World(3)
        let member = world.machines[2].member
        for _ in 0..<2 { try world.head(2) }
        world.look(0)
        world.carryOut(try world.machines[0].remove([member], at: world.now), 0)
        world.carrier[.head(member, 2)] = nil
        world.look(0)
        #expect(!world.findings[0].contains { if case .headWentBack = $0 { true } else { false } })
    }

    // MARK: - When a snapshot is due

    @Test func emptyFilesAndJunk_asSegments_countForNoSnapshot() throws {
        var world = try synced()
        for number in UInt64(0)..<260 {
            world.carrier[.segment(WriterID(number), 1)] = Data()
            world.carrier[.segment(world.machines[0].writer, 2 + number)] = Data("junk".utf8)
        }
        for index in [0, 1] {
            world.look(index)
            #expect(world.machines[index].uncoveredSegmentCount(in: world.listing()) == 1)
        }
    }

    @Test func segmentsOfLostMachines_countUntilASnapshotStandsForThem() throws {
        var world = try World(3)
        for index in [0, 1] {
            for number in 0..<5 {
                try world.write(index, ["\(index)": "\(number)"])
                try world.upload(index)
            }
        }
        world.look(2)
        #expect(world.machines[2].uncoveredSegmentCount(in: world.listing()) == 10)
        try world.snapshot(2)
        #expect(world.machines[2].uncoveredSegmentCount(in: world.listing()) == 0)
        world.carrier[try #require(world.carrier.keys.first { if case .snapshot(_, 1) = $0 { true } else { false } })] =
            nil
        #expect(world.machines[2].uncoveredSegmentCount(in: world.listing()) == 10)
    }

    @Test func segmentsThatWait_count() throws {
        var world = try synced()
        try world.upload(0, ["2", "3"], of: "a")
        let hidden = world.segments(of: 0)[1]
        world.look(1, hiding: { $0 == hidden })
        #expect(world.machines[1].uncoveredSegmentCount(in: world.listing(hiding: { $0 == hidden })) == 2)
    }

    // MARK: - Damage

    @Test func ownSegment_cutShort_isWrittenAgain() throws {
        var world = try synced()
        let name = world.segments(of: 0)[0]
        let bytes = try #require(world.carrier[name])
        // As a folder lists it: the name tells the hash, and only the size is another one.
        let cut = ListedContent(fingerprint: ListedContent(bytes).fingerprint, size: 100)
        let listing = Listing(names: Set(world.carrier.keys), contents: [name: [cut]])
        #expect(world.machines[0].listed(listing, at: world.now).contains(.writeBeside(name, bytes)))
    }

    @Test func damagedObjects_areWrittenAgainByWhoHasThem_andNamedByOthers() throws {
        var world = try synced()
        let segment = world.segments(of: 0)[0]
        let (hash, entry) = try #require(world.machines[0].entries.first)
        #expect(
            world.machines[0].damaged([segment, .entry(hash)], at: world.now) == [
                .writeBeside(segment, try #require(world.carrier[segment])), .writeBeside(.entry(hash), entry),
            ])
        #expect(world.machines[1].damaged([segment], at: world.now) == [.found(.refused(segment, .malformed))])
    }
}
