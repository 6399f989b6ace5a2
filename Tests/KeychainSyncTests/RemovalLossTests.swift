// SPDX-License-Identifier: Apache-2.0
// What a removal would lose: changes that were not sent from there, or not applied here, and the removal itself before it is sent.

import Foundation
import KeychainEngine
import KeychainVault
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

struct RemovalLossTests {
    let world: HostileWorld

    init() throws { world = try HostileWorld() }

    private static let failure = CarrierFailure(.unavailable, "The test lets this call fail.")

    private func members(_ machine: Machine) async throws -> [String] {
        try await machine.member.status().members.map(\.name).sorted()
    }

    private func segments(_ machine: Machine) async throws -> Set<ObjectName> {
        Set(try await world.names(machine) { if case .segment = $0 { true } else { false } })
    }

    // MARK: - What the removed machine has written

    /// What does not come of three changes and their heads.
    enum Gap: String, CaseIterable {
        case theFirstChange, theLastChangeButItsHead, everyChangeButTheHeads

        func holdsBack(_ name: ObjectName, of new: [ObjectName]) -> Bool {
            switch (self, name) {
            case (.theFirstChange, .head): true
            case (.theFirstChange, _): name == new.first
            case (.theLastChangeButItsHead, _): name == new.last
            case (.everyChangeButTheHeads, _): new.contains(name)
            }
        }
    }

    /// A pair, after the desktop has published three changes of which the laptop does not see all.
    private func pair(without gap: Gap) async throws -> (laptop: Machine, desktop: Machine) {
        let (laptop, desktop) = try await world.pair()
        try await world.settle(laptop, desktop)
        let before = try await segments(laptop)
        for value in ["1", "2", "3"] {
            try desktop.add(value, value)
            try await desktop.exchange()
        }
        // A machine does not send a head after each change.
        world.advance(Observations.betweenHeads)
        try await world.settle(desktop)
        let new = try await segments(laptop).subtracting(before).sorted()
        #expect(new.count == 3)
        try await world.view(laptop).withhold { gap.holdsBack($0, of: new) }
        return (laptop, desktop)
    }

    @Test(arguments: Gap.allCases)
    func removal_ofAMachineWhoseChangesAreNotAllHere_isRefusedAndNotMade(gap: Gap) async throws {
        let (laptop, desktop) = try await pair(without: gap)
        let member = try await world.replica(desktop).member
        let error = await #expect(throws: KeychainError.self) { _ = try await laptop.member.remove([member]) }
        #expect(error?.reason == .unavailable && error?.message.contains("not applied here") == true)
        #expect(error?.message.contains("--without-fetching") == true)
        #expect(try await members(laptop) == ["desktop", "laptop"])
    }

    @Test(arguments: Gap.allCases)
    func removal_onceTheChangesHaveCome_isMadeAndKeepsThem(gap: Gap) async throws {
        let (laptop, desktop) = try await pair(without: gap)
        let member = try await world.replica(desktop).member
        await #expect(throws: KeychainError.self) { _ = try await laptop.member.remove([member]) }
        try await world.view(laptop).behave()
        _ = try await laptop.member.remove([member])
        #expect(try await members(laptop) == ["laptop"])
        #expect(try laptop.items() == ["1=1", "2=2", "3=3"])
    }

    /// Others ask whether exchanges fail, and this one has done what it could.
    @Test func removal_thatIsRefused_isNoFailureOfAnExchange() async throws {
        let (laptop, desktop) = try await pair(without: .theFirstChange)
        let member = try await world.replica(desktop).member
        await #expect(throws: KeychainError.self) { _ = try await laptop.member.remove([member]) }
        #expect(try await laptop.member.status().failure == nil)
    }

    @Test func removal_withoutFetching_ofAMachineWhoseChangesAreNotAllHere_isMade() async throws {
        let (laptop, desktop) = try await pair(without: .theFirstChange)
        let member = try await world.replica(desktop).member
        _ = try await laptop.member.remove([member], isWithoutFetching: true)
        #expect(try await members(laptop) == ["laptop"])
    }

    /// Somebody else has to be reached for what is missing of the others. The removed machine is not asked for it.
    @Test func removal_whileChangesOfAnotherMachineAreMissing_isMade() async throws {
        let (laptop, desktop) = try await world.pair()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        let before = try await segments(laptop)
        try server.add("late", "1")
        try await server.exchange()
        let new = try await segments(laptop).subtracting(before)
        try await world.view(laptop).withhold { new.contains($0) }
        _ = try await laptop.member.remove([try await world.replica(desktop).member])
        #expect(try await members(laptop) == ["laptop", "server"])
    }

    /// A folder whose disk is not mounted.
    @Test func removal_whileTheFolderIsEmpty_isRefusedAndNotMade() async throws {
        let (laptop, desktop) = try await world.pair()
        try await world.settle(laptop, desktop)
        try await world.view(laptop).show { $0 = [:] }
        let member = try await world.replica(desktop).member
        let error = await #expect(throws: KeychainError.self) { _ = try await laptop.member.remove([member]) }
        #expect(error?.reason == .unavailable && error?.message.contains("older state") == true)
        #expect(try await members(laptop) == ["desktop", "laptop"])
    }

    @Test func removal_whileTheLogOfAnotherMachineIsCut_isMade() async throws {
        let (laptop, desktop) = try await world.pair()
        let server = try await world.join("server", by: laptop)
        try server.add("a", "1")
        try await world.settle(laptop, desktop, server)
        let lost = try await world.segments(server)
        try await world.view(laptop).withhold { lost.contains($0) }
        let report = try await laptop.member.remove([try await world.replica(desktop).member])
        #expect(report.texts.contains { $0.contains("an older state of 'server'") })
        #expect(try await members(laptop) == ["laptop", "server"])
    }

    @Test func removal_whileASnapshotIsLost_isMade() async throws {
        let (laptop, desktop) = try await world.pair()
        let server = try await world.join("server", by: laptop)
        try laptop.add("a", "1")
        try await world.settle(laptop, desktop, server)
        try await world.remove(server, by: laptop)
        try await world.settle(laptop, desktop)
        let lost = Set(try await world.names(laptop) { if case .snapshot = $0 { true } else { false } })
        try #require(!lost.isEmpty)
        try await world.view(laptop).withhold { lost.contains($0) }
        _ = try await laptop.member.remove([try await world.replica(desktop).member])
        #expect(try await members(laptop) == ["laptop"])
    }

    @Test func changesThatAreNotAllHere_areToldWithTheNameOfTheirMachine() async throws {
        let (laptop, desktop) = try await world.pair()
        for value in ["1", "2", "3"] {
            try desktop.add(value, value)
            try await desktop.exchange()
            if value == "1" { try await laptop.exchange() }
        }
        let missing = try await world.segments(desktop)[1]
        try await world.view(laptop).withhold { $0 == missing }
        try await laptop.exchange()
        world.advance(Observations.grace)
        let report = try await laptop.exchange()
        let writer = try await world.replica(desktop).writer
        #expect(report.texts.contains { $0.hasPrefix("Changes of 'desktop' (the log \(writer.hex)) from segment") })
    }

    // MARK: - The removal itself

    /// The laptop after it has removed the desktop, and could not send that.
    private func removed() async throws -> (laptop: Machine, desktop: Machine) {
        let (laptop, desktop) = try await world.pair()
        try await world.settle(laptop, desktop)
        let (view, member) = (try await world.view(laptop), try await world.replica(desktop).member)
        // The listing before the removal, and the first object of the removal.
        for _ in 0..<2 { view.fail(Self.failure) }
        await #expect(throws: KeychainError.self) {
            _ = try await laptop.member.remove([member], isWithoutFetching: true)
        }
        return (laptop, desktop)
    }

    @Test func removal_thatIsNotSent_isInTheStatusWithItsFailure() async throws {
        let (laptop, _) = try await removed()
        let status = try await laptop.member.status()
        #expect(status.pending > 0 && status.failure?.error.message.contains("lets this call fail") == true)
        try await laptop.exchange()
        #expect(try await laptop.member.status().pending == 0)
    }

    @Test func machine_thatCannotSendARemoval_leavesOnlyWithoutIt() async throws {
        let (laptop, _) = try await removed()
        try await world.view(laptop).fail(Self.failure)
        let error = await #expect(throws: KeychainError.self) { try await laptop.member.leave() }
        #expect(error?.message.contains("have not been sent") == true)
        #expect(try laptop.vault.isInRing)
        try await laptop.member.leave(withoutSending: true)
        #expect(try !laptop.vault.isInRing)
    }

    @Test func machine_thatLeavesAfterARemoval_sendsItFirst() async throws {
        let (laptop, desktop) = try await removed()
        try await laptop.member.leave()
        await #expect(throws: KeychainError.self) { try await desktop.exchange() }
        #expect(try await !desktop.member.status().isMember)
    }
}
