// SPDX-License-Identifier: Apache-2.0
// What exchanges have noticed, and why they fail, as every process of the machine can tell.

import Foundation
import KeychainEngine
import KeychainTestSupport
import KeychainVault
import SecretMemory
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainSyncCore

extension InterfaceTests {
    /// As another process of the same machine would, with nothing but the vault.
    private func otherProcess(_ machine: Machine) -> KeychainSync { KeychainSync(RingMember(machine.vault)) }

    private static let failure = CarrierFailure(.full, "The test lets this call fail.")

    /// The carrier shows an old state to all machines.
    private func rollBack(_ laptop: Machine) async throws {
        let old = try await world.objects(laptop)
        for account in ["b", "c"] {
            try laptop.add(account, "1")
            try await laptop.exchange()
        }
        try await world.view(laptop).restore(old)
    }

    @Test func noticeOfAnExchange_isInTheStatusOfEachProcess_untilItIsOver() async throws {
        let (laptop, sync, view) = try await pairWithAForgery()
        let report = try await sync.now()
        #expect(report.notices.contains { $0.kind == .refused })
        #expect(try await otherProcess(laptop).status().notices == report.notices)
        view.behave()
        try await sync.now()
        #expect(try await otherProcess(laptop).status().notices == [])
    }

    @Test func rollback_isInTheStatus_untilItIsDismissed() async throws {
        let (laptop, sync, _, _) = try await pair()
        try await rollBack(laptop)
        #expect(try await sync.now().notices.contains { $0.kind == .rolledBack })
        for _ in 0..<2 { #expect(try await !sync.now().notices.contains { $0.kind == .rolledBack }) }
        let notices = try await otherProcess(laptop).status().notices
        #expect(notices.contains { $0.kind == .rolledBack })
        #expect(Set(try await otherProcess(laptop).dismissNotices()) == Set(notices))
        #expect(try await sync.dismissNotices() == [])
        try await sync.now()
        #expect(try await sync.status().notices == [])
    }

    /// What was noticed in a step that was committed is not lost with the rest of the exchange.
    @Test func rollback_noticedByAnExchangeThatFails_isInTheStatus() async throws {
        let (laptop, sync, _, _) = try await pair()
        try await rollBack(laptop)
        let view = try await world.view(laptop)
        // It has listed, and cannot write again what is missing.
        view.hold(after: 1)
        let exchange = Task { try await sync.now() }
        try await yieldUntil("the next call") { view.heldCount == 1 }
        view.fail(Self.failure)
        view.release()
        await #expect(throws: KeychainError.self) { try await exchange.value }
        let status = try await otherProcess(laptop).status()
        #expect(status.notices.contains { $0.kind == .rolledBack } && status.failure?.reason == .diskFull)
    }

    @Test func failureOfAnExchange_isInTheStatusOfEachProcess_untilOneIsComplete() async throws {
        let (laptop, sync, _, _) = try await pair()
        #expect(try await sync.status().failingSince == nil)
        let view = try await world.view(laptop)
        view.fail(Self.failure)
        await #expect(throws: KeychainError.self) { try await sync.now() }
        var status = try await otherProcess(laptop).status()
        let since = try #require(status.failingSince)
        #expect(status.failure?.reason == .diskFull && status.failure?.message.contains("fail") == true)
        world.advance(60_000)
        view.fail(Self.failure)
        await #expect(throws: KeychainError.self) { try await sync.now() }
        status = try await otherProcess(laptop).status()
        #expect(status.failingSince == since && status.failure?.reason == .diskFull)
        try await sync.now()
        status = try await otherProcess(laptop).status()
        #expect(status.failingSince == nil && status.failure == nil)
    }

    /// Carriers do not know what becomes of them.
    @Test func failureOfTheCarrier_endsAnExchange_andSaysThatUnsentChangesAreKept() async throws {
        let (laptop, sync, _, _) = try await pair()
        try await world.view(laptop).fail(Self.failure)
        let error = await #expect(throws: KeychainError.self) { try await sync.now() }
        #expect(error?.message == Self.failure.message + " Unsent changes are kept.")
        #expect(try await sync.status().failure?.message == error?.message)
    }

    /// A watch that fails all night does not write all night.
    @Test func failure_thatIsTheSameAgain_isNoCommit() async throws {
        let (laptop, sync, _, _) = try await pair()
        let view = try await world.view(laptop)
        func generation() throws -> Data? { try laptop.vault.ringPart(RingState.generationName) }
        view.fail(Self.failure)
        await #expect(throws: KeychainError.self) { try await sync.now() }
        let before = try generation()
        #expect(try await otherProcess(laptop).status().failure != nil)
        view.fail(Self.failure)
        await #expect(throws: KeychainError.self) { try await sync.now() }
        #expect(try generation() == before)
    }

    @Test func removedMachine_isInTheStatusOfEachProcess() async throws {
        let (laptop, _, desktop, other) = try await pair()
        try await world.remove(desktop, by: laptop)
        await #expect(throws: KeychainError.self) { try await other.now() }
        let status = try await otherProcess(desktop).status()
        #expect(status.failure?.reason == .missingEntitlement && !status.isMember)
    }

    @Test func exchange_thatIsCancelledOrPaused_hasNotFailed() async throws {
        let (laptop, sync, _, _) = try await pair()
        let view = try await world.view(laptop)
        view.hold()
        let exchange = Task { try await sync.now() }
        try await yieldUntil("the listing") { view.heldCount == 1 }
        exchange.cancel()
        await #expect(throws: KeychainError.self) { try await exchange.value }
        view.release()
        try await sync.pause()
        await #expect(throws: KeychainError.self) { try await sync.now() }
        #expect(try await otherProcess(laptop).status().failure == nil)
    }

    /// The carrier lacks the entry because it has never had it.
    @Test func entry_thatCouldNotBePublished_isNotCalledMissing() async throws {
        let (laptop, sync, desktop, _) = try await pair()
        // With nothing to fetch, the first listing is compared.
        try await world.settle(desktop, laptop)
        try await sync.now()
        _ = try await laptop.member.addRecoveryKey()
        let view = try await world.view(laptop)
        view.fail(Self.failure)
        await #expect(throws: KeychainError.self) { try await sync.now() }
        // Another process goes on.
        #expect(try await RingMember(laptop.vault, kinds: laptop.member.kinds).exchange().findings == [])
        #expect(try await sync.status().notices == [])
        let name = try #require(try await world.names(laptop) { if case .entry = $0 { true } else { false } }.last)
        view.withhold { $0 == name }
        #expect(try await sync.now().notices.contains { $0.kind == .rolledBack })
    }
}

/// The stored form.
struct RingNoticesTests {
    private let name = RingState.generationName

    private func sealing() throws -> StoredSealing {
        let replica = try Replica.founding(name: "laptop", keys: .make()).0
        return StoredSealing(StoredKeys(device: replica.keys, keyring: replica.keyring))
    }

    @Test func notices_storedAndRead_areTheSame() throws {
        let sealing = try sealing()
        var notices = RingNotices()
        notices.note([.logWentBack(WriterID(1), known: 2, shown: 1), .notSent(changes: 3)], at: 5)
        notices.fail(KeychainError(.unavailable, "Cannot open 'ä\n'."), at: 6)
        notices.unlistedEntries = [EntryHash((0..<32).map { UInt8($0) }), .zero]
        let part = try notices.part(name, sealing)
        #expect(try RingNotices(in: part, name, sealing) == notices)
        #expect(part.range(of: Data("Cannot".utf8)) == nil)
    }

    /// A vault of a version that did not store any, or of one that stores others.
    @Test func partWithoutNotices_orWithThoseOfAnotherVersion_hasNone() throws {
        let sealing = try sealing()
        #expect(try RingNotices().part(name, sealing).count == RingNotices.offset)
        let number = Data(repeating: 7, count: RingNotices.offset)
        #expect(try RingNotices(in: number, name, sealing).isEmpty)
        let other = try number + sealing.seal(Data(#"{"all":7}"#.utf8), as: name)
        #expect(try RingNotices(in: other, name, sealing).isEmpty)
        #expect(throws: Refusal.self) { try RingNotices(in: number + Data(count: 40), name, sealing) }
    }

    @Test func notice_foundAgainWithOtherNumbers_takesThePlaceOfTheFormer() {
        var notices = RingNotices()
        notices.note([.notSent(changes: 1)], at: 5)
        notices.note([.notSent(changes: 2)], at: 9)
        #expect(notices.all.map(\.since) == [5] && notices.all[0].message.contains("2"))
    }

    @Test func reasonOfANewerVersion_isUnavailable() throws {
        let stored = Data(#"{"message":"m","reason":"later","since":1}"#.utf8)
        let failure = try JSONDecoder().decode(RingFailure.self, from: stored)
        #expect(failure.error == KeychainError(.unavailable, "m"))
    }

    @Test func floodOfRefusedObjects_displacesNoOtherKind() {
        var notices = RingNotices()
        let flood = (0..<1000).map { SyncFinding.refused(.segment(WriterID(UInt64($0)), 1), .malformed) }
        notices.note(flood, at: 6)
        notices.note(
            [.silent(.random(), since: 1), .tooLargeToShare(item: "'a'"), .withheld(WriterID(1), counter: 2)], at: 7)
        #expect(notices.all.count == RingNotices.most)
        #expect(Set(notices.all.map(\.kind)) == ["refused", "silent", "tooLarge", "withheld"])
    }

    @Test func floodOfRefusedObjects_displacesNothingThatStays() {
        var notices = RingNotices()
        notices.note([.headWentBack(.random(), known: 2, shown: 1)], at: 5)
        let flood = (0..<1000).map { SyncFinding.refused(.segment(WriterID(UInt64($0)), 1), .malformed) }
        notices.note(flood, at: 6)
        #expect(notices.all.count == RingNotices.most && notices.all.count(where: \.stays) == 1)
        notices.conclude(found: [])
        #expect(notices.all.map(\.kind) == ["rolledBack"])
    }
}
