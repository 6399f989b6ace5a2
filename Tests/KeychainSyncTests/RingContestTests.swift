// SPDX-License-Identifier: Apache-2.0
// Removals that do not count, although their authors could not know why: which of them a person has to decide about.

import Foundation
import KeychainCrypto
import Testing

@testable import KeychainSyncCore

struct RingContestTests {
    @Test func mutualRemoval_isAContest() throws {
        var fleet = try Fleet(3)
        fleet.log.insert([try fleet.removal(of: 2, by: 1), try fleet.removal(of: 1, by: 2)])
        #expect(fleet.contests == [2: [1]])
    }

    @Test func removalByWhoKnewOfItsOwn_isNoContest() throws {
        var fleet = try Fleet(3)
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        fleet.log.insert([try fleet.removal(of: 0, by: 2)])
        #expect(fleet.log.ring.contests.isEmpty)
    }

    @Test func contestedMember_removedByAnotherWhoKnows_isNoContestAnyMore() throws {
        var fleet = try Fleet(3)
        fleet.log.insert([try fleet.removal(of: 2, by: 1), try fleet.removal(of: 1, by: 2)])
        fleet.log.insert([try fleet.removal(of: 1, by: 0)])
        #expect(fleet.log.ring.contests.isEmpty)
    }

    /// Attack: a stolen machine voids its removal through a member that it adds for this.
    @Test func removalVoidedByAMemberThatItsTargetHasAdded_isAContest() throws {
        var fleet = try Fleet(3)
        let before = fleet.log
        try fleet.add("thief", by: 0)
        let removal = try fleet.removal(of: 0, by: 1, after: before)
        fleet.log.insert([try fleet.removal(of: 1, by: 3), removal])
        #expect(fleet.isActive(0))
        #expect(fleet.contests == [1: [0, 3]])
    }

    /// Attack: a stolen machine removes whoever has added the one that removes it, so that this was never a member.
    @Test func removalByAMemberWhoseAdditionWasVoided_isAContestWithWhoHasAddedIt() throws {
        var fleet = try Fleet(2)
        let before = fleet.log
        try fleet.add("2", by: 1)
        let removal = try fleet.removal(of: 0, by: 2)
        fleet.log.insert([try fleet.removal(of: 1, by: 0, after: before), removal])
        #expect(fleet.log.ring.members[fleet.ids[2]] == nil)
        #expect(fleet.contests == [1: [0]])
    }

    /// However many members a removed one adds, it is one contest.
    @Test func removalsByMembersThatARemovedOneAdds_areOneContest() throws {
        var fleet = try Fleet(3)
        var other = fleet
        for name in ["a", "b"] { try other.add(name, by: 2) }
        fleet.log.insert([try fleet.removal(of: 2, by: 1)])
        fleet.log.insert(Array(other.log.entries.values))
        for author in [3, 4] { fleet.log.insert([try other.removal(of: 0, by: author)]) }
        #expect(fleet.contests == [2: [0]])
    }

    /// The machine that has removed another one makes new keys for its vault afterwards.
    @Test func removalByAMemberThatThenRemovesItself_isAContest() throws {
        var fleet = try Fleet(2)
        let before = fleet.log
        fleet.log.insert([try fleet.removal(of: 0, by: 1)])
        let leaving = try fleet.removal(of: 1, by: 1)
        fleet.log.insert([leaving, try fleet.removal(of: 1, by: 0, after: before)])
        fleet.log = try fleet.restarted()
        #expect(fleet.contests == [1: [0]])
    }

    @Test func removalByFormerKeys_isNoContest() throws {
        var fleet = try Fleet(2)
        let removal = try fleet.removal(of: 0, by: 1)
        fleet.log.insert([try fleet.removal(of: 1, by: 1)])
        fleet.log.insert([removal])
        #expect(fleet.log.ring.contests.isEmpty)
    }

    @Test func removalByAReader_isNoContest() throws {
        var fleet = try Fleet(2)
        try fleet.add("reader", .reader)
        fleet.log.insert([try fleet.removal(of: 0, by: 2)])
        #expect(fleet.log.ring.contests.isEmpty)
    }

    // MARK: - Attacks with the keys of a removed founder

    /// It adds a member that puts the remover out, and leaves: the member would stay.
    @Test func targetThatLeavesAfterItHasAddedAnother_isAContestAboutThatOne() throws {
        var fleet = try Fleet(3)
        let before = fleet.log.tips
        fleet.log.insert([try fleet.removal(of: 0, by: 1)])
        let addition = try fleet.entry(.add(try fleet.stranger()), by: 0, following: before)
        fleet.log.insert([
            addition, try fleet.entry(fleet.removing(1), by: 3, following: [addition.hash]),
            try fleet.entry(fleet.removing(0), by: 0, following: [addition.hash]),
        ])
        #expect(fleet.isActive(3) && !fleet.isActive(0))
        #expect(fleet.returned == [3])
        fleet.log = try fleet.fresh()
        #expect(fleet.contests == [1: [3]])
    }

    /// Nothing shows before the founder is removed, and the removal knows of all of it.
    @Test func removalUndoneByEntriesThatItKnows_isAContest() throws {
        var fleet = try Fleet(3)
        let addition = try fleet.entry(.add(try fleet.stranger()), by: 0, following: fleet.log.tips)
        let removal = try fleet.entry(fleet.removing(1), by: 3, following: [addition.hash])
        fleet.log.insert([addition, removal, try fleet.entry(fleet.removing(3), by: 3, following: [addition.hash])])
        #expect(fleet.isActive(1) && fleet.contests.isEmpty)
        fleet.log.insert([try fleet.removal(of: 0, by: 1)])
        let last = try fleet.entry(fleet.removing(3), by: 0, following: [removal.hash])
        fleet.log.insert([last])
        #expect(fleet.isActive(0) && fleet.returned == [0])
        fleet.log = try fleet.fresh()
        #expect(fleet.isActive(0) && fleet.contests == [1: [0]])
    }

    /// Its author has made more entries than somebody may make who is no member.
    @Test func contest_isThereAfterARestart_andWithoutTheFormerState() throws {
        var fleet = try Fleet(3)
        let before = fleet.log
        for index in 0..<70 { try fleet.add("\(index)", by: 1) }
        fleet.log.insert([try fleet.removal(of: 0, by: 1)])
        fleet.log.insert([try fleet.removal(of: 1, by: 0, after: before)])
        let returned = fleet.log.returned
        #expect(fleet.contests == [1: [0]] && fleet.returned == [0])
        fleet.log = try fleet.restarted()
        #expect(fleet.contests == [1: [0]] && fleet.returned.isEmpty)
        try fleet.log.setReturned(returned)
        #expect(fleet.returned == [0])
    }

    /// The removal comes last.
    @Test func removalByOneWhoseManyEntriesAreVoid_isHeard() throws {
        var fleet = try Fleet(3)
        let before = fleet.log
        for index in 0..<70 { try fleet.add("\(index)", by: 1) }
        let removal = try fleet.removal(of: 0, by: 1)
        fleet.log.insert([try fleet.removal(of: 1, by: 0, after: before)])
        #expect(fleet.log.insert([removal]).isEmpty)
        #expect(fleet.contests == [1: [0]])
    }

    /// One entry undoes two removals. A person has to look at both.
    @Test func removalsByOneMember_areOneContestAboutAllOfThem() throws {
        var fleet = try Fleet(5)
        let before = fleet.log
        fleet.log.insert([try fleet.removal(of: 3, by: 2)])
        fleet.log.insert([try fleet.removal(of: 0, by: 2)])
        fleet.log.insert([try fleet.removal(of: 2, by: 0, after: before)])
        #expect(fleet.contests == [2: [0, 3]] && fleet.returned == [0, 3])
    }

    /// A decision about what a member has removed covers nobody whom it had removed before.
    @Test func memberThatReturns_isAContestOfItsOwn() throws {
        var fleet = try Fleet(4)
        let before = fleet.log
        fleet.log.insert([try fleet.removal(of: 0, by: 2)])
        let middle = fleet.log
        fleet.log.insert([
            try fleet.removal(of: 2, by: 1, after: middle), try fleet.removal(of: 1, by: 2, after: middle),
        ])
        #expect(fleet.contests == [2: [1]])
        fleet.log.insert([try fleet.removal(of: 2, by: 0, after: before)])
        #expect(fleet.isActive(0) && fleet.contests == [2: [0, 1]] && fleet.returned == [0])
    }

    /// It adds others once it is back.
    @Test func memberAddedByOneThatHasReturned_isAContestToo() throws {
        var fleet = try Fleet(3)
        let before = fleet.log
        fleet.log.insert([try fleet.removal(of: 0, by: 1)])
        fleet.log.insert([try fleet.removal(of: 1, by: 0, after: before)])
        let addition = try fleet.entry(.add(try fleet.stranger()), by: 0)
        fleet.log.insert([addition])
        #expect(fleet.returned == [0, 3])
        try fleet.log.setReturned([fleet.ids[3]])
        fleet.log.insert([try fleet.entry(.policy(.allGroups), by: 2)])
        #expect(fleet.returned == [3])
        fleet.log.insert([try fleet.removal(of: 3, by: 2)])
        #expect(fleet.returned.isEmpty)
    }

    /// The machine was away while another one got new keys several times.
    @Test func memberThatHasComeThroughOthersThatHaveGone_isNoContest() throws {
        var fleet = try Fleet(2)
        let away = fleet.log
        for _ in 0..<3 {
            let old = fleet.ids.count - 1
            try fleet.add("next", by: old)
            _ = try fleet.log.append(fleet.removing(old), author: fleet.ids[old], signer: fleet.keys[old])
        }
        let entries = Array(fleet.log.entries.values)
        fleet.log = away
        fleet.log.insert(entries)
        #expect(fleet.isActive(4) && fleet.returned.isEmpty && fleet.contests.isEmpty)
    }

    /// The vault of the remover was restored from a backup before the removal, and got new keys.
    @Test func removalUndoneByFormerKeysOfItsAuthor_isAContestWhereItCounted() throws {
        var fleet = try Fleet(3)
        var copy = fleet.log
        fleet.log.insert([try fleet.removal(of: 0, by: 1)])
        let addition = try copy.append(.add(try fleet.stranger()), author: fleet.ids[1], signer: fleet.keys[1])
        fleet.log.insert([addition, try copy.append(fleet.removing(1), author: fleet.ids[1], signer: fleet.keys[1])])
        #expect(fleet.isActive(0) && fleet.contests.isEmpty && fleet.returned == [0])
    }

    /// A member that was not added by an entry that counts belongs to whoever has added it, but not to whom it removes.
    @Test func removalByOneThatItsTargetHasAdded_belongsToItsAuthor() throws {
        var fleet = try Fleet(3)
        fleet.log.insert([try fleet.removal(of: 0, by: 2)])
        let former = try #require(fleet.log.entries.values.first { $0.action.card?.id == fleet.ids[1] })
        let added = try #require(fleet.log.entries.values.first { $0.action.card?.id == fleet.ids[2] })
        // Of two entries of the same depth, the one with the smaller hash comes first.
        while true {
            var attempt = fleet
            let addition = try attempt.entry(.add(try attempt.stranger()), by: 0, following: [former.hash])
            guard addition.hash < added.hash else { continue }
            attempt.log.insert([addition, try attempt.entry(attempt.removing(0), by: 3, following: [addition.hash])])
            attempt.log = try attempt.restarted()
            #expect(attempt.isActive(3) && attempt.contests == [2: [3]])
            break
        }
    }

    /// It has added a member twice that leaves, but by an entry that knows of the first addition alone.
    @Test func memberThatWasOut_andComesBackOnceItsAdderLeaves_isAContest() throws {
        var fleet = try Fleet(3)
        let before = fleet.log.tips
        let card = try fleet.stranger()
        let first = try fleet.entry(.add(card), by: 0, following: before)
        let second = try fleet.entry(.add(card), by: 0, following: [fleet.log.id])
        fleet.log.insert([first, second, try fleet.entry(fleet.removing(3), by: 3, following: [first.hash])])
        #expect(!fleet.isActive(3))
        fleet.log.insert([try fleet.removal(of: 0, by: 1)])
        let undoing = try fleet.entry(fleet.removing(1), by: 0, following: (before + [second.hash]).sorted())
        fleet.log.insert([undoing, try fleet.entry(fleet.removing(0), by: 0, following: [undoing.hash])])
        #expect(fleet.isActive(3) && fleet.returned == [3])
        fleet.log = try fleet.fresh()
        #expect(fleet.isActive(3) && fleet.contests == [1: [3]])
    }

    /// A void addition of the remover by a member about which a person has decided.
    @Test func removal_belongsToNoMemberThatHasAddedItsAuthorInVain() throws {
        var fleet = try Fleet(3)
        let before = fleet.log.tips
        try fleet.add("3", by: 2)
        let first = try fleet.entry(.add(try fleet.stranger()), by: 0, following: [fleet.log.id])
        fleet.log.insert([first])
        let removal = try fleet.entry(fleet.removing(4), by: 0)
        fleet.log.insert([
            removal, try fleet.entry(fleet.removing(1), by: 4, following: [first.hash]),
            try fleet.entry(.add(try fleet.card(fleet.keys[3], "3")), by: 4, following: [first.hash]),
        ])
        #expect(fleet.contests == [4: [1]])
        fleet.log.insert([
            try fleet.removal(of: 0, by: 3), try fleet.entry(fleet.removing(2), by: 0, following: before),
        ])
        #expect(fleet.isActive(0) && fleet.contests == [4: [1], 2: [0]])
    }

    /// The machine that joins has been added by the thief as well.
    @Test func contestThatWasUnknownToAnInvitation_isNotDecidedByIt() throws {
        var fleet = try Fleet(3)
        let before = fleet.log.tips
        fleet.log.insert([try fleet.removal(of: 0, by: 1)])
        let offered = fleet.log.tips
        try fleet.add("phone", by: 2)
        let undoing = try fleet.entry(fleet.removing(1, 2), by: 0, following: before)
        let card = try fleet.card(fleet.keys[3], "phone")
        let again = try fleet.entry(.add(card), by: 0, following: (fleet.log.tips + [undoing.hash]).sorted())
        fleet.log.insert([undoing, again])
        fleet.log = try fleet.fresh()
        #expect(fleet.isActive(0) && fleet.isActive(3) && fleet.contests == [1: [0, 3]])
        #expect(try fleet.log.contests(knownTo: offered).isEmpty)
        #expect(try fleet.log.contests(knownTo: fleet.log.tips) == Set(fleet.log.ring.contests.keys))
    }

    // MARK: - Nobody can make contests as they like

    /// Attack: removals that are no contests take as long to look at as an evaluation may.
    @Test func removalsThatTakeLongToLookAt_keepNobodyFromRemovingAnother() throws {
        var fleet = try Fleet(4)
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        fleet.log.limits.work = 100_000
        let others = (0..<200).map { _ in MemberID.random() }
        for number in 0..<64 {
            let members = [fleet.ids[1], fleet.ids[3]] + others.dropFirst(number)
            let removals = members.sorted().map { Removal(member: $0, cuts: [:]) }
            fleet.log.insert([try fleet.entry(.remove(removals), by: 2, following: [fleet.log.id])])
        }
        let removal = Removal(member: fleet.ids[1], cuts: [:])
        _ = try fleet.log.remove([removal], fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        #expect(!fleet.isActive(1))
    }

    @Test func removalByOneThatAReaderHasAdded_isNoContest() throws {
        var fleet = try Fleet(2)
        try fleet.add("reader", .reader)
        let addition = try fleet.entry(.add(try fleet.stranger()), by: 2)
        fleet.log.insert([addition, try fleet.entry(fleet.removing(0), by: 3, following: [addition.hash])])
        #expect(fleet.contests.isEmpty)
    }

    @Test func removalsByOnesThatCouldNotBeAdded_areNoContests() throws {
        var fleet = try Fleet(3)
        let before = fleet.log.tips
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        for _ in 0..<5 {
            let first = try fleet.entry(.add(try fleet.stranger()), by: 2, following: before)
            let last = try fleet.entry(.add(try fleet.stranger()), by: fleet.ids.count - 2, following: [fleet.log.id])
            let removal = try fleet.entry(fleet.removing(0), by: fleet.ids.count - 1, following: [last.hash])
            for entry in [first, last, removal] { fleet.log.insert([entry]) }
        }
        #expect(fleet.contests.isEmpty)
    }

    // MARK: - Keys, restarts and entries beside contests

    /// Attack: a removed member is added once more, beside the newest keys.
    @Test func memberThatTheNewestKeysHaveLeftOut_getsThemByNoSecondAddition() throws {
        var fleet = try Fleet(5)
        let before = fleet.log
        fleet.log.insert([try fleet.removal(of: 0, by: 1)])
        let removal = Removal(member: fleet.ids[4], cuts: [:])
        _ = try fleet.log.remove([removal], fleet.ringKeys, author: fleet.ids[2], signer: fleet.keys[2])
        fleet.log.insert([
            try fleet.entry(.add(try fleet.card(fleet.keys[0], "0")), by: 0, after: before),
            try fleet.removal(of: 1, by: 0, after: before),
        ])
        #expect(fleet.isActive(0) && fleet.log.ring.withoutKeys.isEmpty)
    }

    /// A machine that gets new keys often, and then adds many.
    @Test func membersAfterManyRenewals_areAllThereAfterARestartAndOnANewMachine() throws {
        var fleet = try Fleet(2)
        for _ in 0..<10 {
            let old = fleet.ids.count - 1
            try fleet.add("next", by: old)
            _ = try fleet.log.append(fleet.removing(old), author: fleet.ids[old], signer: fleet.keys[old])
        }
        let last = fleet.ids.count - 1
        for index in 0..<70 { try fleet.add("\(index)", by: last) }
        fleet.log.insert([try fleet.removal(of: 0, by: last)])
        let active = fleet.log.ring.active.map(\.id)
        #expect(active.count == 71)
        #expect(try fleet.restarted().ring.active.map(\.id) == active)
        var new = try RingLog(founding: try #require(fleet.log.entries[fleet.log.id]))
        new.insert(Array(fleet.log.entries.values))
        #expect(new.ring.active.map(\.id) == active && new.ring.contests.isEmpty)
    }

    /// Attack: nothing that follows an action of a newer version counts.
    @Test func unknownActionOfARemovedMember_keepsNobodyFromChangingTheRing() throws {
        var fleet = try Fleet(3)
        let before = fleet.log
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        let unknown = try fleet.entry(.unknown(kind: 77, payload: []), by: 2, after: before)
        fleet.log.insert([unknown])
        fleet.log.insert([try fleet.entry(fleet.removing(0), by: 2, following: [unknown.hash])])
        _ = try fleet.log.rotate(fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        #expect(fleet.log.ring.current.number == 2)
    }

    /// Attack: an entry follows sixteen others at most. Those of a removed member come first by their hashes.
    @Test func manyEntriesOfARemovedMember_keepNobodyFromChangingTheRing() throws {
        var fleet = try Fleet(3)
        fleet.log.insert([try fleet.removal(of: 2, by: 0)])
        _ = try fleet.log.rotate(fleet.ringKeys, author: fleet.ids[0], signer: fleet.keys[0])
        let tip = fleet.log.tips[0]
        var (flood, number) = ([RingEntry](), 0)
        while flood.count < Bounds.tips {
            number += 1
            let entry = try fleet.entry(.policy(.groups(["\(number)"])), by: 2, following: [fleet.log.id])
            if entry.hash < tip { flood.append(entry) }
        }
        fleet.log.insert(flood)
        let removal = Removal(member: fleet.ids[0], cuts: [:])
        _ = try fleet.log.remove([removal], fleet.ringKeys, author: fleet.ids[1], signer: fleet.keys[1])
        #expect(!fleet.isActive(0) && fleet.log.ring.current.number == 3)
    }
}
