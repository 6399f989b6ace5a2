// SPDX-License-Identifier: Apache-2.0
// Leaving a ring over a folder that can be read and not written: which invitations are still there.

import Foundation
import KeychainEngine
import KeychainTestSupport
import KeychainVault
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

private struct ReadOnlyFolder: CarrierOverFolder {
    let base: FolderCarrier

    func publish(
        _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
    ) async throws(CarrierFailure) -> Publication {
        throw ReadOnlyFolders.failure
    }

    func remove(_ names: [ObjectName]) async throws(CarrierFailure) { throw ReadOnlyFolders.failure }
}

private struct ReadOnlyFolders: KindOverFolders {
    static let failure = CarrierFailure(.denied, "It cannot be written. Make it writable.")

    func carrier(over base: FolderCarrier) -> any Carrier { ReadOnlyFolder(base: base) }
}

struct LeavingTests {
    let world: HostileWorld

    init() throws { world = try HostileWorld() }

    /// The same machine after its folder was made read-only. It has one more invitation, which could not be published.
    private func readOnly(_ machine: Machine) async throws -> Machine {
        let machine = try Machine(world.folder.path, machine.name, kinds: [ReadOnlyFolders()], clock: { world.now })
        await #expect(throws: KeychainError.self) {
            _ = try await machine.member.invite(name: "phone", for: .seconds(3600))
        }
        return machine
    }

    private func invitation(by machine: Machine) async throws -> Joiner {
        Joiner(code: try await machine.member.invite(name: "server", for: .seconds(3600)), keys: .make())
    }

    @Test func machine_thatLeavesAReadOnlyCarrier_tellsOnlyOfInvitationsThatAreThere() async throws {
        let (laptop, _) = try await world.pair()
        let invitation = try await invitation(by: laptop).objectName
        let machine = try await readOnly(laptop)
        let remaining = try #require(try await machine.member.leave(withoutSending: true))
        #expect(remaining.names == [invitation])
        #expect(remaining.cause.message == ReadOnlyFolders.failure.message)
    }

    @Test func machine_thatLeavesAReadOnlyCarrier_tellsOfAnInvitationOfWhichOnlyARequestIsThere() async throws {
        let (laptop, _) = try await world.pair()
        var joiner = try await invitation(by: laptop)
        try joiner.received(try await world.content(joiner.objectName, laptop))
        let (name, request) = try #require(try joiner.request())
        let view = try await world.view(laptop)
        _ = try await view.publishing(name, request)
        try await view.removing([joiner.objectName])
        let machine = try await readOnly(laptop)
        #expect(try await machine.member.leave(withoutSending: true)?.names == [joiner.objectName])
    }

    @Test func machine_thatLeavesAReadOnlyCarrier_withoutAnInvitationThere_hasNothingToTell() async throws {
        let (laptop, _) = try await world.pair()
        let machine = try await readOnly(laptop)
        #expect(try await machine.member.leave(withoutSending: true) == nil)
        #expect(try !machine.vault.isInRing)
    }
}
