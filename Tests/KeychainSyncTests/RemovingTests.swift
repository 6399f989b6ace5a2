// SPDX-License-Identifier: Apache-2.0
// Removing, inviting and approving machines: what is kept, and what is refused before anything has happened.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainVault
import SecretMemory
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

struct RemovingTests {
    let world: HostileWorld

    init() throws { world = try HostileWorld() }

    private static let failure = CarrierFailure(.unavailable, "The test lets this call fail.")

    private func names(_ machine: Machine) async throws -> [String] {
        try await machine.member.status().members.map(\.name).sorted()
    }

    @Test func removal_keepsWhatTheMachineHasPublished() async throws {
        let (laptop, desktop) = try await world.pair()
        let server = try await world.join("server", by: laptop)
        try await world.settle(laptop, desktop, server)
        try desktop.add("last", "1")
        try await desktop.exchange()
        try await world.remove(desktop, by: laptop)
        try await server.exchange()
        for machine in [laptop, server] { #expect(try machine.items() == ["last=1"]) }
    }

    @Test func machine_namedTwice_isRemoved() async throws {
        let (laptop, desktop) = try await world.pair()
        let member = try await world.replica(desktop).member
        _ = try await laptop.member.remove([member, member])
        await #expect(throws: KeychainError.self) { try await desktop.exchange() }
        #expect(try await !desktop.member.status().isMember)
    }

    @Test func machine_thatHasRemovedOneNamedTwice_readsItsStateAgain() async throws {
        let (laptop, desktop) = try await world.pair()
        let member = try await world.replica(desktop).member
        _ = try await laptop.member.remove([member, member])
        #expect(try await names(try world.machine("laptop")) == ["laptop"])
    }

    @Test func removal_whileTheCarrierFails_isRefusedAndNotMade() async throws {
        let (laptop, desktop) = try await world.pair()
        let (view, member) = (try await world.view(laptop), try await world.replica(desktop).member)
        view.fail(Self.failure)
        let error = await #expect(throws: KeychainError.self) { _ = try await laptop.member.remove([member]) }
        #expect(error?.reason == .unavailable && error?.message.contains("--without-fetching") == true)
        try await laptop.exchange()
        #expect(try await names(laptop) == ["desktop", "laptop"])
    }

    @Test func removal_whileSyncIsPaused_isRefusedAndNotMade() async throws {
        let (laptop, desktop) = try await world.pair()
        let member = try await world.replica(desktop).member
        try await laptop.member.pause()
        let error = await #expect(throws: KeychainError.self) { _ = try await laptop.member.remove([member]) }
        #expect(error?.message.contains("paused") == true)
        #expect(try await names(laptop) == ["desktop", "laptop"])
    }

    @Test func invitation_whileSyncIsPaused_isRefusedAndNotMade() async throws {
        let laptop = try await world.founder()
        try await laptop.member.pause()
        await #expect(throws: KeychainError.self) {
            _ = try await laptop.member.invite(name: "desktop", for: .seconds(3600))
        }
        #expect(try await laptop.member.status().openInvitations == 0)
        #expect(try await world.names(laptop) { if case .invitation = $0 { true } else { false } } == [])
    }

    @Test func approval_whileSyncIsPaused_isRefusedAndNotStored() async throws {
        let laptop = try await world.founder()
        _ = try await laptop.member.invite(name: "desktop", for: .seconds(3600), needsApproval: true)
        func stored() -> [Data]? { laptop.member.known?.invitations.values.map { $0.bytes().data } }
        let before = stored()
        try await laptop.member.pause()
        let error = await #expect(throws: KeychainError.self) { _ = try await laptop.member.approve([.random()]) }
        #expect(error?.message.contains("paused") == true)
        #expect(before?.count == 1 && stored() == before)
    }

    @Test func repair_whileSyncIsPaused_isRefusedAndChangesNothing() async throws {
        let laptop = try await world.founder()
        let writer = try await world.replica(laptop).writer
        try await laptop.member.pause()
        await #expect(throws: KeychainError.self) { _ = try await laptop.member.repair() }
        #expect(try await world.replica(laptop).writer == writer)
    }

    /// The first call is the listing, after the approval was stored.
    @Test func approval_thatCannotBePublished_saysThatItIsStored() async throws {
        let laptop = try await world.founder()
        try await world.view(laptop).fail(Self.failure)
        let error = await #expect(throws: KeychainError.self) { _ = try await laptop.member.approve([.random()]) }
        #expect(error?.reason == .unavailable && error?.message.contains("The approval is stored") == true)
    }

    // MARK: - Without fetching

    @Test func removal_withoutFetching_isMadeAndReachesTheOthersLater() async throws {
        let (laptop, desktop) = try await world.pair()
        let (view, member) = (try await world.view(laptop), try await world.replica(desktop).member)
        // The listing before the removal, and the first object of the removal.
        for _ in 0..<2 { view.fail(Self.failure) }
        let error = await #expect(throws: KeychainError.self) {
            _ = try await laptop.member.remove([member], isWithoutFetching: true)
        }
        #expect(error?.reason == .unavailable && error?.message.contains("The removal is made") == true)
        #expect(try await names(laptop) == ["laptop"])
        try await laptop.exchange()
        await #expect(throws: KeychainError.self) { try await desktop.exchange() }
        #expect(try await !desktop.member.status().isMember)
    }

    @Test func removal_withoutFetching_whileSyncIsPaused_isRefusedAndNotMade() async throws {
        let (laptop, desktop) = try await world.pair()
        let member = try await world.replica(desktop).member
        try await laptop.member.pause()
        await #expect(throws: KeychainError.self) {
            _ = try await laptop.member.remove([member], isWithoutFetching: true)
        }
        #expect(try await names(laptop) == ["desktop", "laptop"])
    }

    // MARK: - Open invitations

    /// The machines of the inviter and of one that it has let in, with the code, which admits more.
    private func fleet(_ inviter: Machine) async throws -> (server: Machine, code: SecretBytes) {
        let code = try await inviter.member.invite(name: "server", for: .seconds(3600), uses: 3)
        let server = try world.machine("server")
        try await inviter.admit(server, with: code, at: world.place)
        return (server, code)
    }

    private func open(_ machine: Machine) async throws -> Int { try await machine.member.status().openInvitations }

    @Test func removal_withdrawsTheInvitationsOfItsMachine() async throws {
        let (laptop, desktop) = try await world.pair()
        _ = try await laptop.member.invite(name: "tablet", for: .seconds(3600))
        try await world.remove(desktop, by: laptop)
        #expect(try await open(laptop) == 0)
    }

    @Test func removedMachine_withTheCodeOfAnInvitation_findsNone() async throws {
        let laptop = try await world.founder()
        let (server, code) = try await fleet(laptop)
        try await world.remove(server, by: laptop)
        try server.member.forget()
        let error = await #expect(throws: KeychainError.self) {
            _ = try await server.member.join(code, at: world.place, wait: .zero)
        }
        #expect(error?.reason == .itemNotFound)
    }

    /// A snapshot that it cannot open has taken the place of what it knows.
    @Test func removedMachine_isNotToldThatTheCarrierWentBack() async throws {
        let (laptop, desktop) = try await world.synced()
        try await world.remove(desktop, by: laptop)
        for _ in 0..<2 { try await laptop.exchange() }
        for _ in 0..<2 {
            let error = await #expect(throws: KeychainError.self) { try await desktop.exchange() }
            #expect(error?.reason == .missingEntitlement)
        }
        #expect(try await desktop.member.status().notices.isEmpty)
    }

    @Test func machineThatAsksWhileAnotherIsRemoved_isNotLetIn() async throws {
        let laptop = try await world.founder()
        let (server, code) = try await fleet(laptop)
        var joiner = Joiner(code: code, keys: .make())
        try joiner.received(try await world.content(joiner.objectName, laptop))
        let (name, bytes) = try #require(try joiner.request())
        _ = try await world.view(laptop).publishing(name, bytes)
        try await world.remove(server, by: laptop)
        #expect(try await names(laptop) == ["laptop"])
    }

    @Test func invitationOfAnother_byWhichARemovedMachineCame_isWithdrawn() async throws {
        let (laptop, desktop) = try await world.pair()
        let (server, _) = try await fleet(desktop)
        try await laptop.exchange()
        try await world.remove(server, by: laptop)
        try await desktop.exchange()
        #expect(try await open(desktop) == 0)
    }

    @Test func invitationOfAnother_byWhichARemovedMachineCameUnderFormerKeys_isWithdrawn() async throws {
        let (laptop, desktop) = try await world.pair()
        let (server, _) = try await fleet(desktop)
        try server.vault.rotate()
        try await server.exchange()
        try await laptop.exchange()
        try await world.remove(server, by: laptop)
        try await desktop.exchange()
        #expect(try await open(desktop) == 0)
    }

    @Test func invitation_byWhichNoRemovedMachineCame_staysOpenOnAnother() async throws {
        let (laptop, desktop) = try await world.pair()
        let server = try await world.join("server", by: laptop)
        _ = try await desktop.member.invite(name: "web", for: .seconds(3600), uses: 3)
        try await world.remove(server, by: laptop)
        try await desktop.exchange()
        #expect(try await open(desktop) == 1)
    }

    @Test func invitation_ofAMachineThatReplacesItsKeys_staysOpen() async throws {
        let laptop = try await world.founder()
        let (server, _) = try await fleet(laptop)
        try server.vault.rotate()
        try await server.exchange()
        try await laptop.exchange()
        #expect(try await open(laptop) == 1)
    }

    // MARK: - Leaving

    /// What was deleted would come back to a machine that joins again.
    @Test func machine_thatLeaves_sendsItsChangesFirst() async throws {
        let (laptop, desktop) = try await world.pair()
        try laptop.add("a", "1")
        try await world.settle(laptop, desktop)
        try laptop.delete("a")
        try await laptop.member.leave()
        try await desktop.exchange()
        #expect(try desktop.items() == [])
        #expect(try !laptop.vault.isInRing)
    }

    @Test func machine_thatCannotSendItsChanges_leavesOnlyWithoutThem() async throws {
        let (laptop, _) = try await world.pair()
        try laptop.add("a", "1")
        try await world.view(laptop).fail(Self.failure)
        let error = await #expect(throws: KeychainError.self) { try await laptop.member.leave() }
        #expect(error?.reason == .unavailable && error?.message.contains("lets this call fail") == true)
        #expect(try await laptop.member.status().pending == 1)
        try await laptop.member.leave(withoutSending: true)
        #expect(try !laptop.vault.isInRing)
    }

    /// A full disk is not taken for a carrier that cannot be reached.
    @Test func machine_thatCannotSendItsChanges_saysWhy() async throws {
        let (laptop, _) = try await world.pair()
        try laptop.add("a", "1")
        try await world.view(laptop).fail(CarrierFailure(.full, "The test fills the disk."))
        let error = await #expect(throws: KeychainError.self) { try await laptop.member.leave() }
        #expect(error?.reason == .diskFull)
    }

    @Test func machine_thatIsPaused_leavesIfNothingWaits() async throws {
        let (laptop, _) = try await world.pair()
        try await laptop.member.pause()
        try laptop.add("a", "1")
        await #expect(throws: KeychainError.self) { try await laptop.member.leave() }
        try laptop.delete("a")
        try await laptop.member.pause(false)
        try await laptop.exchange()
        try await laptop.member.pause()
        try await laptop.member.leave()
        #expect(try !laptop.vault.isInRing)
    }

    @Test func machine_thatWasRemoved_leavesWhateverWaits() async throws {
        let (laptop, desktop) = try await world.pair()
        try await world.remove(desktop, by: laptop)
        try desktop.add("a", "1")
        try await desktop.member.leave()
        #expect(try !desktop.vault.isInRing)
    }

    private static func isOfJoining(_ name: ObjectName) -> Bool {
        switch name {
        case .invitation, .request: true
        default: false
        }
    }

    /// Nobody would answer a machine that asks by it.
    @Test(arguments: [false, true])
    func machine_thatLeaves_withdrawsItsInvitations(_ isGivingUp: Bool) async throws {
        let (laptop, desktop) = try await world.pair()
        let code = try await laptop.member.invite(name: "server", for: .seconds(3600))
        var joiner = Joiner(code: code, keys: .make())
        try joiner.received(try await world.content(joiner.objectName, laptop))
        let (name, request) = try #require(try joiner.request())
        _ = try await desktop.member.invite(name: "tablet", for: .seconds(3600))
        let view = try await world.view(laptop)
        if isGivingUp { _ = try await view.publishing(name, request) }
        #expect(try await laptop.member.leave(withoutSending: isGivingUp) == nil)
        #expect(try await world.names(desktop, where: Self.isOfJoining).count == 1)
        try await desktop.exchange()
        #expect(try await open(desktop) == 1)
    }

    @Test func machine_thatLeavesWhileTheCarrierFails_tellsOfItsInvitations() async throws {
        let (laptop, _) = try await world.pair()
        _ = try await laptop.member.invite(name: "server", for: .seconds(3600))
        let name = try #require(
            try await world.names(laptop) { if case .invitation = $0 { true } else { false } }.first)
        let failure = CarrierFailure(.unavailable, "It is not there. Mount it.")
        try await world.view(laptop).fail(failure)
        let remaining = try #require(try await laptop.member.leave(withoutSending: true))
        #expect(remaining.count == 1)
        // Those of other machines stay.
        #expect(remaining.advice.hasSuffix("remove only what has names that begin with: '\(name.text)'"))
        // Nothing is kept.
        #expect(remaining.cause.message == failure.message)
        #expect(try !laptop.vault.isInRing)
    }

    @Test func machine_thatLeavesWhileLocked_tellsThatItsInvitationsAreUnknown() async throws {
        let (laptop, _) = try await world.pair()
        _ = try await laptop.member.invite(name: "server", for: .seconds(3600))
        try laptop.lock()
        let remaining = try #require(try await laptop.member.leave(withoutSending: true))
        #expect(remaining.count == nil && remaining.advice == "They may stay there.")
        #expect(remaining.cause.reason == .locked)
        #expect(try !laptop.vault.isInRing)
    }

    @Test func machine_thatCannotLeave_keepsItsInvitations() async throws {
        let (laptop, desktop) = try await world.pair()
        _ = try await laptop.member.invite(name: "server", for: .seconds(3600))
        try laptop.add("a", "1")
        try await world.view(laptop).fail(Self.failure)
        await #expect(throws: KeychainError.self) { try await laptop.member.leave() }
        #expect(try await open(laptop) == 1)
        #expect(try await world.names(desktop, where: Self.isOfJoining).count == 1)
    }

    /// A machine that was removed before the others had its change, which lost against a later one.
    private func removedWithALoser() async throws -> Machine {
        let (laptop, desktop) = try await world.pair()
        try laptop.add("a", "0")
        try await world.settle(laptop, desktop)
        try desktop.update("a", "desktop")
        // Both clocks are where the ring's time was last, ahead of the system's. Only the second change is later for certain.
        for value in ["again", "laptop"] {
            try laptop.update("a", value)
            try await laptop.exchange()
        }
        try await world.remove(desktop, by: laptop)
        await #expect(throws: KeychainError.self) { try await desktop.exchange() }
        try #require(try desktop.items() == ["a=laptop"])
        return desktop
    }

    @Test func machine_thatWasRemoved_doesNotLeaveWhileItsOwnValueIsNotShown() async throws {
        let desktop = try await removedWithALoser()
        let error = await #expect(throws: KeychainError.self) { try await desktop.member.leave() }
        #expect(error?.reason == .unavailable && error?.message.contains("sync restore ID") == true)
        #expect(try desktop.vault.isInRing)
        try await desktop.member.leave(withoutSending: true)
        #expect(try !desktop.vault.isInRing)
    }

    @Test func machine_thatWasRemoved_doesNotLeaveWhileAValueUnderItsFormerKeysIsNotShown() async throws {
        let (laptop, desktop) = try await world.pair()
        try laptop.add("a", "0")
        try await world.settle(laptop, desktop)
        try desktop.update("a", "desktop")
        for value in ["again", "laptop"] {
            try laptop.update("a", value)
            try await laptop.exchange()
        }
        try await desktop.exchange()
        try desktop.vault.rotate()
        try await world.settle(desktop, laptop)
        try await world.remove(desktop, by: laptop)
        await #expect(throws: KeychainError.self) { try await desktop.exchange() }
        try #require(try desktop.items() == ["a=laptop"])
        let error = await #expect(throws: KeychainError.self) { try await desktop.member.leave() }
        #expect(error?.message.contains("sync restore ID") == true)
    }

    @Test func machine_thatWasRemoved_canShowItsOwnValueAgain() async throws {
        let desktop = try await removedWithALoser()
        let versions = try await desktop.member.versions(includingKept: false)
        try await desktop.member.restore(try #require(versions.first { $0.state == .concurrent }).id)
        #expect(try desktop.items() == ["a=desktop"])
        try await desktop.member.leave()
        #expect(try desktop.items() == ["a=desktop"])
    }
}
