// SPDX-License-Identifier: Apache-2.0
// What an exchange costs: listings, reads and commits, which are counted, and take no time to measure.

import Foundation
import KeychainSyncCore
import KeychainTestSupport
import SecretMemory
import SyncHostility
import Testing

@testable import KeychainSync
@testable import KeychainVault

@Suite(.timeLimit(.minutes(60)))
struct ExchangeCostTests {
    private let folder: TemporaryFolder
    private let place: CarrierPlace
    private let carriers = CountingFolders()
    /// How far the clocks of the machines are ahead, in milliseconds.
    private let ahead = Guarded<UInt64>(0)

    init() throws {
        folder = try TemporaryFolder("keychain-cost")
        place = .folder(folder.path + "/shared")
        try FileManager.default.createDirectory(atPath: folder.path + "/shared", withIntermediateDirectories: true)
    }

    /// Two machines that have nothing more to say. Time stands still, so that nothing falls due.
    private func pair() async throws -> (Machine, Machine) {
        let time = RingMember.systemTime()
        let machines = try ["laptop", "desktop"].map {
            try Machine(folder.path, $0, kinds: [carriers]) { [ahead] in time + ahead.withLock { $0 } }
        }
        _ = try await machines[0].member.found(name: "laptop", at: place)
        try await machines[0].admit(machines[1], at: place)
        for _ in 0..<3 { for machine in machines { try await machine.exchange() } }
        return (machines[0], machines[1])
    }

    /// How many transactions have changed the vault.
    private func commits(_ machine: Machine) throws -> UInt64 {
        try #require(try machine.vault.openSession()?.knownHead.good?.head.sequence)
    }

    private func cost(_ machine: Machine) async throws -> (calls: [CountingFolders.Call], commits: UInt64) {
        let before = try commits(machine)
        carriers.calls.withLock { $0 = [] }
        try await machine.exchange()
        return (carriers.calls.withLock { $0 }, try commits(machine) - before)
    }

    @Test func exchange_withNothingToDo_listsOnceAndCommitsNothing() async throws {
        let (laptop, _) = try await pair()
        let cost = try await cost(laptop)
        #expect(cost.calls == [.list] && cost.commits == 0)
    }

    /// A part of what machines that join need is read again: nothing else shows that it is damaged.
    @Test func firstHeadOfADay_costsOneRead_andNoExchangeAfterItOne() async throws {
        let (laptop, _) = try await pair()
        ahead.withLock { $0 = 86_400_000 }
        #expect(try await cost(laptop).calls.filter { $0 == .read } == [.read])
        #expect(try await !cost(laptop).calls.contains(.read))
    }

    /// What is published was stored before, and what was published is noted.
    @Test func changeOfThisMachine_isListedForOnce_andTakesTwoCommits() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        let cost = try await cost(laptop)
        #expect(cost.calls == [.list, .publish] && cost.commits == 2)
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1"])
    }

    /// It is there after one listing. The second one looks for what came meanwhile.
    @Test func changeOfAnotherMachine_isReadAndAppliedInOneCommit() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try await laptop.exchange()
        let cost = try await cost(desktop)
        #expect(cost.calls == [.list, .read, .list] && cost.commits == 1)
        #expect(try desktop.items() == ["a=1"])
    }

    @Test func changesOfBothMachines_arriveInOneExchangeOfEach() async throws {
        let (laptop, desktop) = try await pair()
        try laptop.add("a", "1")
        try desktop.add("b", "2")
        try await laptop.exchange()
        let cost = try await cost(desktop)
        #expect(cost.calls == [.list, .read, .list, .publish] && cost.commits == 3)
        try await laptop.exchange()
        #expect(try laptop.items() == ["a=1", "b=2"] && desktop.items() == ["a=1", "b=2"])
    }

    /// A process that knows nothing yet, or not the newest state, reads it first.
    @Test func changeByAnotherProcess_isNotOverlooked() async throws {
        let (laptop, desktop) = try await pair()
        let other = RingMember(laptop.vault, kinds: [carriers])
        try laptop.add("a", "1")
        _ = try await other.exchange()
        try laptop.update("a", "2")
        #expect(try await laptop.exchange().sent == 1)
        try laptop.update("a", "3")
        #expect(try await other.exchange().sent == 1)
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=3"])
    }

    // MARK: - Changes during an exchange

    /// It is collected with the steps that follow, so that the vault's outbox does not show it any more.
    @Test func changeWhileAnotherIsPublished_isKnownToBeUnsent() async throws {
        let (laptop, desktop) = try await pair()
        carriers.whilePublishing.withLock { $0 = { try laptop.add("b", "2") } }
        try laptop.add("a", "1")
        #expect(try await laptop.exchange().sent == 1)
        #expect(try laptop.vault.outboxMark == nil && laptop.member.known?.hasUnsent == true)
        #expect(try await laptop.exchange().sent == 1)
        #expect(laptop.member.known?.hasUnsent == false)
        try await desktop.exchange()
        #expect(try desktop.items() == ["a=1", "b=2"])
    }

    @Test func changeWhileAnotherIsPublished_isSentByTheWatch() async throws {
        let (laptop, desktop) = try await pair()
        carriers.whilePublishing.withLock { $0 = { try laptop.add("b", "2") } }
        let watch = Task { try await laptop.member.watch { _ in } }
        defer { watch.cancel() }
        try laptop.add("a", "1")
        try await yieldUntil("both are there") {
            try await desktop.exchange()
            return try desktop.items() == ["a=1", "b=2"]
        }
    }

    // MARK: - What follows a disputed segment

    @Test func segments_afterOneThatMayBeAnothersOwn_waitUntilThatIsKnown() async throws {
        let (laptop, _) = try await pair()
        let (ring, writer) = (try #require(laptop.member.known?.replica.log.id), WriterID(5))
        let view = HostileCarrier(over: FolderCarrier(folder.path + "/shared", ring: ring))
        let names: [ObjectName] = [.segment(writer, 1), .segment(writer, 2), .segment(WriterID(7), 1)]
        view.deny { $0 == names[0] }
        var report = ExchangeReport()
        let effects = names.map { Effect.write($0, Data("an object".utf8)) }
        let outcomes = try await laptop.member.publish(effects, view, &report).outcomes
        #expect(outcomes.map(\.0) == [names[0], names[2]] && outcomes.map(\.1) == [.otherThere, .created])
        #expect(view.published == [names[0], names[2]] && report.published == 2)
    }

    #if os(Linux)
        // MARK: - Joining

        /// It looks again as soon as the carrier tells of the answer; the interval would not come to an end.
        @Test func machineThatJoins_doesNotWaitForItsInterval() async throws {
            let (laptop, _) = try await pair()
            let server = try Machine(folder.path, "server", kinds: [carriers])
            let code = try await laptop.member.invite(name: "server", for: .seconds(3600))
            async let joined = server.member.join(code, at: place, interval: .seconds(86_400))
            try await yieldUntil("it is admitted") { try await !laptop.exchange().admitted.isEmpty }
            _ = try await joined
            #expect(try server.vault.isInRing)
        }
    #endif
}

/// Shared folders whose calls are counted, as several machines use them.
private final class CountingFolders: KindOverFolders {
    enum Call: Sendable { case list, read, publish, remove }

    let calls = Guarded<[Call]>([])
    /// Runs once, before the next segment is published.
    let whilePublishing = Guarded<(@Sendable () throws -> Void)?>(nil)

    func carrier(over base: FolderCarrier) -> any Carrier { CountingFolder(base: base, kind: self) }
}

private struct CountingFolder: CarrierOverFolder {
    let base: FolderCarrier
    let kind: CountingFolders

    private func count(_ call: CountingFolders.Call) { kind.calls.withLock { $0.append(call) } }

    func list() async throws(CarrierFailure) -> Listing {
        count(.list)
        return try await base.list()
    }

    func read(_ names: [ObjectName]) async throws(CarrierFailure) -> CarrierReading {
        count(.read)
        return try await base.read(names)
    }

    func publish(
        _ name: ObjectName, _ bytes: Data, beside isBeside: Bool
    ) async throws(CarrierFailure) -> Publication {
        count(.publish)
        if case .segment = name { runMeanwhile() }
        return try await base.publish(name, bytes, beside: isBeside)
    }

    private func runMeanwhile() {
        let meanwhile = kind.whilePublishing.withLock { meanwhile in
            defer { meanwhile = nil }
            return meanwhile
        }
        do { try meanwhile?() } catch { Issue.record(error) }
    }

    func remove(_ names: [ObjectName]) async throws(CarrierFailure) {
        count(.remove)
        try await base.remove(names)
    }
}
