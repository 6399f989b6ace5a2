// SPDX-License-Identifier: Apache-2.0
// New keys of a vault whose machine lacks a key of its ring.

import Foundation
import KeychainEngine
import KeychainVault
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

struct PostponedKeysTests {
    let world: HostileWorld

    init() throws { world = try HostileWorld() }

    /// The log of the ring tells of new keys, and the desktop, whose vault gets new ones too, does not have them.
    private func withheldKeys() async throws -> (Machine, Machine, HostileCarrier) {
        let (laptop, desktop) = try await world.synced()
        let view = try await world.view(desktop)
        view.withhold { if case .wrap = $0 { true } else { false } }
        try await world.act(laptop) { replica, _ in try replica.rotate() }
        try await desktop.exchange()
        try desktop.vault.rotate()
        return (laptop, desktop, view)
    }

    @Test func newKeys_whileAKeyOfTheRingIsMissing_areMadeOnceItArrives() async throws {
        let (laptop, desktop, view) = try await withheldKeys()
        let former = desktop.member.known?.replica.member
        try laptop.update("a", "2")
        try await laptop.exchange()
        do { try await desktop.exchange() } catch {}
        view.behave()
        try desktop.add("b", "1")
        for machine in [desktop, laptop] { try await machine.exchange() }
        for machine in [laptop, desktop] { #expect(try machine.items() == ["a=2", "b=1"]) }
        let replica = try await world.replica(laptop)
        #expect(former.map(replica.ring.isActive) == false)
    }

    /// The desktop has nothing to send, so nothing fails there.
    @Test func keyOfTheRing_thatDoesNotArrive_isNoticedUntilItDoes() async throws {
        let (laptop, desktop) = try await world.synced()
        let view = try await world.view(desktop)
        view.withhold { if case .wrap = $0 { true } else { false } }
        try await world.act(laptop) { replica, _ in try replica.rotate() }
        try laptop.add("b", "1")
        try await laptop.exchange()
        // What takes the place of what is known is under the new key.
        try await world.act(laptop) { replica, now in try replica.snapshot(at: now) }
        for _ in 0..<2 { try await laptop.exchange() }
        #expect(try await desktop.exchange().findings == [.keysMissing])
        #expect(try await desktop.member.status().notices.map(\.kind) == [NoticeKind.withheld.rawValue])
        view.behave()
        #expect(try await desktop.exchange().findings.isEmpty)
        #expect(try await desktop.member.status().notices.isEmpty)
        #expect(try desktop.items() == ["a=1", "b=1"])
    }

    @Test func status_whileAKeyOfTheRingIsMissing_isTold() async throws {
        let (_, desktop, _) = try await withheldKeys()
        #expect(try await desktop.member.status().members.count == 2)
    }

    @Test func change_whileAKeyOfTheRingIsMissing_isKeptAndTheReasonSaid() async throws {
        let (_, desktop, view) = try await withheldKeys()
        try desktop.add("b", "1")
        let before = view.published
        let error = await #expect(throws: KeychainError.self) { try await desktop.exchange() }
        #expect(error?.reason == .unavailable && error?.message.contains("has not arrived") == true)
        #expect(try await desktop.member.status().pending == 1)
        // Nothing new goes out under keys that are about to be replaced.
        #expect(view.published == before)
    }
}
