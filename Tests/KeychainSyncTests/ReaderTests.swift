// SPDX-License-Identifier: Apache-2.0
// Machines that only read, and rings that share some access groups.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import KeychainVault
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

@Suite("Readers and shared groups")
struct ReaderTests {
    private let world: HostileWorld

    init() throws { world = try HostileWorld() }

    /// A ring with an item, and a machine that only reads.
    private func fleet() async throws -> (laptop: Machine, server: Machine) {
        let laptop = try await world.founder()
        try laptop.add("a", "1")
        return (laptop, try await world.join("server", by: laptop, as: .reader))
    }

    // MARK: - Readers

    @Test func reader_hasWhatTheOthersWrite() async throws {
        let (laptop, server) = try await fleet()
        #expect(try server.items() == ["a=1"])
        try laptop.update("a", "2")
        try laptop.add("b", "3")
        try await world.settle(laptop, server)
        #expect(try server.items() == ["a=2", "b=3"])
        try laptop.delete("a")
        try await world.settle(laptop, server)
        #expect(try server.items() == ["b=3"])
    }

    @Test func changesOfAReader_stayOnIt_andEachExchangeTells() async throws {
        let (laptop, server) = try await fleet()
        try server.add("own", "x")
        try server.update("a", "changed")
        for _ in 0..<2 { #expect(try await server.exchange().findings == [.notSent(changes: 2)]) }
        try await world.settle(laptop, server)
        #expect(try laptop.items() == ["a=1"])
        #expect(try server.items() == ["a=changed", "own=x"])
    }

    @Test func changeOfAReader_keepsItsValue_untilItIsDeleted() async throws {
        let (laptop, server) = try await fleet()
        try server.update("a", "here")
        try laptop.update("a", "there")
        try await world.settle(laptop, server)
        #expect(try server.items() == ["a=here"])
        try server.delete("a")
        try await server.exchange()
        #expect(try server.items() == ["a=there"])
        #expect(try await server.exchange().findings.isEmpty)
    }

    @Test func itemsThatAReaderHadBefore_stayOnIt() async throws {
        let laptop = try await world.founder()
        let server = try world.machine("server")
        try server.add("old", "1")
        try await laptop.admit(server, at: world.place, as: .reader)
        try await world.settle(laptop, server)
        #expect(try laptop.items().isEmpty)
        #expect(try server.items() == ["old=1"])
    }

    @Test func reader_publishesItsHeadAndNothingElse() async throws {
        let (laptop, server) = try await fleet()
        let before = Set(try await world.objects(laptop).keys)
        try server.add("own", "x")
        world.advance(Observations.betweenHeads)
        try await server.exchange()
        let member = try await world.replica(server).member
        let new = Set(try await world.objects(laptop).keys).subtracting(before)
        #expect(!new.isEmpty && new.allSatisfy { if case .head(member, _) = $0 { true } else { false } })
        try await laptop.exchange()
        #expect(try await laptop.member.status().members.first { $0.role == .reader }?.lastSeen != nil)
    }

    @Test func segmentOfAReader_isRefused() async throws {
        let (laptop, server) = try await fleet()
        let attacker = try await world.replica(server)
        let record = try attacker.record(RingMemberTests.item("x"), counter: 1)
        let forged = try attacker.segment([Batch.Entry(record: record, context: 0)])
        try await world.view(laptop).replay(forged.bytes, as: forged.name)
        #expect(try await laptop.exchange().refused(.notAMember) == [forged.name])
        #expect(try laptop.items() == ["a=1"])
    }

    @Test func reader_invitesAndRemovesNobody() async throws {
        let (laptop, server) = try await fleet()
        let member = try await world.replica(laptop).member
        let refused = await #expect(throws: KeychainError.self) {
            _ = try await server.member.invite(name: "other", for: .seconds(60))
        }
        #expect(refused?.reason == .missingEntitlement)
        let kept = await #expect(throws: KeychainError.self) { _ = try await server.member.remove([member]) }
        #expect(kept?.reason == .missingEntitlement)
        #expect(try await laptop.member.status().members.count == 2)
    }

    @Test func reader_thatIsRemoved_readsNothingNew() async throws {
        let (laptop, server) = try await fleet()
        try await world.remove(server, by: laptop)
        try laptop.add("b", "2")
        try await laptop.exchange()
        let error = await #expect(throws: KeychainError.self) { try await server.exchange() }
        #expect(error?.reason == .missingEntitlement)
        #expect(try server.items() == ["a=1"])
    }

    @Test func reader_repairedOrRestored_goesOn() async throws {
        let (laptop, server) = try await fleet()
        _ = try await server.member.repair()
        try laptop.add("b", "2")
        try await world.settle(laptop, server)
        #expect(try server.items() == ["a=1", "b=2"])
    }

    // MARK: - New keys of its vault

    /// A reader whose vault has new keys, and what is written since.
    private func fleetWithNewKeys() async throws -> Machine {
        let (laptop, server) = try await fleet()
        try server.vault.rotate()
        try laptop.add("b", "2")
        try await laptop.exchange()
        return server
    }

    @Test func readerWithNewKeysOfItsVault_receives() async throws {
        let server = try await fleetWithNewKeys()
        _ = try? await server.exchange()
        #expect(try server.items() == ["a=1", "b=2"])
    }

    @Test func readerWithNewKeysOfItsVault_saysThatItHasToJoinAgain() async throws {
        let server = try await fleetWithNewKeys()
        let error = await #expect(throws: KeychainError.self) { try await server.exchange() }
        #expect(error?.reason == .missingEntitlement && error?.message.contains("sync join") == true)
    }

    @Test func readerWithNewKeysOfItsVault_showsItsStatus() async throws {
        let server = try await fleetWithNewKeys()
        #expect(try await server.member.status().isMember)
    }

    // MARK: - What a program sees

    @Test func roles_areInTheStatus() async throws {
        let (laptop, server) = try await fleet()
        for machine in [laptop, server] {
            let machines = try await machine.sync.status().machines
            #expect(machines.filter(\.onlyReads).map(\.name) == ["server"])
        }
    }

    @Test func invitationOfAProgram_isForAReader() async throws {
        let sync = try await world.founder().sync
        let code = try await sync.invite(name: "server", onlyReads: true, needsApproval: true)
        let server = try world.machine("server")
        let (asked, asks) = AsyncStream.makeStream(of: String.self)
        let place = SyncPlace(world.place)
        let joining = Task { try await server.sync.join(code: code, at: place) { asks.yield($0) } }
        let id = try #require(await asked.first { _ in true })
        #expect(try await sync.now().waiting == [SyncRequest(id: id, name: "server", onlyReads: true)])
        try await sync.approve([id])
        _ = try await joining.value
        #expect(try await server.sync.status().machines.first { $0.isThisMachine }?.onlyReads == true)
    }

    // MARK: - Groups

    private func ring(of groups: Set<String>) async throws -> (Machine, Machine) {
        let laptop = try world.machine("laptop")
        try laptop.add("before", "private")
        try await laptop.sync.found(name: "laptop", at: SyncPlace(world.place), sharing: groups)
        return (laptop, try await world.join("desktop", by: laptop))
    }

    private func query(_ account: String, _ group: String, _ value: String? = nil) -> Query {
        var query = Machine.query(account, value)
        query.attributes[.accessGroup] = .string(group)
        return query
    }

    @Test func ringOfGroups_sharesTheirItemsAlone() async throws {
        let (laptop, desktop) = try await ring(of: ["web", "db"])
        for group in ["web", "db", "other"] {
            _ = try laptop.engine.add(query(group, group, "1"), accessGroups: .unrestricted)
        }
        try await world.settle(laptop, desktop)
        #expect(try desktop.items() == ["db=1", "web=1"])
        #expect(try laptop.items() == ["before=private", "db=1", "other=1", "web=1"])
        #expect(try await desktop.exchange().findings.isEmpty)
        #expect(try await desktop.sync.status().accessGroups == ["db", "web"])
    }

    /// Swift takes the two names for equal; the vault does not.
    @Test func groupWhoseNameLooksLikeASharedOne_isNotShared() async throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        let (laptop, desktop) = try await ring(of: [composed])
        _ = try laptop.engine.add(query("a", composed, "1"), accessGroups: .unrestricted)
        _ = try laptop.engine.add(query("b", decomposed, "2"), accessGroups: .unrestricted)
        try await world.settle(laptop, desktop)
        #expect(try desktop.items() == ["a=1"])
    }

    @Test func item_thatLeavesASharedGroup_isDeletedElsewhere() async throws {
        let (laptop, desktop) = try await ring(of: ["web"])
        _ = try laptop.engine.add(query("a", "web", "1"), accessGroups: .unrestricted)
        try await world.settle(laptop, desktop)
        #expect(try desktop.items() == ["a=1"])
        let changes = Changes([.accessGroup: .string("private")])
        try laptop.engine.update(query("a", "web"), with: changes, accessGroups: .unrestricted)
        try await world.settle(laptop, desktop)
        #expect(try desktop.items().isEmpty)
        #expect(try laptop.items() == ["a=1", "before=private"])
        // It comes back under its old name.
        let back = Changes([.accessGroup: .string("web")])
        try laptop.engine.update(query("a", "private"), with: back, accessGroups: .unrestricted)
        try await world.settle(laptop, desktop)
        #expect(try desktop.items() == ["a=1"])
    }

    @Test(arguments: [[], [""], [String(repeating: "g", count: 129)], (0..<65).map { "\($0)" }])
    func groups_thatNoRingCanHave_areRefused(_ groups: [String]) async throws {
        let laptop = try world.machine("laptop")
        let error = await #expect(throws: KeychainError.self) {
            try await laptop.sync.found(name: "laptop", at: SyncPlace(world.place), sharing: Set(groups))
        }
        #expect(error?.reason == .invalidParameter)
        #expect(try await !laptop.sync.isInRing)
    }

    @Test func mostGroupsOfTheLongestNames_areShared() async throws {
        let groups = Set((10..<74).map { "\($0)" + String(repeating: "g", count: 126) })
        let (_, desktop) = try await ring(of: groups)
        #expect(try await desktop.sync.status().accessGroups == groups.sorted())
    }

    @Test func ringOfAllGroups_saysSo() async throws {
        #expect(try await world.founder().sync.status().accessGroups == nil)
    }
}
