// SPDX-License-Identifier: Apache-2.0
// Processes that are killed, and processes that write while others read: a vault that was not changed from outside is
// never reported as older.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

@Suite(.serialized)
struct HeadKillTests {
    /// `KEYCHAIN_FAULTS=all` kills 10,000 writers.
    @Test func writer_killedAtAnyMoment_isNeverTakenForAnOlderVault() async throws {
        let count = ProcessInfo.processInfo.environment["KEYCHAIN_FAULTS"] == "all" ? 10_000 : 300
        let test = try Self.vaultInMemory()
        let child = try await onOwnThread {
            try test.exercise("crash-runs", "\(count)", "\(UInt64.random(in: 0 ... .max))")
        }
        let words = child.lines.last?.split(separator: " ").map(String.init) ?? []
        print("crash runs: \(words.joined(separator: " "))")
        #expect(words.first == "killed" && words.last == "0", "\(child.output) \(child.errors)")
        #expect((words.dropFirst().first.flatMap { Int($0) } ?? 0) > count / 2)
    }

    /// These runs are about the order of steps, not about disks.
    private static func vaultInMemory() throws -> TestVault {
        try TestVault(in: TemporaryFolder.inMemory("keychain-test"))
    }

    @Test func vault_lookedAtWhileOthersWrite_isAlwaysAsItWasLeft() throws {
        let test = try Self.vaultInMemory()
        try test.engine.add(.genericPassword("exerciser", "first", value: "v"))
        let writers = try (1...3).map { worker in
            try ChildProcess(
                Exerciser.path, test.exerciserArguments(["swarm", "\(worker)", "300"])
            ).start()
        }
        let finished = Finished()
        let waiter = Thread {
            finished.set(writers.map { (try? $0.finish())?.output ?? "" })
        }
        waiter.start()
        var looks = 0
        while finished.outputs == nil || looks < 20 {
            #expect(try test.another().headFindings(wholeVault: true) == [])
            looks += 1
        }
        let outputs = finished.outputs ?? []
        #expect(outputs.count == 3 && outputs.allSatisfy { !$0.isEmpty && !$0.contains("rolledBack") })
        #expect(try test.another().headFindings(wholeVault: true) == [])
    }

    /// What the writers printed, once all have ended.
    private final class Finished: @unchecked Sendable {
        private let lock = NSLock()
        private var stored: [String]?

        var outputs: [String]? { lock.withLock { stored } }
        func set(_ outputs: [String]) { lock.withLock { stored = outputs } }
    }
}
