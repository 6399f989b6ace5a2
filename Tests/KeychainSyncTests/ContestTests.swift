// SPDX-License-Identifier: Apache-2.0
// A stolen machine that undoes its removal gets nothing more from the others, until a person has decided.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

struct ContestTests {
    let world: HostileWorld

    init() throws { world = try HostileWorld() }

    /// The laptop, which has founded the ring, is stolen. The desktop removes it, and the thief removes the desktop before hearing of that.
    /// The server has heard of neither, and has a change of its own.
    private func contest() async throws -> (server: Machine, laptop: MemberID) {
        let (laptop, desktop) = try await world.synced()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        try laptop.add("last", "1")
        try await laptop.exchange()
        var thief = try await world.replica(laptop)
        try await world.remove(laptop, by: desktop)
        let removal = try thief.remove([try await world.replica(desktop).member], at: world.now)
        let carrier = world.base(thief.log.id)
        for case .write(let name, let bytes) in removal { _ = try await carrier.publish(name, bytes, beside: false) }
        try server.add("new", "1")
        return (server, thief.member)
    }

    /// All have heard of each other. The laptop has founded the ring.
    private func machines() async throws -> (laptop: Machine, desktop: Machine, server: Machine, tablet: Machine) {
        let (laptop, desktop) = try await world.synced()
        let server = try await world.join("server", by: laptop)
        let tablet = try await world.join("tablet", by: laptop)
        try await world.settle(laptop, desktop, server, tablet)
        return (laptop, desktop, server, tablet)
    }

    private func headsAndSnapshots(_ machine: Machine) async throws -> Set<ObjectName> {
        let names = try await world.names(machine) {
            switch $0 {
            case .head, .snapshot: true
            default: false
            }
        }
        return Set(names)
    }

    private func contests(_ machine: Machine) async throws -> Int {
        try await machine.member.status().notices.count { $0.kind == NoticeKind.contested.rawValue }
    }

    @discardableResult private func refusal(_ machine: Machine) async -> KeychainError? {
        await #expect(throws: KeychainError.self) { try await machine.exchange() }
    }

    private func isActive(_ member: MemberID, on machine: Machine) async throws -> Bool {
        try await world.replica(machine).ring.isActive(member)
    }

    @Test func machine_thatNobodyHasDecidedAbout_getsNothing() async throws {
        let (server, laptop) = try await contest()
        let before = try await world.segments(server)
        for _ in 0..<2 { #expect(await refusal(server) == .undecidedRing) }
        #expect(try await isActive(laptop, on: server))
        #expect(try await world.segments(server) == before)
        #expect(try await server.member.status().pending == 1)
        #expect(try await contests(server) == 1)
    }

    /// Nothing tells the thief how many items there are, either.
    @Test func machine_thatNobodyHasDecidedAbout_getsNoHeadOrSnapshot() async throws {
        let (server, _) = try await contest()
        let before = try await headsAndSnapshots(server)
        world.advance(Observations.betweenHeads)
        await refusal(server)
        await #expect(throws: KeychainError.undecidedRing) { _ = try await server.member.exchange(tidying: .atOnce) }
        let after = try await headsAndSnapshots(server)
        #expect(after.isSubset(of: before))
    }

    @Test func undecidedMachine_stillReceives() async throws {
        let (server, _) = try await contest()
        await refusal(server)
        #expect(try server.items() == ["a=1", "last=1", "new=1"])
    }

    @Test func dismissedNotices_decideNothing() async throws {
        let (server, _) = try await contest()
        await refusal(server)
        #expect(try await server.member.dismissNotices().allSatisfy { $0.kind != NoticeKind.contested.rawValue })
        #expect(try await contests(server) == 1)
        #expect(await refusal(server) == .undecidedRing)
    }

    /// The invitation is older than what the server hears of. The tablet asks all the time.
    @Test func undecidedMachine_letsNobodyIn() async throws {
        let (server, _) = try await contest()
        let code = try await server.member.invite(name: "tablet", for: .seconds(3600))
        let tablet = try world.machine("tablet")
        let joining = Task { try await tablet.member.join(code, at: world.place, interval: .milliseconds(5)) }
        func hasAsked() async throws -> Bool {
            try await !world.names(server) { if case .request = $0 { true } else { false } }.isEmpty
        }
        try await yieldUntil("The question of the tablet", every: .milliseconds(5), hasAsked)
        for _ in 0..<2 { #expect(await refusal(server) == .undecidedRing) }
        #expect(try await server.member.status().members.map(\.name).sorted() == ["laptop", "server"])
        joining.cancel()
        _ = await joining.result
    }

    @Test func machine_removedAfterAll_endsTheWaiting_andCannotReadWhatWaited() async throws {
        let (server, laptop) = try await contest()
        await refusal(server)
        _ = try await server.member.remove([laptop])
        #expect(try await !isActive(laptop, on: server))
        #expect(try await server.member.status().pending == 0)
        let replica = try await world.replica(server)
        #expect(replica.wraps[.wrap(replica.ring.current, laptop)] == nil)
    }

    @Test func machine_removedAfterAll_isNoticedNoMore() async throws {
        let (server, laptop) = try await contest()
        await refusal(server)
        #expect(try await contests(server) == 1)
        _ = try await server.member.remove([laptop])
        #expect(try await contests(server) == 0)
    }

    /// The desktop is removed by the thief, and by the server too, which lets the laptop stay.
    @Test func machine_thatWasRemovedInAContest_hasNothingToDecide() async throws {
        let (laptop, desktop, server, tablet) = try await machines()
        let members = (try await world.replica(laptop).member, try await world.replica(desktop).member)
        _ = tablet
        var thief = try await world.replica(laptop)
        try await world.remove(laptop, by: desktop)
        let removal = try thief.remove([members.1], at: world.now)
        let carrier = world.base(thief.log.id)
        for case .write(let name, let bytes) in removal { _ = try await carrier.publish(name, bytes, beside: false) }
        await refusal(server)
        _ = try? await server.member.keep([members.0])
        do { try await desktop.exchange() } catch {}
        #expect(try await !isActive(members.1, on: desktop))
        #expect(try await contests(desktop) == 0)
        let error = await #expect(throws: KeychainError.self) { _ = try await desktop.member.keep([members.0]) }
        #expect(error?.reason == .itemNotFound)
    }

    @Test func machine_removedAtOnce_needsNoExchangeBefore() async throws {
        let (server, laptop) = try await contest()
        _ = try await server.member.remove([laptop])
        #expect(try await !isActive(laptop, on: server))
        #expect(try await server.member.status().pending == 0)
    }

    @Test func machine_thatStays_getsWhatWaited() async throws {
        let (server, laptop) = try await contest()
        await refusal(server)
        _ = try await server.member.keep([laptop])
        try await server.exchange()
        #expect(try await isActive(laptop, on: server))
        #expect(try await server.member.status().pending == 0)
        #expect(try await contests(server) == 0)
    }

    @Test func decision_isKeptByOtherProcesses() async throws {
        let (server, laptop) = try await contest()
        await refusal(server)
        _ = try await server.member.keep([laptop])
        let other = try world.machine("server")
        try await other.exchange()
        #expect(try await other.member.status().failure == nil)
    }

    @Test func decisionAboutAnother_isRefused() async throws {
        let (server, _) = try await contest()
        await refusal(server)
        let own = try await world.replica(server).member
        let error = await #expect(throws: KeychainError.self) { _ = try await server.member.keep([own]) }
        #expect(error?.reason == .itemNotFound)
        #expect(await refusal(server) == .undecidedRing)
    }

    @Test func machine_letInAfterTheDecision_hasNothingToDecide() async throws {
        let (server, laptop) = try await contest()
        await refusal(server)
        _ = try await server.member.keep([laptop])
        let tablet = try await world.join("tablet", by: server)
        try tablet.add("tablet", "1")
        try await tablet.exchange()
        #expect(try await tablet.member.status().pending == 0)
        #expect(try await contests(tablet) == 0)
    }

    /// The person has looked at one of two machines.
    @Test func decisionAboutOneOfTwo_isRefused() async throws {
        let (laptop, desktop, server, tablet) = try await machines()
        var thief = try await world.replica(laptop)
        let (first, second) = (try await world.replica(tablet).member, thief.member)
        for machine in [tablet, laptop] { try await world.remove(machine, by: desktop) }
        try await publish(try thief.remove([try await world.replica(desktop).member], at: world.now))
        await refusal(server)
        #expect(try await contests(server) == 2)
        let error = await #expect(throws: KeychainError.self) { _ = try await server.member.keep([first]) }
        #expect(error?.reason == .invalidParameter && error?.message.contains("'laptop'") == true)
        #expect(await refusal(server) == .undecidedRing)
        _ = try await server.member.keep([first, second])
        #expect(try await server.member.status().failure == nil)
    }

    /// The other machine is still to be decided about. Nothing keeps the removal that was decided from the others.
    @Test func removalOfOneOfTwo_saysThatItIsSent() async throws {
        let (laptop, desktop, server, tablet) = try await machines()
        var thief = try await world.replica(laptop)
        let member = try await world.replica(tablet).member
        for machine in [tablet, laptop] { try await world.remove(machine, by: desktop) }
        try await publish(try thief.remove([try await world.replica(desktop).member], at: world.now))
        await refusal(server)
        let error = await #expect(throws: KeychainError.self) { _ = try await server.member.remove([member]) }
        #expect(error?.message.contains("made and sent") == true, "\(error?.message ?? "")")
        #expect(try await !isActive(member, on: server))
        let entries = try await world.replica(server).log.entries.keys.map { ObjectName.entry($0) }
        let sent = try await world.names(server) { if case .entry = $0 { true } else { false } }
        #expect(Set(entries).isSubset(of: sent))
    }

    /// The server has made new keys that the thief never got. The thief adds itself once more, beside them.
    @Test func undecidedMachine_givesNobodyItsKeys() async throws {
        let (server, thief, _) = try await withKeysOfItsOwn()
        for _ in 0..<2 { #expect(await refusal(server) == .undecidedRing) }
        let ring = try await world.replica(server).ring
        #expect(ring.isActive(thief))
        #expect(try await world.names(server) { $0 == .wrap(ring.current, thief) }.isEmpty)
    }

    /// Two removals were undone at once. One had been heard of before, the other had not.
    @Test func decisionAboutOneThatReturned_coversNoOther() async throws {
        let (laptop, desktop, server, tablet) = try await machines()
        var thief = try await world.replica(laptop)
        try await world.remove(laptop, by: desktop)
        try await server.exchange()
        try await world.remove(tablet, by: desktop)
        try await publish(try thief.remove([try await world.replica(desktop).member], at: world.now))
        await refusal(server)
        let error = await #expect(throws: KeychainError.self) { _ = try await server.member.keep([thief.member]) }
        #expect(error?.reason == .invalidParameter && error?.message.contains("'tablet'") == true)
    }

    @Test func undecidedMachine_makesNoInvitation() async throws {
        let (server, _) = try await contest()
        await refusal(server)
        await #expect(throws: KeychainError.undecidedRing) {
            _ = try await server.member.invite(name: "tablet", for: .seconds(3600))
        }
    }

    /// The thief's entries reach the machine that is let in before the one that lets it in.
    @Test func machine_letInByOneThatKnewOfNothing_waitsForItsOwnPerson() async throws {
        let (server, thief, late) = try await withKeysOfItsOwn()
        try await world.view(server).withhold { late.contains($0) }
        let phone = try world.machine("phone")
        let code = try await server.member.invite(name: "phone", for: .seconds(3600))
        let joined = Task { try await phone.member.join(code, at: world.place, interval: .milliseconds(5)) }
        try await yieldUntil("The phone is let in", every: .milliseconds(5)) {
            try await !server.exchange().admitted.isEmpty
        }
        await #expect(throws: KeychainError.undecidedRing) { _ = try await joined.value }
        #expect(try await isActive(thief, on: phone))
    }

    /// As if it was killed while it waited. The desktop has made more entries than somebody may make who is no member.
    @Test func undecidedMachine_startedAgain_waits() async throws {
        let (laptop, desktop) = try await world.synced()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        var thief = try await world.replica(laptop)
        try await world.act(desktop) { replica, _ in
            try (0..<70).flatMap { index in
                let keys = try DeviceKeys.make().publicKeys()
                return try replica.admit(MemberCard(role: .reader, keys: keys, name: "\(index)"))
            }
        }
        try await world.remove(laptop, by: desktop)
        try await publish(try thief.remove([try await world.replica(desktop).member], at: world.now))
        try server.add("new", "1")
        #expect(await refusal(server) == .undecidedRing)
        let other = try world.machine("server")
        #expect(await refusal(other) == .undecidedRing)
        #expect(try await other.member.status().pending == 1)
    }

    /// The server has heard of the removal before. Another process of it knows that too.
    @Test func machineThatReturns_waitsForAPerson_alsoInAnotherProcess() async throws {
        let (server, thief, _) = try await withKeysOfItsOwn()
        await refusal(server)
        #expect(await refusal(try world.machine("server")) == .undecidedRing)
        _ = try await server.member.keep([thief])
        #expect(try await world.machine("server").exchange().findings.isEmpty)
    }

    private func publish(_ effects: [Effect]) async throws {
        let ring = try #require(try await FolderCarrier.rings(in: world.shared).first)
        for case .write(let name, let bytes) in effects {
            if case .entry = name { _ = try await world.base(ring).publish(name, bytes, beside: false) }
        }
    }

    /// The server has heard of the removal of the laptop, and has made keys since. Then the thief's entries come.
    private func withKeysOfItsOwn() async throws -> (server: Machine, thief: MemberID, late: Set<ObjectName>) {
        let (laptop, desktop, server, tablet) = try await machines()
        var thief = try await world.replica(laptop)
        try await world.remove(laptop, by: desktop)
        try await server.exchange()
        try await world.remove(tablet, by: server)
        var other = thief
        let card = try #require(other.ring.members[other.member]?.card)
        let effects =
            try thief.remove([try await world.replica(desktop).member], at: world.now)
            + other.store([try other.log.append(.add(card), author: other.member, signer: other.keys)])
        try await publish(effects)
        let names = effects.compactMap { if case .write(let name, _) = $0 { name } else { nil } }
        return (server, thief.member, Set(names))
    }
}
