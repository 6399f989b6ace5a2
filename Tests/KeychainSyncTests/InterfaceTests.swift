// SPDX-License-Identifier: Apache-2.0
// Sync as programs use it: its state, exchanges, and conflicts.

import Foundation
import KeychainKit
import KeychainSyncCore
import KeychainTestSupport
import KeychainTesting
import KeychainVault
import SecretMemory
import SyncHostility
import Testing

@testable import KeychainSync

@Suite(.timeLimit(.minutes(60)))
struct InterfaceTests {
    let world: HostileWorld

    init() throws { world = try HostileWorld() }

    func pair() async throws -> (Machine, KeychainSync, Machine, KeychainSync) {
        let (laptop, desktop) = try await world.pair()
        return (laptop, laptop.sync, desktop, desktop.sync)
    }

    // MARK: - The vault

    @Test func sync_withoutAVault_isOfTheOneThatTheEnvironmentNames() throws {
        let location = try VaultLocation.fromEnvironment(ProcessEnvironment.current)
        #expect(try KeychainSync().member.vault === Vault.at(location))
    }

    @Test func sync_ofAVault_sharesWhatItsStoresSave() async throws {
        let laptop = try await world.founder()
        let sync = try KeychainSync(vault: laptop.vault)
        var store = SecretStore(service: "s", synchronizable: true, store: laptop.vault)
        store.timeout = Timeout(operation: .testLimit)
        try await store.save("1", for: "a")
        #expect(try await sync.status().pending == 1)
        #expect(try await sync.now(timeout: .testLimit).sent == 1)
        #expect(try await sync.status().items == 1)
    }

    @Test func vaultInNoRing_isSaid() async throws {
        let sync = try world.machine("alone").sync
        #expect(try await !sync.isInRing)
        for call: @Sendable () async throws -> Void in [
            { _ = try await sync.status() }, { _ = try await sync.now() }, { try await sync.watch() },
            { try await sync.pause() }, { try await sync.resume() }, { _ = try await sync.conflicts() },
            { try await sync.leave() }, { try await sync.remove("0") },
            { _ = try await sync.invite(name: "desktop") },
        ] {
            let error = await #expect(throws: KeychainError.self) { try await call() }
            #expect(error?.reason == .unavailable)
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1), .zero, .seconds(10_000_000_000)])
    func time_ofAnyLength_isTaken(_ length: Duration) async throws {
        let laptop = try await world.founder()
        let sync = laptop.sync
        let report = try await sync.now(timeout: length)
        #expect(length <= .zero || report.isComplete)
        if length > .zero { _ = try await sync.invite(name: "desktop", validFor: length) }
        let code = try await sync.invite(name: "desktop")
        let desktop = try world.machine("desktop").sync
        let joining = Task { try await desktop.join(code: code, at: .folder(world.shared), timeout: length) }
        if length > .zero {
            try await yieldUntil("the machine is admitted") { try await !laptop.exchange().admitted.isEmpty }
            #expect(try await joining.value.isComplete)
        } else {
            await #expect(throws: KeychainError.self) { try await joining.value }
        }
    }

    @Test func lockedVault_isSaid() async throws {
        let laptop = try await world.founder()
        try laptop.lock()
        let sync = laptop.sync
        for call: @Sendable () async throws -> Void in [
            { _ = try await sync.status() }, { _ = try await sync.now() }, { _ = try await sync.conflicts() },
        ] {
            let error = await #expect(throws: KeychainError.self) { try await call() }
            #expect(error?.reason == .locked)
        }
    }

    // MARK: - State

    @Test func status_ofAMachine_saysWhatItKnows() async throws {
        let (laptop, sync, _, other) = try await pair()
        try laptop.add("a", "1")
        var status = try await sync.status()
        #expect(status.machines.map(\.name).sorted() == ["desktop", "laptop"])
        #expect(status.machines.filter(\.isThisMachine).map(\.name) == ["laptop"])
        #expect(status.machines.first { $0.isThisMachine }?.lastSeen == nil)
        #expect(status.machines.allSatisfy { $0.id.utf8.count == 32 && !$0.isRecoveryKey })
        #expect(status.carrier == world.place.text)
        #expect(status.isMember && !status.isPaused && !status.hasRecoveryKey)
        #expect(status.pending == 1 && status.conflicts == 0 && status.openInvitations == 0)
        #expect(status.notices.isEmpty && status.failure == nil)
        world.advance(61_000)
        let before = world.now
        try await sync.now()
        try await other.now()
        status = try await sync.status()
        #expect(status.items == 1 && status.pending == 0)
        let ended = try #require(status.lastExchange)
        #expect(UInt64(ended.timeIntervalSince1970 * 1000) + 1 >= before)
        #expect(try await other.status().compareCode == status.compareCode)
        let seen = try #require(try await other.status().machines.first { $0.name == "laptop" }?.lastSeen)
        #expect(seen >= ended)
        _ = try await laptop.member.addRecoveryKey()
        _ = try await sync.invite(name: "tablet")
        status = try await sync.status()
        #expect(status.hasRecoveryKey && status.openInvitations == 1)
        #expect(status.machines.count { $0.isRecoveryKey } == 1)
    }

    /// The carrier shows the first machine a forged segment of the other one.
    func pairWithAForgery() async throws -> (Machine, KeychainSync, HostileCarrier) {
        let (laptop, sync, desktop, _) = try await pair()
        try desktop.add("a", "1")
        try await world.settle(desktop)
        let view = try await world.view(laptop)
        view.forge(try #require(try await world.segments(desktop).first), [Data("junk".utf8)])
        return (laptop, sync, view)
    }

    @Test func status_afterAnExchange_saysWhatItNoticedOrWhyItFailed() async throws {
        let (_, sync, view) = try await pairWithAForgery()
        let report = try await sync.now()
        #expect(report.notices.contains { $0.kind == .refused })
        #expect(report.notices.allSatisfy { $0.description == $0.message && !$0.message.isEmpty })
        #expect(try await sync.status().notices == report.notices)
        view.behave()
        view.fail(CarrierFailure(.full, "The test lets this call fail."))
        await #expect(throws: KeychainError.self) { try await sync.now() }
        #expect(try await sync.status().failure?.reason == .diskFull)
        try await sync.now()
        #expect(try await sync.status().failure == nil)
    }

    @Test func statuses_followEachChange_alsoThoseOfOtherProcesses() async throws {
        let (laptop, sync, _, _) = try await pair()
        var statuses = try sync.statuses().makeAsyncIterator()
        #expect(try await statuses.next()?.get().items == 0)
        try laptop.add("a", "1")
        while try await statuses.next()?.get().pending != 1 {}
        // As another process would.
        _ = try await RingMember(laptop.vault).exchange()
        while try await statuses.next()?.get().pending != 0 {}
        let view = try await world.view(laptop)
        view.fail(CarrierFailure(.full, "The test lets this call fail."))
        await #expect(throws: KeychainError.self) { try await sync.now() }
        while try await statuses.next()?.get().failure == nil {}
    }

    @Test func statuses_ofAVaultThatIsLockedOrInNoRing_goOn() async throws {
        let laptop = try world.machine("laptop")
        try laptop.add("a", "1")
        let sync = laptop.sync
        var statuses = try sync.statuses().makeAsyncIterator()
        #expect(Self.reason(await statuses.next()) == .unavailable)
        _ = try await laptop.member.found(name: "laptop", at: world.place)
        while Self.reason(await statuses.next()) != nil {}
        try laptop.lock()
        while Self.reason(await statuses.next()) != .locked {}
        try laptop.unlock()
        while Self.reason(await statuses.next()) != nil {}
    }

    private static func reason(_ status: Result<SyncStatus, KeychainError>?) -> KeychainError.Reason? {
        if case .failure(let error) = status { error.reason } else { nil }
    }

    @Test func everyFinding_hasAKindAndAText() throws {
        let (writer, member) = (WriterID(1), MemberID.random())
        let card = MemberCard(role: .device, keys: try DeviceKeys.make().publicKeys(), name: "a")
        let findings: [(SyncFinding, SyncNotice.Kind)] = [
            (.logWentBack(writer, known: 2, shown: 1), .rolledBack), (.entriesMissing(1), .rolledBack),
            (.snapshotMissing(.random()), .rolledBack), (.revisionWentBack(known: 2, shown: 1), .rolledBack),
            (.headWentBack(member, known: 2, shown: 1), .rolledBack), (.withheld(writer, counter: 1), .withheld),
            (.stalled(writer, number: 1), .withheld), (.keysMissing, .withheld), (.entryWithheld, .withheld),
            (.unread, .withheld), (.silent(member, since: 0), .silent), (.viewIsOld(since: 0), .silent),
            (.equivocation(member, number: 1), .copied), (.startedAgain(writer), .copied),
            (.shownAfterRefusal(.segment(writer, 1)), .shownAfterRefusal), (.differentState(member), .different),
            (.clockAhead(member, milliseconds: 1), .clockAhead), (.contested(card, by: card), .contested),
            (.tooLargeToShare(item: "'a'"), .tooLarge), (.notSent(changes: 1), .notSent),
            (.placeTaken(.random()), .notShown),
            (.notUnderstood(.random()), .notShown),
            (.notOpened(.random(), .noKey), .notShown), (.refused(.segment(writer, 1), .tooLarge), .refused),
        ]
        for (finding, kind) in findings {
            let notice = SyncNotice(finding)
            #expect(notice.kind == kind && SyncNotice.Kind(rawValue: kind.rawValue) == kind)
            #expect(notice.message == finding.text())
        }
    }

    /// It may never sync again.
    @Test func headThatWentBack_namesTheMachineForItsRemoval() {
        let member = MemberID.random()
        let text = SyncFinding.headWentBack(member, known: 2, shown: 1).text()
        #expect(text.hasSuffix("keychainctl sync remove \(member.hex.prefix(8))"))
    }

    @Test(arguments: [(1, "An entry about"), (2, "2 entries about")])
    func missingEntries_areCountedInTheirText(count: Int, beginning: String) {
        #expect(SyncFinding.entriesMissing(count).text().hasPrefix(beginning))
    }

    // MARK: - Exchanges

    @Test func now_saysWhatCameAndWhatWent() async throws {
        let (laptop, sync, _, other) = try await pair()
        for account in ["a", "b"] { try laptop.add(account, "1") }
        let (sent, received) = (try await sync.now(), try await other.now())
        #expect(sent.sent == 2 && sent.received == 0 && sent.isComplete && sent.admitted == [])
        #expect(received.sent == 0 && received.received == 2 && received.isComplete)
    }

    @Test func now_whoseTimeIsUp_returnsWhatWasDone() async throws {
        let (laptop, sync, desktop, _) = try await pair()
        try laptop.add("a", "1")
        try await sync.now()
        let (view, time) = (try await world.view(desktop), TestClock())
        // It has listed and read, and lists again.
        view.hold(after: 2)
        let exchange = Task {
            try await KeychainSync(desktop.member, clock: time).now(timeout: .seconds(5))
        }
        try await yieldUntil("the second listing") { view.heldCount == 1 }
        await time.untilSleeping()
        time.advance(by: .seconds(5))
        let report = try await exchange.value
        #expect(report.received == 1 && !report.isComplete)
        #expect(try desktop.items() == ["a=1"])
        view.release()
    }

    @Test func now_whileAnotherProcessExchanges_isNotComplete() async throws {
        let (laptop, _, _, _) = try await pair()
        let (lock, time) = (try laptop.vault.lockForSync(.zero), TestClock())
        let exchange = Task { try await KeychainSync(laptop.member, clock: time).now(timeout: .seconds(5)) }
        await time.untilSleeping()
        time.advance(by: .seconds(5))
        let report = try await exchange.value
        #expect(!report.isComplete && report.received == 0 && report.sent == 0)
        withExtendedLifetime(lock) {}
    }

    @Test func now_cancelled_endsAtOnce() async throws {
        let (laptop, sync, _, _) = try await pair()
        let view = try await world.view(laptop)
        view.hold()
        let exchange = Task { try await sync.now() }
        try await yieldUntil("the listing") { view.heldCount == 1 }
        exchange.cancel()
        let error = await #expect(throws: KeychainError.self) { try await exchange.value }
        #expect(error?.reason == .cancelled)
        view.release()
    }

    @Test func now_whileSyncIsPaused_fails() async throws {
        let (laptop, sync, _, _) = try await pair()
        try await sync.pause()
        #expect(try await sync.status().isPaused)
        // In all processes.
        let error = await #expect(throws: KeychainError.self) { _ = try await RingMember(laptop.vault).exchange() }
        #expect(error?.reason == .unavailable)
        try await sync.resume()
        #expect(try await !sync.status().isPaused)
        try await sync.now()
    }

    @Test func watch_ofTwoMachines_sharesByItself_andTellsOfIt() async throws {
        let (laptop, sync, desktop, other) = try await pair()
        let (told, tell) = AsyncStream.makeStream(of: SyncReport.self)
        let watches = [
            Task { try await sync.watch() },
            Task { try await other.watch { outcome in if case .success(let report) = outcome { tell.yield(report) } } },
        ]
        defer { for watch in watches { watch.cancel() } }
        try laptop.add("a", "1")
        for await report in told where report.received == 1 { break }
        #expect(try desktop.items() == ["a=1"])
        #expect(try await other.status().failure == nil)
    }
}
