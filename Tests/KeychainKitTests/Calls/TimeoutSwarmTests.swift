// SPDX-License-Identifier: Apache-2.0
// Several processes whose calls time out: what was refused never happens afterwards.

import Foundation
import KeychainKit
import KeychainTestSupport
@_spi(Wrappers) import KeychainTesting
import Testing

@Suite("Swarm with timeouts")
struct TimeoutSwarmTests {
    @Test func eightProcesses_whoseCallsTimeOut_seeNoRefusedChangeLater() async throws {
        try await hurry(processes: 8, threads: 1)
    }

    /// The threads of a process make their changes together.
    @Test func threadsOfTwoProcesses_whoseCallsTimeOut_seeNoRefusedChangeLater() async throws {
        try await hurry(processes: 2, threads: 6)
    }

    /// The store makes each change by calls of Apple's functions, which return what happened as a status.
    @Test func sixProcesses_whoseItemFunctionsTimeOut_seeNoRefusedChangeLater() async throws {
        try await hurry(processes: 6, threads: 1, "functions")
    }

    @Test func threadsOfTwoProcesses_whoseItemFunctionsTimeOut_seeNoRefusedChangeLater() async throws {
        try await hurry(processes: 2, threads: 4, "functions")
    }

    private static let operations = 250

    /// - Parameter surface: Through which functions the processes call.
    private func hurry(processes: Int, threads: Int, _ surface: String = "vault") async throws {
        let shared = try SharedVault()
        try await shared.store.save("first", for: "key-0")
        let calls = try await onOwnThread {
            let children = try (0..<processes).map {
                try shared.start(["hurry", "\($0)", "\(Self.operations)", "\(threads)", surface])
            }
            return try children.flatMap { try $0.finish().lines.compactMap(RecordedCall.init) }
        }
        #expect(calls.count >= processes * threads * Self.operations)
        let outcomes = Set(calls.map(\.outcome))
        // Apple has one status for a keychain that is busy and for one that cannot be used.
        let expected: Set = ["ok", "timedOut", "busy", surface == "functions" ? "unavailable" : "ok"]
        #expect(outcomes.isSubset(of: expected), "\(outcomes)")
        // Otherwise the test has seen nothing.
        #expect(outcomes.isSuperset(of: ["ok", "timedOut"]), "\(outcomes)")
        let store = shared.reopened()
        for (key, history) in Dictionary(grouping: calls, by: \.key) {
            let look = RecordedCall.lastLook(at: key, found: try await store.read(String.self, for: key))
            for problem in CallHistory(history + [look]).problems { Issue.record("\(key): \(problem)") }
        }
    }
}
