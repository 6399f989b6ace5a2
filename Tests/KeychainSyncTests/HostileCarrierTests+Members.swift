// SPDX-License-Identifier: Apache-2.0
// Members, former members and others that forge what only members may write: attacks 1, 2, 14 to 21, 33 and 34.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import KeychainVault
import SecretMemory
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

extension HostileCarrierTests {
    // MARK: - Records

    @Test func record_replayedInANewSegment_isRefused() async throws {
        let (laptop, desktop) = try await world.synced()
        let attacker = try await world.replica(desktop)
        let old = try #require(attacker.items.records.first)
        try laptop.update("a", "2")
        try await world.settle(laptop, desktop)
        let context = try await world.replica(laptop).items.vector.without(old.header.dot.writer)
        let forged = try attacker.segment([.init(record: old, context: 0)], contexts: [context], vector: context)
        try await world.view(laptop).replay(forged.bytes, as: forged.name)
        #expect(try await laptop.exchange().refused(.notAuthentic) == [forged.name])
        #expect(try laptop.items() == ["a=2"])
    }

    @Test func records_withEachOthersContents_areRefused() async throws {
        let (laptop, desktop) = try await world.synced()
        let attacker = try await world.replica(desktop)
        let (first, second) = (
            try attacker.record(RingMemberTests.item("x"), counter: 1),
            try attacker.record(RingMemberTests.item("y"), counter: 2)
        )
        let swapped = [(first, second), (second, first)].map { header, content in
            Batch.Entry(
                record: SealedRecord(
                    header: header.header, author: header.author, epoch: header.epoch, sealed: content.sealed),
                context: 0)
        }
        let forged = try attacker.segment(swapped)
        try await world.view(laptop).replay(forged.bytes, as: forged.name)
        #expect(try await laptop.exchange().refused(.notAuthentic) == [forged.name])
        #expect(try laptop.items() == ["a=1"])
    }

    @Test func item_ofAGroupThatTheRingDoesNotShare_isNotTaken() async throws {
        let (laptop, desktop) = try await world.pair()
        try await world.act(laptop) { replica, _ in
            let entry = try replica.log.append(
                .policy(.groups(["default"])), author: replica.member, signer: replica.keys)
            return try replica.store([entry])
        }
        try await world.settle(laptop, desktop)
        var foreign = RingMemberTests.item("foreign")
        foreign.attributes[.accessGroup] = .string("team")
        for item in [foreign, RingMemberTests.item("own")] {
            try await world.act(laptop) { replica, now in
                let id = replica.keyring.ring.item(SharedItem.primaryKey(item))
                let write = LocalWrite(item: id, .value(SharedItem.encode(item), accessibility: 6))
                _ = try replica.commit([write], at: now)
                return []
            }
        }
        try await laptop.exchange()
        let findings = try await desktop.exchange().findings
        #expect(findings.contains { if case .notUnderstood = $0 { true } else { false } })
        #expect(try desktop.items() == ["own=pushed"])
    }

    // MARK: - The log of the ring

    /// By an author that the ring does not know, and in the name of one that it knows.
    @Test(arguments: [false, true]) func member_addedByAStranger_isNone(_ claimsToBeAMember: Bool) async throws {
        let (laptop, desktop) = try await world.synced()
        let (victim, stranger) = (try await world.replica(laptop), DeviceKeys.make())
        let publicKeys = try stranger.publicKeys()
        let card = MemberCard(role: .device, keys: publicKeys, name: "mallory")
        let author = claimsToBeAMember ? victim.member : publicKeys.member
        let entry = try RingEntry(ring: victim.log.id, parents: victim.log.tips, author: author, action: .add(card))
            .signed(by: stranger)
        let name = ObjectName.entry(entry.hash)
        try await world.view(desktop).replay(try entry.sealed(with: victim.keyring.ring), as: name)
        let refusal: Refusal = claimsToBeAMember ? .badSignature : .notAMember
        #expect(try await desktop.exchange().refused(refusal).contains(name))
        #expect(try await desktop.member.status().members.map(\.name).sorted() == ["desktop", "laptop"])
    }

    @Test func entriesFromBeforeARemoval_replayed_bringNoMemberBack() async throws {
        let (laptop, desktop) = try await world.synced()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        let old = try await world.objects(laptop)
        try await world.remove(server, by: laptop)
        try await world.settle(laptop, desktop)
        for machine in [laptop, desktop] {
            try await world.view(machine).flood(old)
            try await machine.exchange()
            #expect(try await machine.member.status().members.map(\.name).sorted() == ["desktop", "laptop"])
        }
        let keys = try await world.replica(server).keys.publicKeys()
        await #expect(throws: KeychainError.self) {
            try await world.act(laptop) { replica, _ in
                try replica.admit(MemberCard(role: .device, keys: keys, name: "server"))
            }
        }
    }

    @Test func removal_hiddenFromAMachine_isNoticedWithinAWeek() async throws {
        let (laptop, desktop) = try await world.synced()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        try await world.view(desktop).fork()
        try await world.remove(server, by: laptop)
        let member = try await world.replica(laptop).member
        world.advance(Observations.longSilence)
        try await laptop.exchange()
        let findings = try await desktop.exchange().findings
        #expect(findings.contains { if case .silent(member, _) = $0 { true } else { false } })
    }

    @Test func noticeOfASilentMachine_hasItsName() async throws {
        let (laptop, _) = try await world.synced()
        world.advance(Observations.longSilence)
        let texts = try await laptop.exchange().texts
        #expect(texts.contains { $0.hasPrefix("The machine 'desktop' has sent nothing for a week.") }, "\(texts)")
        let notices = try await laptop.member.status().notices.map(\.message)
        #expect(notices.contains { $0.hasPrefix("The machine 'desktop' has sent nothing") }, "\(notices)")
    }

    @Test func removal_hiddenAlone_isNoticedWithinAWeek() async throws {
        let (laptop, desktop) = try await world.synced()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        let before = Set(try await world.objects(laptop).keys)
        try await world.remove(server, by: laptop)
        let hidden = Set(
            try await world.names(laptop) { Kind.entry.holds($0) && !before.contains($0) })
        try await world.view(desktop).withhold { hidden.contains($0) }
        try laptop.update("a", "2")
        try await world.settle(laptop)
        let member = try await world.replica(laptop).member
        world.advance(Observations.longSilence)
        let findings = try await desktop.exchange().findings
        #expect(findings.contains { if case .silent(member, _) = $0 { true } else { false } })
        #expect(try desktop.items() == ["a=1"])
    }

    /// The keys that are made with it are there.
    @Test func removal_hiddenAlone_isNoticedAfterTheGrace_byItsKeys() async throws {
        let (laptop, desktop) = try await world.synced()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        let before = Set(try await world.objects(laptop).keys)
        try await world.remove(server, by: laptop)
        try await world.view(desktop).withhold { Kind.entry.holds($0) && !before.contains($0) }
        #expect(try await !desktop.exchange().findings.contains(.entryWithheld))
        world.advance(Observations.grace)
        #expect(try await desktop.exchange().findings.contains(.entryWithheld))
    }

    @Test func twoEntriesAtOnce_areBothHeard() async throws {
        let (laptop, desktop) = try await world.synced()
        for machine in [laptop, desktop] {
            try await world.view(machine).fork()
            try await world.act(machine) { replica, _ in try replica.rotate() }
        }
        var both: HostileCarrier.Objects = [:]
        for machine in [laptop, desktop] {
            both.merge(try await world.view(machine).shown()) { first, second in
                first + second.filter { !first.contains($0) }
            }
        }
        for machine in [laptop, desktop] { try await world.view(machine).behave() }
        try await world.view(laptop).restore(both)
        try await world.settle(laptop, desktop, laptop)
        #expect(try await world.replica(laptop).ring.current == world.replica(desktop).ring.current)
        try laptop.update("a", "2")
        try await world.settle(laptop, desktop)
        #expect(try desktop.items() == ["a=2"])
    }

    // MARK: - Keys

    /// An entry of its epoch may still come.
    @Test func wrap_thatIsReadEachTime_keepsNothingFromBeingWrittenAgain() async throws {
        let (laptop, _) = try await world.synced()
        let replica = try await world.replica(laptop)
        let epoch = EpochID(number: 9, entry: .random())
        let wrap = try KeyWrap(
            root: SecretBytes.random(count: 32), epoch: epoch, ring: replica.keyring.ring,
            to: replica.keys.publicKeys(), from: replica.member, signer: replica.keys)
        let carrier = world.base(replica.log.id)
        _ = try await carrier.publish(.wrap(epoch, replica.member), wrap.bytes, beside: false)
        let segment = try #require(try await world.segments(laptop).first)
        try await carrier.remove([segment])
        try await laptop.exchange()
        #expect(try await world.objects(laptop)[segment] != nil)
    }

    @Test func wrap_ofAnotherRootKey_isRefused() async throws {
        let (laptop, desktop) = try await world.synced()
        try await world.act(laptop) { replica, _ in try replica.rotate() }
        let (inviter, victim) = (try await world.replica(laptop), try await world.replica(desktop))
        let wrap = try KeyWrap(
            root: SecretBytes.random(count: 32), epoch: inviter.ring.current, ring: inviter.keyring.ring,
            to: victim.keys.publicKeys(), from: inviter.member, signer: inviter.keys)
        let name = ObjectName.wrap(inviter.ring.current, victim.member)
        let view = try await world.view(desktop)
        view.forge(name, [wrap.bytes])
        try laptop.update("a", "2")
        try await laptop.exchange()
        #expect(try await desktop.exchange().refused(.notAuthentic) == [name])
        #expect(try desktop.items() == ["a=1"])
        view.behave()
        for _ in 0..<2 { try await desktop.exchange() }
        #expect(try desktop.items() == ["a=2"])
    }

    @Test func segment_underAnEarlierEpochThanTheLast_isRefused() async throws {
        let (laptop, desktop) = try await world.synced()
        let old = try await world.replica(laptop)
        try await world.act(laptop) { replica, _ in try replica.rotate() }
        try laptop.update("a", "2")
        try await world.settle(laptop, desktop)
        let attacker = try await world.replica(laptop)
        let forged = try attacker.segment([], contexts: [], epoch: try old.keyring.keys(of: old.ring.current))
        try await world.view(desktop).replay(forged.bytes, as: forged.name)
        #expect(try await desktop.exchange().refused(.contradiction) == [forged.name])
    }

    @Test func segment_ofANewerFormatOrSuite_isNamedAndNotUsed() async throws {
        let (laptop, desktop) = try await world.pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        let name = try #require(try await world.segments(laptop).first)
        var contents: [Data] = []
        for index in [4, 5] {
            var bytes = try await world.content(name, laptop)
            bytes[index] = 9
            contents.append(bytes)
        }
        try await world.view(desktop).forge(name, contents)
        #expect(try await desktop.exchange().refused(.newerFormat) == [name])
        #expect(try desktop.items() == [])
    }

    @Test func entry_ofANewerVersion_makesTheRingReadOnly() async throws {
        let (laptop, desktop) = try await world.synced()
        try await world.act(laptop) { replica, _ in
            let entry = try replica.log.append(
                .unknown(kind: 77, payload: [1]), author: replica.member, signer: replica.keys)
            return try replica.store([entry])
        }
        try desktop.update("a", "2")
        for machine in [laptop, desktop] {
            let error = await #expect(throws: KeychainError.self) { try await machine.exchange() }
            #expect(error?.reason == .newerFormat)
        }
        #expect(try desktop.items() == ["a=2"])
        #expect(try laptop.items() == ["a=1"])
    }

    // MARK: - Removed members

    @Test func removedMember_thatGoesOnWriting_isNotHeard() async throws {
        let (laptop, desktop, server) = try await world.removedUnawares()
        try await world.settle(laptop, desktop)
        try server.update("a", "late")
        try await server.exchange()
        let late = try await world.hiddenSegments(server)
        #expect(!late.isEmpty)
        for machine in [laptop, desktop] {
            try await world.view(machine).flood(late)
            #expect(try await Set(machine.exchange().refused(.afterRemoval)) == Set(late.keys))
            #expect(try machine.items() == ["a=1"])
        }
    }

    /// The first exchange says what is not used, the later ones have nothing new.
    @Test func changesOfARemovedMember_thatComeAfterItsRemoval_areCountedInTheStatus() async throws {
        let (laptop, _, server) = try await world.removedUnawares()
        for account in ["b", "c"] {
            try server.add(account, "late")
            try await server.exchange()
        }
        let late = try await world.hiddenSegments(server)
        #expect(try await laptop.member.status().unused == 0)
        try await world.view(laptop).flood(late)
        for _ in 0..<2 { try await laptop.exchange() }
        #expect(try await laptop.member.status().unused == 2)
        #expect(try await laptop.sync.status().unused == 2)
    }

    @Test func removedMember_thatWritesAsAnotherUnderItsOldKeys_isRefused() async throws {
        let (laptop, desktop) = try await world.synced()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        let thief = try await world.replica(server)
        try await world.remove(server, by: laptop)
        try await world.settle(laptop, desktop)
        let victim = try await world.replica(laptop)
        let forged = try thief.segment([], contexts: [], in: victim)
        try await world.view(desktop).replay(forged.bytes, as: forged.name)
        #expect(try await desktop.exchange().refused(.badSignature) == [forged.name])
    }
}

extension HostileWorld {
    /// The server was removed by the laptop, and sees nothing of that: what it writes, it alone sees.
    fileprivate func removedUnawares() async throws -> (laptop: Machine, desktop: Machine, server: Machine) {
        let (laptop, desktop) = try await synced()
        let server = try await join("server", by: laptop)
        try await settle(laptop, desktop, server)
        try await view(server).fork()
        try await remove(server, by: laptop)
        return (laptop, desktop, server)
    }

    /// The segments of a machine, as it alone sees them.
    fileprivate func hiddenSegments(_ machine: Machine) async throws -> HostileCarrier.Objects {
        let writer = try await replica(machine).writer
        return try await view(machine).shown().filter { if case .segment(writer, _) = $0.key { true } else { false } }
    }
}
