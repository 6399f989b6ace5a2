// SPDX-License-Identifier: Apache-2.0
// A machine that watches: what it sends and when, and when it waits.

import Foundation
import KeychainEngine
import KeychainSyncCore
import KeychainTestSupport
import KeychainVault
import SecretMemory
import Testing

@testable import KeychainSync

extension RingMemberTests {
    @Test func watch_thatCannotExchange_doesNotTryWithoutPause() async throws {
        let (laptop, _) = try await pair()
        try laptop.add("a", "1")
        try FileManager.default.removeItem(atPath: folder.path + "/shared")
        let (attempts, attempt) = AsyncStream.makeStream(of: Void.self)
        let watch = Task {
            let hour = Duration.seconds(3600)
            try await laptop.member.watch(pauses: (hour, hour, hour)) { _ in attempt.yield() }
        }
        var iterator = attempts.makeAsyncIterator()
        await iterator.next()
        // It now pauses for an hour. Changes, its own and others', do not end the pause.
        for number in 0..<20 { try laptop.add("b\(number)", "1") }
        watch.cancel()
        _ = await watch.result
        attempt.finish()
        #expect(await iterator.next() == nil)
    }

    @Test func watch_withAnItemThatStays_exchangesNoMoreThanThereIsToDo() async throws {
        let (laptop, _) = try await pair()
        try laptop.add("a", String(repeating: "x", count: 17_000_000))
        let exchanges = Guarded(0)
        let watch = Task { try await laptop.member.watch { _ in exchanges.withLock { $0 += 1 } } }
        try await yieldUntil("it has exchanged") { exchanges.withLock { $0 } > 0 }
        // Each of these is a commit of which the watch hears, and nothing that is to be sent.
        for number in 0..<50 { try addUnshared("\(number)", "1", to: laptop) }
        watch.cancel()
        _ = await watch.result
        #expect(exchanges.withLock { $0 } < 10)
    }

    /// Between the last transaction of an exchange and the moment when the watch waits again, others write.
    @Test func change_madeAfterTheLastTransactionOfAnExchange_isNews() async throws {
        let (laptop, _) = try await pair()
        try laptop.add("a", String(repeating: "x", count: 17_000_000))
        #expect(laptop.member.hasNews(ifUnreadable: true))
        try await laptop.exchange()
        #expect(!laptop.member.hasNews(ifUnreadable: true), "What an exchange had to leave would lead to the next one.")
        try laptop.add("b", "1")
        #expect(laptop.member.hasNews(ifUnreadable: true))
    }

    /// A look at the state takes a change out of the outbox, and sends nothing.
    @Test(arguments: [true, false])
    func change_thatAnotherStepHasCollected_isNews(_ isByAnotherProcess: Bool) async throws {
        let (laptop, _) = try await pair()
        try laptop.add("a", "1")
        _ = try await (isByAnotherProcess ? RingMember(laptop.vault) : laptop.member).status()
        #expect(laptop.member.hasNews(ifUnreadable: true))
        try await laptop.exchange()
        #expect(!laptop.member.hasNews(ifUnreadable: true))
    }

    @Test(arguments: [true, false])
    func versionRestored_whileTheMachineWatches_isSent(_ isByAnotherProcess: Bool) async throws {
        let (laptop, desktop) = try await conflict()
        let shown = try laptop.items()
        let exchanges = Guarded(0)
        let watch = Task { try await laptop.member.watch { _ in exchanges.withLock { $0 += 1 } } }
        defer { watch.cancel() }
        // The second one follows the first look at the folder.
        try await yieldUntil("it has exchanged twice") { exchanges.withLock { $0 } > 1 }
        let other = isByAnotherProcess ? RingMember(laptop.vault) : laptop.member
        let hidden = try #require(try await other.versions(includingKept: false).first { $0.state == .concurrent })
        try await other.restore(hidden.id)
        try await eventually {
            try await desktop.exchange()
            return try desktop.items() != shown && desktop.items() == laptop.items()
        }
    }

    @Test func newKeys_whileTheMachineWatches_replaceItsKeysInTheRing() async throws {
        let (laptop, desktop) = try await pair()
        let exchanges = Guarded(0)
        let watch = Task { try await laptop.member.watch { _ in exchanges.withLock { $0 += 1 } } }
        defer { watch.cancel() }
        try await yieldUntil("it has exchanged twice") { exchanges.withLock { $0 } > 1 }
        let former = try #require(laptop.member.known?.replica.member)
        try laptop.vault.rotate()
        try await eventually {
            try await desktop.exchange()
            return desktop.member.known?.replica.ring.isActive(former) == false
        }
    }

    /// A program that follows the state looks again after each write.
    @Test func look_whileSomebodyIsInvited_writesNothing() async throws {
        let (laptop, _) = try await pair()
        _ = try await laptop.member.invite(name: "tablet", for: .seconds(3600))
        _ = try await laptop.member.status()
        let before = try laptop.vault.ringPart(RingState.generationName)
        _ = try await laptop.member.status()
        #expect(try laptop.vault.ringPart(RingState.generationName) == before)
    }

    @Test func watch_ofALockedVault_waitsUntilItIsUnlocked() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.lock()
        let failures = Guarded<[KeychainError.Reason]>([])
        let watch = Task {
            try await laptop.member.watch(pauses: (.milliseconds(1), .milliseconds(1), .seconds(60))) { outcome in
                if case .failure(let error) = outcome { failures.withLock { $0.append(error.reason) } }
            }
        }
        defer { watch.cancel() }
        try await yieldUntil("it was refused") { failures.withLock { !$0.isEmpty } }
        #expect(failures.withLock { $0.first } == .locked)
        try laptop.unlock()
        try laptop.add("a", "1")
        try await eventually {
            try await desktop.exchange()
            return try desktop.items() == ["a=1"]
        }
    }
}
