// SPDX-License-Identifier: Apache-2.0
// The ring log: which entries make a machine a member.

import Foundation
import KeychainCrypto
import SecretMemory
import SyncSimulation
import Testing

@testable import KeychainSyncCore

struct RingTests {
    @Test func ring_founded_hasItsFounderAndAnEpoch() throws {
        let fleet = try Fleet(1)
        #expect(fleet.log.ring.active.map(\.id) == fleet.ids)
        #expect(fleet.log.ring.current.number == 1)
        #expect(!fleet.log.ring.needsRotation)
    }

    @Test func entries_insertedInAnyOrderOrTwice_meanTheSame() throws {
        var fleet = try Fleet(4)
        _ = try fleet.log.remove(
            [Removal(member: fleet.ids[2], cuts: [:])], fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        let founding = try #require(fleet.log.entries[fleet.log.id])
        var random = SeededRandom(seed: 4)
        for _ in 0..<20 {
            var log = try RingLog(founding: founding)
            for entry in (fleet.log.entries.values.shuffled(using: &random) + fleet.log.entries.values) {
                #expect(log.insert([entry]).isEmpty)
            }
            #expect(log.ring.counted == fleet.log.ring.counted)
            #expect(log.ring.current == fleet.log.ring.current)
            #expect(log.tips == fleet.log.tips)
        }
    }

    /// Attack: forge an addition.
    @Test func addition_signedByNoMember_isRefused() throws {
        let fleet = try Fleet(2)
        let stranger = DeviceKeys.make()
        let card = try fleet.card(stranger, "stranger")
        var forged = RingEntry(ring: fleet.log.id, parents: fleet.log.tips, author: fleet.ids[0], action: .add(card))
        forged = try forged.signed(by: stranger)
        let own = try RingEntry(ring: fleet.log.id, parents: fleet.log.tips, author: card.id, action: .add(card))
            .signed(by: stranger)
        var log = fleet.log
        #expect(log.insert([forged, own]) == [forged.hash: .badSignature, own.hash: .notAMember])
        #expect(!log.ring.isActive(card.id))
    }

    @Test func removalOfOneMember_twiceInAnEntry_isRefusedBeforeItIsSigned() throws {
        var fleet = try Fleet(2)
        let (removal, tips) = (Removal(member: fleet.ids[1], cuts: [:]), fleet.log.tips)
        #expect(throws: Refusal.malformed) {
            _ = try fleet.log.remove(
                [removal, removal], fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        }
        #expect(fleet.log.tips == tips)
    }

    /// Attack: replay the addition of a removed member.
    @Test func removedMember_addedAgain_staysRemoved() throws {
        var fleet = try Fleet(3)
        let card = try fleet.card(fleet.keys[2], "2")
        _ = try fleet.log.remove(
            [Removal(member: card.id, cuts: [:])], fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        let again = try fleet.entry(.add(card), by: 1)
        #expect(try fleet.active(after: [again]) == [0, 1])
    }

    @Test func removal_winsOverWhatTheRemovedOneDidUnseen() throws {
        let fleet = try Fleet(3)
        let newcomer = try fleet.card(DeviceKeys.make(), "new")
        let addition = try fleet.entry(.add(newcomer), by: 2)
        let removal = try fleet.removal(of: 2, by: 1)
        var log = fleet.log
        log.insert([addition, removal])
        #expect(!log.ring.isActive(newcomer.id))
        #expect(!log.ring.isActive(fleet.ids[2]))
        #expect(log.ring.needsRotation)
    }

    @Test func removal_leavesWhatItsAuthorKnew() throws {
        let fleet = try Fleet(3)
        let newcomer = try fleet.card(DeviceKeys.make(), "new")
        var log = fleet.log
        log.insert([try fleet.entry(.add(newcomer), by: 2)])
        log.insert([try fleet.removal(of: 2, by: 1, after: log)])
        #expect(log.ring.isActive(newcomer.id))
    }

    @Test func removedMember_writesOn_isNotHeard() throws {
        var fleet = try Fleet(3)
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        let later = try fleet.entry(.add(fleet.card(DeviceKeys.make(), "late")), by: 2)
        let revenge = try fleet.removal(of: 0, by: 2)
        #expect(try fleet.active(after: [later, revenge]) == [0, 1])
    }

    @Test func mutualRemoval_leavesTheOneAddedFirst() throws {
        let fleet = try Fleet(3)
        let entries = [try fleet.removal(of: 2, by: 1), try fleet.removal(of: 1, by: 2)]
        #expect(try fleet.active(after: entries) == [0, 1])
        #expect(try fleet.active(after: entries.reversed()) == [0, 1])
    }

    /// Attack: a removed member signs its own addition once more, next to the first entry. That addition never counts.
    @Test func removedMember_whichAddsItselfNextToTheFirstEntry_becomesNoSenior() throws {
        let fleet = try Fleet(4)
        let founding = try #require(fleet.log.entries[fleet.log.id])
        let addition = try fleet.entry(
            .add(try fleet.card(fleet.keys[3], "3")), by: 3, after: try RingLog(founding: founding))
        let entries = [addition, try fleet.removal(of: 3, by: 2), try fleet.removal(of: 2, by: 3)]
        #expect(try fleet.active(after: entries) == [0, 1, 2])
        #expect(try fleet.active(after: entries.reversed()) == [0, 1, 2])
    }

    @Test func juniorWhoIsNotRemoved_voidsTheRemovalsOfASenior() throws {
        let fleet = try Fleet(4)
        // 3 removes 1, which removes 2 at the same time.
        let entries = [try fleet.removal(of: 1, by: 3), try fleet.removal(of: 2, by: 1)]
        #expect(try fleet.active(after: entries) == [0, 2, 3])
    }

    @Test func removalsInACircle_endTheSameInEveryOrder() throws {
        let fleet = try Fleet(4)
        let entries = [
            try fleet.removal(of: 2, by: 1), try fleet.removal(of: 3, by: 2), try fleet.removal(of: 1, by: 3),
        ]
        let expected = try fleet.active(after: entries)
        #expect(expected == [0, 3])
        #expect(try fleet.active(after: [entries[2], entries[0], entries[1]]) == expected)
    }

    @Test func newcomerOfASenior_countsAgainstAJuniorOnlyIfTheSeniorStays() throws {
        let fleet = try Fleet(3)
        // 1 adds another machine, which removes 2; 2 removes 1 at the same time. 1 was a member first.
        let keys = DeviceKeys.make()
        let card = try fleet.card(keys, "new")
        var log = fleet.log
        log.insert([try fleet.entry(.add(card), by: 1)])
        let attack = try RingEntry(
            ring: log.id, parents: log.tips, author: card.id,
            action: .remove([Removal(member: fleet.ids[2], cuts: [:])])
        ).signed(by: keys)
        log.insert([attack, try fleet.removal(of: 1, by: 2)])
        #expect(log.ring.isActive(fleet.ids[1]))
        #expect(log.ring.isActive(card.id))
        #expect(!log.ring.isActive(fleet.ids[2]))
    }

    @Test func roles_limitWhatMembersMayDo() throws {
        var fleet = try Fleet(1)
        try fleet.add("reader", .reader)
        try fleet.add("paper", .recovery)
        let card = try fleet.card(DeviceKeys.make(), "new")
        let start = EpochStart(number: 2, commitment: .zero)
        for (author, action, expected): (Int, RingAction, Bool) in [
            (1, .add(card), false), (1, .rotate(start), false), (1, .policy(.groups([])), false),
            (1, .remove([Removal(member: fleet.ids[0], cuts: [:])]), false),
            (1, .remove([Removal(member: fleet.ids[1], cuts: [:])]), true),
            (2, .add(card), true), (2, .rotate(start), false),
            (2, .remove([Removal(member: fleet.ids[0], cuts: [:])]), true),
            (0, .policy(.groups(["a", "b"])), true), (0, .rotate(start), true),
            (0, .rotate(EpochStart(number: 3, commitment: .zero)), false),
        ] {
            let entry = try fleet.entry(action, by: author)
            var log = fleet.log
            log.insert([entry])
            #expect(log.ring.counted.contains(entry.hash) == expected, "\(author) \(action.kind)")
        }
        #expect(!fleet.log.ring.mayWrite(fleet.ids[1]))
        #expect(!fleet.log.ring.mayWrite(fleet.ids[2]))
    }

    @Test func unknownAction_ofAMember_makesTheRingReadOnlyAndWhatFollowsUnheard() throws {
        let fleet = try Fleet(2)
        var log = fleet.log
        log.insert([try fleet.entry(.unknown(kind: 77, payload: [1]), by: 1)])
        #expect(log.ring.isReadOnly)
        let card = try fleet.card(DeviceKeys.make(), "new")
        log.insert([try fleet.entry(.add(card), by: 0, after: log)])
        #expect(!log.ring.isActive(card.id))
        #expect(throws: Refusal.newerFormat) {
            try log.append(.add(card), author: fleet.ids[0], signer: fleet.keys[0])
        }
    }

    @Test func unknownAction_ofARemovedMember_changesNothing() throws {
        var fleet = try Fleet(2)
        fleet.log.insert([try fleet.removal(of: 1, by: 0)])
        fleet.log.insert([try fleet.entry(.unknown(kind: 77, payload: []), by: 1)])
        #expect(!fleet.log.ring.isReadOnly)
    }

    @Test func concurrentRotations_leaveBothReadableAndAskForAnother() throws {
        let fleet = try Fleet(2)
        let starts = (0..<2).map { _ in EpochStart(number: 2, commitment: EpochKeys.commitment(to: .random(count: 32)))
        }
        var log = fleet.log
        log.insert([try fleet.entry(.rotate(starts[0]), by: 0), try fleet.entry(.rotate(starts[1]), by: 1)])
        #expect(log.ring.epochs.count == 3)
        #expect(log.ring.needsRotation)
        #expect(log.ring.current.entry == log.tips[0].short())
        _ = try log.rotate(fleet.ringKeys, author: fleet.ids[1], signer: fleet.keys[1])
        #expect(!log.ring.needsRotation)
        #expect(log.ring.current.number == 3)
    }

    @Test func removal_makesKeysThatTheRemovedOneDoesNotGet() throws {
        var fleet = try Fleet(3)
        let change = try fleet.log.remove(
            [Removal(member: fleet.ids[2], cuts: [:])], fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        #expect(Set(change.wraps.map(\.recipient)) == Set(fleet.ids[..<2]))
        #expect(fleet.log.ring.current == change.keys.id)
        let wrap = try #require(change.wraps.first { $0.recipient == fleet.ids[1] })
        let (keys, _) = try fleet.log.keys(from: KeyWrap(wrap.bytes), for: fleet.keys[1], fleet.ringKeys)
        #expect(keys.id == change.keys.id)
        #expect(throws: Refusal.wrongName) { try fleet.log.keys(from: wrap, for: fleet.keys[2], fleet.ringKeys) }
    }

    /// Attack: a member adds keys to which nothing can be sealed, so that nobody can make new ones, and it cannot be removed.
    @Test func keysThatNothingCanBeSealedTo_inTheRing_keepNobodyFromNewKeys() throws {
        var fleet = try Fleet(3)
        let wrapping = Data(repeating: 0xFF, count: HybridKey.publicKeyLength)
        let keys = PublicKeys(signing: try DeviceKeys.make().publicKeys().signing, wrapping: wrapping)
        let card = MemberCard(role: .device, keys: keys, name: "x")
        _ = try fleet.log.append(.add(card), author: fleet.ids[2], signer: fleet.keys[2])
        let rotation = try fleet.log.rotate(fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        #expect(Set(rotation.wraps.map(\.recipient)) == Set(fleet.ids))
        let removal = try fleet.log.remove(
            [Removal(member: fleet.ids[2], cuts: [:])], fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        #expect(fleet.log.ring.isActive(card.id) && Set(removal.wraps.map(\.recipient)) == Set(fleet.ids[..<2]))
    }

    /// Attack: a wrap of a wrong root key for one member.
    @Test func wrap_ofAnotherRootKeyOrRingOrBySomebodyElse_isRefused() throws {
        let fleet = try Fleet(2)
        let (id, other) = (fleet.log.ring.current, try Fleet(1))
        let (publicKeys, mine) = (try fleet.keys[1].publicKeys(), fleet.keys[1])
        func wrap(_ ringKeys: RingKeys, by author: Int, signer: DeviceKeys) throws -> KeyWrap {
            try KeyWrap(
                root: .random(count: 32), epoch: id, ring: ringKeys, to: publicKeys, from: fleet.ids[author],
                signer: signer)
        }
        let wrongRoot = try wrap(fleet.ringKeys, by: 0, signer: fleet.keys[0])
        #expect(throws: Refusal.notAuthentic) { try fleet.log.keys(from: wrongRoot, for: mine, fleet.ringKeys) }
        let wrongRing = try wrap(other.ringKeys, by: 0, signer: fleet.keys[0])
        #expect(throws: Refusal.wrongRing) { try fleet.log.keys(from: wrongRing, for: mine, fleet.ringKeys) }
        let forged = try wrap(fleet.ringKeys, by: 0, signer: mine)
        #expect(throws: Refusal.badSignature) { try fleet.log.keys(from: forged, for: mine, fleet.ringKeys) }
    }

    @Test func cuts_ofTwoRemovals_acceptWhatEitherAccepts() throws {
        let fleet = try Fleet(3)
        let (a, b) = (WriterID(1), WriterID(2))
        func removal(_ author: Int, _ numbers: [WriterID: UInt64]) throws -> RingEntry {
            let cuts = numbers.mapValues { Removal.Cut(number: $0, hash: .zero) }
            return try fleet.entry(.remove([Removal(member: fleet.ids[2], cuts: cuts)]), by: author)
        }
        var log = fleet.log
        log.insert([try removal(0, [a: 3]), try removal(1, [a: 5, b: 1])])
        #expect(log.ring.cuts[fleet.ids[2]]?.mapValues(\.number) == [a: 5, b: 1])
    }

    @Test func entry_encodedAndDecoded_isTheSame_andSealedOpens() throws {
        let fleet = try Fleet(2)
        for action: RingAction in [
            .policy(.allGroups), .policy(.groups(["work", "home", ""])), .unknown(kind: 9, payload: [1, 2]),
            .remove([Removal(member: fleet.ids[1], cuts: [WriterID(4): .init(number: 2, hash: .hash(of: Data()))])]),
            .rotate(EpochStart(number: 2, commitment: .hash(of: Data()))),
        ] {
            let entry = try fleet.entry(action, by: 0)
            #expect(try RingEntry(entry.bytes) == entry)
            #expect(try RingEntry.open(entry.sealed(with: fleet.ringKeys), with: fleet.ringKeys) == entry)
            for index in stride(from: 0, to: entry.bytes.count, by: 7) {
                var changed = entry.bytes
                changed[index] ^= 0x10
                var log = fleet.log
                if let read = try? RingEntry(changed) { log.insert([read]) }
                #expect(log.ring.counted == fleet.log.ring.counted)
            }
        }
    }

    @Test func entry_ofAnotherRing_isRefused() throws {
        let (fleet, other) = (try Fleet(1), try Fleet(1))
        var log = fleet.log
        let foreign = try other.entry(.policy(.allGroups), by: 0)
        #expect(log.insert([foreign]).isEmpty)
        #expect(log.isWaiting)
        let founding = try #require(other.log.entries[other.log.id])
        #expect(log.insert([founding]) == [founding.hash: .wrongRing])
        #expect(throws: Refusal.wrongRing) {
            try RingEntry.open(founding.sealed(with: fleet.ringKeys), with: fleet.ringKeys)
        }
    }

    @Test func tangledLog_isEvaluatedWithinItsBound() throws {
        let fleet = try Fleet(2)
        var entries: [RingEntry] = []
        for index in 0..<300 {
            entries.append(try fleet.entry(.policy(.groups(["\(index)"])), by: index % 2))
        }
        var log = fleet.log
        #expect(log.insert(entries).isEmpty)
        #expect(log.ring.counted.count == 302)
        #expect(log.tips.count == Bounds.tips)
    }

    // MARK: - Former keys of a machine that has new ones

    /// A fleet whose last machine has replaced its keys, the log as somebody with its former keys knows it, and the new member.
    private func renewed() throws -> (Fleet, former: RingLog, new: MemberID) {
        var fleet = try Fleet(3)
        let former = fleet.log
        // So what follows the former log directly is evaluated first.
        _ = try fleet.log.append(.policy(.groups(["a"])), author: fleet.ids[0], signer: fleet.keys[0])
        let new = DeviceKeys.make()
        let card = try fleet.card(new, "2")
        _ = try fleet.log.append(.add(card), author: fleet.ids[2], signer: fleet.keys[2])
        fleet.log.insert([try fleet.removal(of: 2, by: 2)])
        _ = try fleet.log.rotate(fleet.ringKeys, author: card.id, signer: new)
        return (fleet, former, card.id)
    }

    /// Attack: renew the keys of a machine with its former ones.
    @Test func formerKeys_thatAddAMachineAndRemoveTheirOwn_addNoMember() throws {
        let (fleet, former, _) = try renewed()
        let card = try fleet.card(DeviceKeys.make(), "2")
        var (log, rival) = (fleet.log, former)
        rival.insert([try fleet.entry(.add(card), by: 2, after: former)])
        rival.insert([try fleet.removal(of: 2, by: 2, after: rival)])
        log.insert(Array(rival.entries.values))
        #expect(log.ring.active.map(\.id) == fleet.ids[..<2].sorted())
        #expect(log.ring.needsRotation)
    }

    @Test func formerKeys_thatRemoveTheirMachineAgain_endWithKeysThatTheyDoNotGet() throws {
        let (fleet, former, _) = try renewed()
        var log = fleet.log
        log.insert([try fleet.removal(of: 2, by: 2, after: former)])
        #expect(log.ring.needsRotation)
        let change = try log.rotate(fleet.ringKeys, author: fleet.ids[1], signer: fleet.keys[1])
        #expect(Set(change.wraps.map(\.recipient)) == Set(fleet.ids[..<2]))
        #expect(log.ring.current == change.keys.id)
        #expect(!log.ring.needsRotation)
    }

    /// Attack: what removes another machine besides is no removal of oneself.
    @Test func formerKeys_thatRemoveAnotherMachineWithTheirOwn_changeNothing() throws {
        let (fleet, former, new) = try renewed()
        let targets = [fleet.ids[1], fleet.ids[2]].sorted().map { Removal(member: $0, cuts: [:]) }
        var log = fleet.log
        log.insert([try fleet.entry(.remove(targets), by: 2, after: former)])
        #expect(log.ring.active.map(\.id) == [fleet.ids[0], fleet.ids[1], new].sorted())
    }
}
