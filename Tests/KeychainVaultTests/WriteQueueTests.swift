// SPDX-License-Identifier: Apache-2.0
// Short writes of several threads, which one of them makes together: what each of them gets.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

struct WriteQueueTests {
    private let test: TestVault
    private static let timeout = KeychainError(.timedOut, "The test's time is up.")

    init() throws {
        var settings = VaultSettings.cheap
        settings.writerTimeout = .seconds(600)
        test = try TestVault(settings)
        try test.engine.add(Self.item("before"))
    }

    private static func item(_ account: String, _ value: String = "v") -> Query {
        .genericPassword("s", account, value: value)
    }

    private func accounts() throws -> [String] {
        let query = Query(.genericPassword).returning(.attributes, limit: .all)
        return try test.another().engine.requests.find(query, accessGroups: .unrestricted)
            .compactMap { $0.item.attributes[.account] }
            .compactMap { if case .string(let account) = $0 { account } else { nil } }
            .sorted()
    }

    /// Writes that wait for one another: the first for the lock, which the test holds, the others for the first.
    private func together(_ writes: [@Sendable (Engine) throws -> Void], _ meanwhile: () throws -> Void = {}) throws
        -> [Background]
    {
        let held = try HeldLock(test.location.lockFile)
        let (vault, engine) = (test.vault, test.engine)
        let threads = try writes.enumerated().map { number, write in
            let thread = Background { try write(engine) }
            if number == 0 {
                try waitUntil("A leader") { vault.writes.isLed }
            } else {
                try waitUntil("A write that waits") { vault.writes.waitingCount == number }
            }
            return thread
        }
        try meanwhile()
        held.release()
        return threads
    }

    private func end() throws -> WALHeader { try #require(try test.vault.openSession()?.walHeader) }

    // MARK: - What they share

    @Test func additions_thatWaitTogether_areOneCommit() throws {
        let before = try end()
        let threads = try together((1...4).map { number in { try $0.add(Self.item("\(number)")) } })
        #expect(threads.map { $0.reason() } == [nil, nil, nil, nil])
        #expect(try end().directlyFollows(before))
        #expect(try accounts() == ["1", "2", "3", "4", "before"])
    }

    @Test func savings_ofOneItem_comeInTheirOrder() throws {
        let threads = try together(
            ["1", "2", "3"].map { value in { try $0.save(Self.item("a", value), accessGroups: .unrestricted) } })
        #expect(threads.map { $0.reason() } == [nil, nil, nil])
        #expect(try test.another().engine.text(Self.item("a")) == "3")
    }

    @Test func vault_afterWritesOfSeveralThreads_hasNoProblem() throws {
        for thread in try together((1...4).map { number in { try $0.add(Self.item("\(number)")) } }) {
            #expect(thread.reason() == nil)
        }
        try test.vault.close()
        #expect(Vault.examine(test.location).filter { $0.severity == .problem } == [])
    }

    // MARK: - What they do not share

    @Test func writeThatFails_amongOthers_failsByItself() throws {
        let threads = try together([
            { try $0.add(Self.item("1")) }, { try $0.add(Self.item("before")) }, { try $0.add(Self.item("2")) },
        ])
        #expect(threads.map { $0.reason() } == [nil, .duplicateItem, nil])
        #expect(try accounts() == ["1", "2", "before"])
        #expect(Vault.examine(test.location).filter { $0.severity == .problem } == [])
    }

    /// After a part of its changes is made: the head must not count them.
    @Test func saving_thatFailsHalfway_leavesNothing() throws {
        let threads = try together([
            { try $0.add(Self.item("1")) },
            { engine in
                try engine.shortTransaction(as: Self.item("half")) { (requests) throws(KeychainError) in
                    try requests.add(Self.item("half"), accessGroups: .unrestricted)
                    throw KeychainError(.typeMismatch, "the body's")
                }
            },
            { try $0.add(Self.item("2")) },
        ])
        #expect(threads.map { $0.reason() } == [nil, .typeMismatch, nil])
        #expect(try accounts() == ["1", "2", "before"])
        try test.vault.close()
        #expect(Vault.examine(test.location).filter { $0.severity == .problem } == [])
    }

    @Test func leaderThatFails_leavesTheOthersAlone() throws {
        let threads = try together([
            { try $0.add(Self.item("before")) }, { try $0.add(Self.item("1")) }, { try $0.add(Self.item("2")) },
        ])
        #expect(threads.map { $0.reason() } == [.duplicateItem, nil, nil])
        #expect(try accounts() == ["1", "2", "before"])
    }

    /// What was removed must leave the WAL, which only a transaction of its own does.
    @Test func writeThatRemoves_amongOthers_leavesNothingInTheWAL() throws {
        let threads = try together([
            { try $0.add(Self.item("1")) },
            { engine in
                try engine.shortTransaction(as: Self.item("before")) { (requests) throws(KeychainError) in
                    _ = try requests.delete(Self.item("before"), accessGroups: .unrestricted)
                }
            },
        ])
        #expect(threads.map { $0.reason() } == [nil, nil])
        #expect(try accounts() == ["1"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.databaseFile + "-wal")).isEmpty)
    }

    @Test func transactionOfTheCaller_runsOnItsOwnThread() throws {
        let engine = test.engine
        let isOwn = Guarded(false)
        var transaction: Background?
        let threads = try together([{ try $0.add(Self.item("1")) }, { try $0.add(Self.item("2")) }]) {
            transaction = Background {
                let own = pthread_self()
                try engine.transaction(as: Self.item("3")) { (requests) throws(KeychainError) in
                    isOwn.withLock { $0 = pthread_self() == own }
                    try requests.add(Self.item("3"), accessGroups: .unrestricted)
                }
            }
        }
        #expect(threads.map { $0.reason() } + [transaction?.reason()] == [nil, nil, nil])
        #expect(isOwn.withLock { $0 })
    }

    // MARK: - The end of a call

    private static func late(_ gate: CommitGate) -> Query {
        var query = item("late")
        query.questions = Query.Questions(cancellation: AuthenticationCancellation(), gate: gate) { _ in }
        return query
    }

    /// Whether the thread has noticed the end, or the leader is the first to notice it.
    @Test(arguments: [true, false])
    func write_thatEndsWhileItWaitsForAnother_neverHappens(isNoticed: Bool) throws {
        let gate = CommitGate()
        let late = Self.late(gate)
        let threads = try together([{ try $0.add(Self.item("1")) }, { try $0.add(late) }]) {
            #expect(gate.close(Self.timeout))
            if isNoticed { try waitUntil("The end of the call") { test.vault.writes.waitingCount == 0 } }
        }
        #expect(threads.map { $0.reason() } == [nil, .timedOut])
        #expect(try accounts() == ["1", "before"])
    }

    @Test func leader_thatEndsWhileItWaits_givesTheLeadAway() throws {
        let gate = CommitGate()
        let late = Self.late(gate)
        let threads = try together([{ try $0.add(late) }, { try $0.add(Self.item("1")) }]) {
            #expect(gate.close(Self.timeout))
            try waitUntil("The next leader") { test.vault.writes.waitingCount == 0 }
        }
        #expect(threads.map { $0.reason() } == [.timedOut, nil])
        #expect(try accounts() == ["1", "before"])
    }

    @Test func write_whoseTimeIsUpWhileItWaitsForAnother_isBusy() throws {
        var settings = VaultSettings.cheap
        settings.writerTimeout = .milliseconds(200)
        let engine = Engine(store: test.another(settings))
        let held = try HeldLock(test.location.lockFile)
        let threads = (1...3).map { number in Background { try engine.add(Self.item("\(number)")) } }
        #expect(threads.map { $0.reason() } == [.busy, .busy, .busy])
        held.release()
        #expect(try accounts() == ["before"])
    }

    /// It is locked while the writes wait: each of them says so.
    @Test func writes_toAVaultThatIsLockedMeanwhile_areLocked() throws {
        try test.protect()
        try test.vault.unlock(.old)
        let threads = try together((1...3).map { number in { try $0.add(Self.item("\(number)")) } }) {
            try test.another().lock()
        }
        #expect(threads.map { $0.reason() } == [.locked, .locked, .locked])
    }

    // MARK: - Forks

    @Test func childOfAParentWhoseThreadsWait_adds() throws {
        #expect(try test.exercise("fork-while-writing").output == "child 0\ndone\n")
        #expect(try test.state()["child"] == "v")
        #expect(try test.state()["parent-2"] == "v")
    }

    /// It would write without SQLite's locks, and seal the head with the nonce that its parent uses.
    @Test(arguments: ["adding", "ending"])
    func child_forkedInATransaction_canNeitherContinueNorCommitIt(what: String) throws {
        #expect(try test.exercise("fork-in-a-transaction", what).output == "child 3\ndone\n")
        let state = try test.state()
        #expect(state["parent"] == "v" && state["child"] == nil)
    }
}
