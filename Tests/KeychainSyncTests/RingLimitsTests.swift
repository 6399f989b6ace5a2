// SPDX-License-Identifier: Apache-2.0
// Logs with more than is taken, or than one entry follows.

import Foundation
import KeychainCrypto
import SecretMemory
import Testing

@testable import KeychainSyncCore

struct RingLimitsTests {
    @Test func entriesOfOneAuthor_fillOnlyItsPartOfTheLog() throws {
        let fleet = try Fleet(3)
        var log = fleet.log
        // What is unknown may have any content.
        let entries = try (0..<560).map { number in
            let payload = withUnsafeBytes(of: number) { Array($0) } + [UInt8](repeating: 0, count: 16_000)
            return try fleet.entry(.unknown(kind: 77, payload: payload), by: 2)
        }
        let size = entries[0].bytes.count
        #expect(size * entries.count > Bounds.logOfAuthor)
        let refused = log.insert(entries)
        #expect(refused.count == entries.count - Bounds.logOfAuthor / size)
        #expect(Set(refused.values) == [.tooLarge])
        // Others go on.
        let card = try fleet.card(DeviceKeys.make(), "new")
        let addition = try fleet.entry(.add(card), by: 1)
        let second = log.insert([addition])
        #expect(second.isEmpty)
        #expect(log.ring.isActive(card.id))
    }

    @Test func removedMember_andWhomItAdds_getFewEntriesIntoTheLog() throws {
        var fleet = try Fleet(3)
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        let ghost = DeviceKeys.make()
        let card = try fleet.card(ghost, "ghost")
        let unseen = fleet.log
        var entries = [try fleet.entry(.add(card), by: 2)]
        for number in 0..<200 { entries.append(try fleet.entry(.policy(.groups(["\(number)"])), by: 2)) }
        for number in 0..<200 {
            entries.append(
                try RingEntry(
                    ring: fleet.log.id, parents: [entries[0].hash], author: card.id,
                    action: .policy(.groups(["g\(number)"]))
                ).signed(by: ghost))
        }
        let before = fleet.log.entries.count
        let refused = fleet.log.insert(entries)
        #expect(fleet.log.entries.count <= before + 2 * Bounds.entriesOfOther)
        #expect(Set(refused.values) == [.afterRemoval])
        // The bound follows from what is there, so it holds for a member that reads the log again.
        var again = try RingLog(founding: try #require(unseen.entries[unseen.id]))
        again.insert(Array(fleet.log.entries.values))
        #expect(again.entries.count == fleet.log.entries.count)
        #expect(
            again.insert([try fleet.entry(.policy(.groups(["more"])), by: 2, after: unseen)]).values.contains(
                .afterRemoval))
        let later = try fleet.card(DeviceKeys.make(), "later")
        let addition = try fleet.entry(.add(later), by: 1)
        #expect(fleet.log.insert([addition]).isEmpty)
        #expect(fleet.log.ring.isActive(later.id))
    }

    /// What a removed member made before it knew of its removal may be what others follow.
    @Test func entryOfARemovedMember_thatAMemberFollows_isTaken() throws {
        let fleet = try Fleet(3)
        let policy = try fleet.entry(.policy(.groups(["a"])), by: 2)
        var other = fleet.log
        other.insert([policy])
        let card = try fleet.card(DeviceKeys.make(), "new")
        let addition = try fleet.entry(.add(card), by: 1, after: other)
        var log = fleet.log
        log.insert([try fleet.removal(of: 2, by: 0)])
        #expect(log.insert([addition]).isEmpty)
        #expect(!log.ring.isActive(card.id))
        #expect(log.insert([policy]).isEmpty)
        #expect(log.ring.isActive(card.id))
    }

    /// Two machines take different entries of a removed member, up to the bound.
    @Test func machinesThatTookDifferentEntriesOfARemovedMember_hearEachOther() throws {
        var fleet = try Fleet(3)
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        let junk = try (0..<2 * Bounds.entriesOfOther).map { number in
            try fleet.entry(.policy(.groups(["\(number)"])), by: 2, following: [fleet.log.id])
        }
        var (one, other) = (fleet.log, fleet.log)
        one.insert(Array(junk.prefix(Bounds.entriesOfOther)))
        other.insert(Array(junk.suffix(Bounds.entriesOfOther)))
        let entry = try one.append(.policy(.groups(["new"])), author: fleet.ids[0], signer: fleet.keys[0])
        let refused = other.insert(Array(one.entries.values))
        #expect(other.ring.counted.contains(entry.hash))
        // Nothing else of the removed member is taken.
        let followed = Set(junk.prefix(Bounds.entriesOfOther).map(\.hash)).intersection(entry.parents)
        #expect(refused.count == Bounds.entriesOfOther - followed.count)
        #expect(Set(refused.values) == [.afterRemoval])
    }

    /// What looks like an entry of a member opens no door.
    @Test func entriesOfARemovedMember_thatAForgedEntryFollows_areNotTaken() throws {
        var fleet = try Fleet(3)
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        let junk = try (0..<2 * Bounds.entriesOfOther).map { number in
            try fleet.entry(.policy(.groups(["\(number)"])), by: 2, following: [fleet.log.id])
        }
        let forged = try junk.map { entry in
            try RingEntry(
                ring: fleet.log.id, parents: [entry.hash], author: fleet.ids[0], action: .policy(.groups(["new"]))
            ).signed(by: fleet.keys[2])
        }
        let before = fleet.log.entries.count
        fleet.log.insert(junk + forged)
        #expect(fleet.log.entries.count == before + Bounds.entriesOfOther)
    }

    // MARK: - Numbers of epochs

    /// Such an entry does not count. It must not make those of others void.
    @Test(arguments: [3, 1000, UInt32.max])
    func removal_ofAMemberThatHasBegunAnEpochOfAnyNumber_isMade(number: UInt32) throws {
        var fleet = try Fleet(3)
        let start = EpochStart(number: number, commitment: EpochKeys.commitment(to: Randomness().key()))
        fleet.log.insert([try fleet.entry(.rotate(start), by: 2)])
        let removals = [Removal(member: fleet.ids[2], cuts: [:])]
        _ = try fleet.log.remove(removals, fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        #expect(!fleet.isActive(2))
        #expect(fleet.log.ring.current.number == 2 && !fleet.log.ring.needsRotation)
        // A removed one cannot either.
        fleet.log.insert([try fleet.entry(.rotate(start), by: 2)])
        _ = try fleet.log.rotate(fleet.ringKeys, author: fleet.ids[1], signer: fleet.keys[1])
        #expect(fleet.log.ring.current.number > 2 && !fleet.log.ring.needsRotation)
    }

    @Test func newKeys_ofARingThatBeganWithAnotherNumber_count() throws {
        let keys = DeviceKeys.make()
        let card = MemberCard(role: .device, keys: try keys.publicKeys(), name: "0")
        let start = EpochStart(number: 5, commitment: EpochKeys.commitment(to: Randomness().key()))
        let entry = try RingEntry(ring: .zero, parents: [], author: card.id, action: .found(card, start))
            .signed(by: keys)
        var log = try RingLog(founding: entry)
        let ringKeys = RingKeys(secret: Randomness().key(), ring: log.id)
        let change = try log.rotate(ringKeys, author: card.id, signer: keys)
        #expect(change.entries.allSatisfy { log.ring.counted.contains($0.hash) })
    }

    // MARK: - More tips than an entry follows

    /// The current keys are of one that is not among the first last entries.
    @Test func newKeys_amongTooManyTips_areTheCurrentOnes() throws {
        for _ in 0..<8 {
            var fleet = try wideFleet()
            _ = try fleet.log.rotate(fleet.ringKeys, author: fleet.ids[1], signer: fleet.keys[1])
            _ = try fleet.log.rotate(fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
            #expect(fleet.log.ring.current.number == 3)
        }
    }

    /// - Returns: A ring of which 256 entries of its second member are the last, none of which follows another one.
    private func wideFleet() throws -> Fleet {
        var fleet = try Fleet(2)
        let tips = fleet.log.tips
        fleet.log.insert(
            try (0..<256).map { try fleet.entry(.policy(.groups(["\($0)"])), by: 1, following: tips) })
        return fleet
    }

    @Test func entry_amongTooManyTips_followsTheLastOneOfItsAuthor() throws {
        var fleet = try wideFleet()
        var last = fleet.log.id
        for number in 0..<16 {
            let entry = try fleet.log.append(
                .policy(.groups(["own \(number)"])), author: fleet.ids[0], signer: fleet.keys[0])
            #expect(entry.parents.contains(last) || number == 0)
            last = entry.hash
        }
    }

    @Test func newMember_amongTooManyTips_makesEntriesThatCount() throws {
        var fleet = try wideFleet()
        for index in 2..<18 {
            try fleet.add("\(index)")
            _ = try fleet.log.append(
                .policy(.groups(["\(index)"])), author: fleet.ids[index], signer: fleet.keys[index])
        }
    }

    @Test func memberThatContinuesAsAnother_amongTooManyTips_isThere() throws {
        var fleet = try wideFleet()
        for index in 2..<18 {
            let author = index == 2 ? 0 : index - 1
            try fleet.add("\(index)", by: author)
            _ = try fleet.log.append(
                fleet.removing(author), author: fleet.ids[author], signer: fleet.keys[author])
            #expect(fleet.isActive(index))
        }
    }

    /// Removals of a member and another one by itself, none of which knows another one: each of them could void all others.
    @Test func entriesThatTakeTooLongToEvaluate_keepNobodyElseOut() throws {
        var fleet = try Fleet(3)
        fleet.log.limits.work = 300_000
        let tangle = try (0..<300).map { number in
            let cuts = [WriterID(UInt64(number)): Removal.Cut(number: 1, hash: .zero)]
            let targets = [fleet.ids[1], fleet.ids[2]].sorted().map { Removal(member: $0, cuts: cuts) }
            return try fleet.entry(.remove(targets), by: 2)
        }
        let card = try fleet.card(DeviceKeys.make(), "new")
        let addition = try fleet.entry(.add(card), by: 1)
        let refused = fleet.log.insert(tangle + [addition])
        #expect(refused.count == tangle.count)
        #expect(fleet.log.ring.isActive(card.id))
        #expect(fleet.log.ring.isActive(fleet.ids[2]))
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        #expect(!fleet.log.ring.isActive(fleet.ids[2]))
    }
}
