// SPDX-License-Identifier: Apache-2.0
// Several processes whose calls through a wrapper are refused: what was refused never happens afterwards.

import Foundation
@_spi(Wrappers) import KeychainTesting
import Testing
import WrapperStores

@Suite("Swarm with timeouts, through the wrappers")
struct HurriedWrapperTests {
    @Test(arguments: Wrapper.allCases)
    func processes_whoseCallsTimeOut_seeNoRefusedChangeLater(_ wrapper: Wrapper) async throws {
        try await hurry(wrapper, .timeout)
    }

    @Test(arguments: Wrapper.allCases.filter(\.isCancellable))
    func processes_whoseCallsAreCancelled_seeNoRefusedChangeLater(_ wrapper: Wrapper) async throws {
        try await hurry(wrapper, .cancellation)
    }

    private func hurry(_ wrapper: Wrapper, _ haste: Haste) async throws {
        let folder = try TemporaryFolder("keychain-swarm")
        let vault = try HurriedProcess.vault(in: folder.path, writerTimeout: .seconds(600))
        try await wrapper.save("first", for: wrapper.keys[0], in: vault)
        let calls = try await calls(
            of: (0..<6).map { HurriedProcess(wrapper: wrapper, haste: haste, folder: folder.path, number: $0) })
        #expect(calls.count == 6 * 2 * HurriedProcess.operations)
        #expect(calls.allSatisfy { $0.verb != "read" || $0.outcome == "ok" })
        // Otherwise the test has seen nothing.
        #expect(Set(calls.map(\.outcome)) == ["ok", "refused"])
        for (key, history) in Dictionary(grouping: calls, by: \.key) {
            let look = RecordedCall.lastLook(at: key, found: try await wrapper.read(key, in: vault))
            for problem in CallHistory(history + [look]).problems { Issue.record("\(key): \(problem)") }
        }
    }

    private func calls(of processes: [HurriedProcess]) async throws -> [RecordedCall] {
        try await withThrowingTaskGroup(of: [RecordedCall].self) { group in
            for process in processes { group.addTask { try await calls(of: process) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func calls(of process: HurriedProcess) async throws -> [RecordedCall] {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { [process] in
            try await process.run()
            exit(0)
        }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        return output.split(separator: "\n").compactMap { RecordedCall(String($0)) }
    }
}
