// SPDX-License-Identifier: Apache-2.0
// A stolen machine that undoes its removal gets nothing more from the others, until a person has decided.

import Foundation
import KeychainCrypto
import KeychainEngine
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
        let before = try await world.names(server) {
            switch $0 {
            case .head, .snapshot: true
            default: false
            }
        }
        world.advance(Observations.betweenHeads)
        await refusal(server)
        await #expect(throws: KeychainError.undecidedRing) { _ = try await server.member.exchange(tidying: true) }
        let after = try await world.names(server) {
            switch $0 {
            case .head, .snapshot: true
            default: false
            }
        }
        #expect(Set(after).isSubset(of: before))
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

    @Test func undecidedMachine_letsNobodyIn() async throws {
        let (server, _) = try await contest()
        let code = try await server.member.invite(name: "tablet", for: .seconds(3600))
        let tablet = try world.machine("tablet")
        await #expect(throws: KeychainError.self) {
            _ = try await tablet.member.join(code, at: world.place, wait: .zero)
        }
        await refusal(server)
        #expect(try await server.member.status().members.map(\.name).sorted() == ["laptop", "server"])
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
}
