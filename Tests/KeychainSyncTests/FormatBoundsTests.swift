// SPDX-License-Identifier: Apache-2.0
// Each bound of the formats: as much is taken, and one more is refused with its reason.

import Foundation
import KeychainCrypto
import SecretMemory
import Testing

@testable import KeychainSyncCore

struct FormatBoundsTests {
    @Test(arguments: FormatBound.all)
    func bound_isTaken_andOneMoreIsRefused(_ bound: FormatBound) throws {
        #expect(try bound.attempt(0) == nil)
        #expect(try bound.attempt(1) == bound.reason)
    }

    @Test func log_unlessATestHasOthers_hasTheBoundsOfTheFormat() {
        let limits = Sample().log.limits
        #expect((limits.entries, limits.entriesOfAuthor) == (65_535, 8_192))
        #expect((limits.bytes, limits.bytesOfAuthor) == (64 << 20, 8 << 20))
        #expect((limits.members, limits.work) == (100_000, 20_000_000))
    }

    /// Their length would not fit into its field.
    @Test func removalOfMoreMembersThanAnEntryHolds_isRefused() throws {
        let sample = Sample()
        let removals = (0..<5_000).map { _ in Removal(member: .random(), cuts: [:]) }
        #expect(throws: Refusal.tooLarge) {
            try RingEntry(
                ring: sample.log.id, parents: sample.log.tips, author: sample.member, action: .remove(removals)
            ).signed(by: sample.keys)
        }
    }

    @Test func outbox_withMoreThanABatchHolds_isCutThere() {
        let sample = Sample()
        var outbox = Outbox()
        for number in 1...Bounds.contexts + 1 {
            outbox.add([(FormatBound.record(number, sample), FormatBound.context(number))])
        }
        #expect(outbox.fitting() == Bounds.contexts)
        outbox = Outbox()
        outbox.add((1...Bounds.records + 1).map { (FormatBound.record($0, sample), VersionVector()) })
        #expect(outbox.fitting() == Bounds.records)
    }

    // MARK: - Snapshots

    /// A snapshot of which only the first object has come, which names a part.
    private func unfinished(_ machine: Replica) throws -> (ObjectName, Data) {
        let (id, epoch) = (SnapshotID.random(), try machine.keyring.keys(of: machine.ring.current))
        let header = SnapshotHeader(ring: machine.log.id, epoch: epoch.id, id: id)
        let manifest = try SnapshotManifest(
            author: machine.member, tips: machine.log.tips, time: .zero, digest: .zero, count: 1,
            logs: [WriterID(9): LogTip(author: machine.member, counter: 5, number: 5, hash: .zero)],
            parts: [.zero]
        ).signed(header, by: machine.keys)
        return (.snapshot(id, part: 0), try manifest.sealed(header, keys: epoch))
    }

    @Test func snapshots_beyondThoseThatAreFollowed_haveToWait() throws {
        var world = try World(2)
        let objects = try (0...Bounds.snapshots).map { _ in try unfinished(world.machines[0]) }
        for (name, bytes) in objects { world.carrier[name] = bytes }
        world.look(1)
        #expect(world.machines[1].snapshots.count == Bounds.snapshots)
        // Its author takes one of them away.
        for case .snapshot(let id, _) in objects.map(\.0) where world.machines[1].snapshots[id] != nil {
            world.carrier[.snapshot(id, part: 0)] = nil
            break
        }
        world.look(1)
        #expect(world.machines[1].snapshots.count == Bounds.snapshots)
        let known = world.carrier.keys.filter { if case .snapshot(_, part: 0) = $0 { true } else { false } }
        #expect(known.count == Bounds.snapshots)
    }

    // MARK: - Names

    /// With several uses, a part of its identity follows the name.
    @Test(arguments: [Bounds.name, Bounds.name - 8, 1])
    func machineOfAFleet_whoseNameIsAsLongAsNamesMayBe_isLetIn(_ length: Int) throws {
        let sample = Sample()
        var log = sample.log
        let name = String(repeating: "ü", count: length / 2) + String(repeating: "x", count: length % 2)
        let code = InvitationCode.make()
        var invitation = Invitation(code: code, name: name, expires: .max, uses: 2)
        var joiner = Joiner(code: code, keys: .make())
        try joiner.received(invitation.offer(log))
        let request = try #require(try joiner.request())
        let answers = invitation.answer(
            [request.1], at: 1, &log, sample.keyring, author: sample.member, signer: sample.keys)
        guard case .admitted(let card, _, _) = answers[0] else {
            Issue.record("the answer is \(answers)")
            return
        }
        #expect(card.name.utf8.count <= Bounds.name)
        #expect(card.name.hasSuffix("-" + card.id.hex.prefix(8)))
    }

    // MARK: - Doubts

    @Test func names_beyondThoseThatAreDoubted_areDoubtedOnceOthersAreGone() throws {
        var machine = try World(1).machines[0]
        let names = (1...UInt64(Bounds.doubts + 1)).map { ObjectName.segment(WriterID(7), $0) }
        func listing(_ names: some Sequence<ObjectName>) -> Listing {
            Listing(
                names: Set(names),
                contents: Dictionary(uniqueKeysWithValues: names.map { ($0, [ListedContent(Data([1]))]) }))
        }
        machine.doubt(listing(names), Set(names))
        #expect(machine.doubts.count == Bounds.doubts)
        let rest = names.dropFirst()
        machine.doubt(listing(rest), Set(rest))
        #expect(Set(machine.doubts.keys) == Set(rest))
    }

    /// It is named each time, and read again.
    @Test func junk_beyondWhatIsRemembered_isRefusedAllTheSame() throws {
        var machine = try World(1).machines[0]
        var effects: [Effect] = []
        for number in 1...UInt64(Bounds.doubts + 1) {
            machine.refuse(.segment(WriterID(7), number), Data([1]), .malformed, &effects)
        }
        #expect(machine.junk.count == Bounds.doubts)
        #expect(effects.count == Bounds.doubts + 1)
        let last = ObjectName.segment(WriterID(7), UInt64(Bounds.doubts + 1))
        #expect(effects.last == .found(.refused(last, .malformed)))
    }
}
