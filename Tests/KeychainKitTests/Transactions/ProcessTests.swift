// SPDX-License-Identifier: Apache-2.0
// Several processes that change the same items, and processes killed while they change many at once.

import Foundation
import KeychainKit
import KeychainTestSupport
import Testing

@Suite("Several processes")
struct ProcessTests {
    @Test func counter_incrementedByEightProcesses_countsEveryStep() async throws {
        let vault = try SharedVault()
        let results = try await onOwnThread {
            let programs = try (0..<8).map { _ in try vault.start(["increment", "counter", "500"]) }
            return try programs.map { try $0.finish() }
        }
        for result in results {
            #expect(result.lines == (0..<500).map(String.init), "\(result.lines.filter { $0.hasPrefix("failed") })")
        }
        #expect(try await vault.store.read(Int.self, for: "counter") == 4000)
    }
}

/// `KEYCHAIN_FAULTS=all` tries each occurrence of each call, otherwise every fifth.
@Suite(.serialized)
struct TransactionKillTests {
    private static let calls = ["pwrite64", "fdatasync", "ftruncate", "unlink", "openat", "flock"]
    private static let (steps, size) = (3, 50)

    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func transactionOfFiftyItems_killedAtAnyWriteCall_isWholeOrNothing() async throws {
        let strace = try #require(Programs.strace)
        let stride = ProcessInfo.processInfo.environment["KEYCHAIN_FAULTS"] == "all" ? 1 : 5
        let points = try await KillPoints(calls: Self.calls, every: stride).count { call, occurrence in
            try await isKilledAndWhole(at: occurrence, of: call, strace)
        }
        print("killed at \(points) points")
        #expect(points >= 60 / stride)
    }

    /// - Returns: `false` if the program ended before the call occurred that often.
    private func isKilledAndWhole(at occurrence: Int, of call: String, _ strace: String) async throws -> Bool {
        let vault = try SharedVault()
        let injection = "\(call):signal=KILL:when=\(occurrence)"
        let result = try await onOwnThread {
            try vault.run(["transact", "\(Self.steps)", "\(Self.size)"], injecting: injection, strace: strace)
        }
        let acknowledged = result.lines.count
        #expect(result.lines == (0..<acknowledged).map(String.init), "\(injection)")
        let found = try state(vault.reopened())
        let possible = [acknowledged, min(acknowledged + 1, Self.steps)].map(Self.state(after:))
        #expect(possible.contains(found), "\(injection): \(acknowledged) acknowledged, \(found.count) items found")
        try #require(result.wasKilled || result.hasEndedWell, "\(injection): it ended with \(result.status)")
        return result.wasKilled
    }

    private func state(_ store: SecretStore) throws -> [String: String] {
        var state: [String: String] = [:]
        for account in try store.items().compactMap(\.account) {
            state[account] = try store.read(String.self, for: account)
        }
        return state
    }

    /// What the exerciser's transactions have made after a number of steps.
    private static func state(after steps: Int) -> [String: String] {
        guard steps > 0 else { return [:] }
        let last = steps - 1
        let items = (0..<size).filter { last % 2 == 0 || $0 % 2 == 0 }
        return Dictionary(uniqueKeysWithValues: items.map { ("item-\($0)", "step-\(last)") })
    }
}
