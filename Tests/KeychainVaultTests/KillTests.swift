// SPDX-License-Identifier: Apache-2.0
// Processes killed at their system calls: what was acknowledged is there, at most one step more, and the vault opens.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

/// The accounts and values that the exerciser's script has made after a number of steps.
struct ScriptedState {
    static let steps = 15

    static func after(_ steps: Int) -> [String: String] {
        var state: [String: String] = [:]
        for step in 0..<steps {
            switch step % 5 {
            case 0, 1, 2: state["account-\(step)"] = "value-\(step)"
            case 3: state["account-\(step - 2)"] = "updated-\(step)"
            default: state["account-\(step - 3)"] = nil
            }
        }
        return state
    }
}

@Suite(.serialized)
struct KillTests {
    /// The calls that change files. `KEYCHAIN_FAULTS=all` tries each of their occurrences, otherwise every ninth.
    static let calls = [
        "pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "openat", "flock", "rename", "renameat2",
    ]

    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func writer_killedAtAnyWriteCall_keepsWhatWasAcknowledged() async throws {
        let strace = try #require(Programs.strace)
        let stride = ProcessInfo.processInfo.environment["KEYCHAIN_FAULTS"] == "all" ? 1 : 9
        let points = try await KillPoints(calls: Self.calls, every: stride).count { call, occurrence in
            try await isKilledAndSurvived(at: occurrence, of: call, strace)
        }
        print("killed at \(points) points")
        #expect(points >= 200 / stride)
    }

    /// - Returns: `false` if the script ended before the call occurred that often.
    private func isKilledAndSurvived(at occurrence: Int, of call: String, _ strace: String) async throws -> Bool {
        let test = try TestVault()
        let injection = "\(call):signal=KILL:when=\(occurrence)"
        let child = try await onOwnThread {
            try test.exercise(["script", "\(ScriptedState.steps)"], injecting: injection, strace: strace)
        }
        let acknowledged = child.lines.count
        #expect(child.lines == (0..<acknowledged).map(String.init), "\(injection): \(child.output)")
        let found = try test.state()
        let possible = [acknowledged, min(acknowledged + 1, ScriptedState.steps)].map(ScriptedState.after)
        #expect(possible.contains(found), "\(injection): \(acknowledged) steps acknowledged, found \(found)")
        // It can also be written again.
        try test.reopened().add(.genericPassword("exerciser", "afterwards", value: "v"))
        try #require(child.wasSignalled || child.status == 0, "\(injection): \(child.errors)")
        return child.wasSignalled
    }
}
