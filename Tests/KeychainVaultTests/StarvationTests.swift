// SPDX-License-Identifier: Apache-2.0
// Full disks and failing media: a clear outcome, and nothing that was acknowledged is lost.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

@Suite(.serialized, .enabled(if: Programs.strace != nil, "strace cannot trace here"))
struct StarvationTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let call: String
        let error: String
        let reasons: Set<String>

        var testDescription: String { "\(call) fails with \(error)" }
    }

    static let faults = [
        Fault(call: "pwrite64", error: "ENOSPC", reasons: ["diskFull"]),
        Fault(call: "pwrite64", error: "EIO", reasons: ["inputOutput"]),
        Fault(call: "pwrite64", error: "EDQUOT", reasons: ["diskFull"]),
        Fault(call: "fdatasync", error: "EIO", reasons: ["inputOutput"]),
    ]

    @Test(arguments: faults)
    func writer_onFailingMedium_reportsItAndKeepsWhatWasAcknowledged(_ fault: Fault) async throws {
        let strace = try #require(Programs.strace)
        var isReported = false
        let step = ProcessInfo.processInfo.environment["KEYCHAIN_FAULTS"] == "all" ? 1 : 11
        for occurrence in stride(from: 1, through: 60, by: step) {
            let test = try TestVault()
            try test.engine.add(.genericPassword("exerciser", "before", value: "kept"))
            let injection = "\(fault.call):error=\(fault.error):when=\(occurrence)+"
            let child = try await onOwnThread {
                try test.exercise(["script", "5"], injecting: injection, strace: strace)
            }
            #expect(!child.wasSignalled, "\(fault) at \(occurrence): \(child.errors)")
            var expected = ScriptedState.after(child.acknowledgedSteps)
            expected["before"] = "kept"
            let found = try test.state()
            #expect(found.merging(expected) { $1 } == found, "\(fault) at \(occurrence): lost an acknowledged item")
            for reason in child.failureReasons where reason != "itemNotFound" {
                #expect(fault.reasons.contains(reason), "\(fault) at \(occurrence): \(child.output)")
                isReported = true
            }
        }
        #expect(isReported)
    }

    /// The item has more pages than the first part of the index has room for, and only the index fails.
    @Test(arguments: [("ENOSPC", "diskFull"), ("EDQUOT", "diskFull"), ("EIO", "inputOutput")])
    func indexOfTheWAL_thatCannotGrow_isReportedByItsCause(error: String, reason: String) throws {
        let strace = try #require(Programs.strace)
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "before", value: "kept"))
        let child = try ChildProcess.run(
            strace,
            [
                "-f", "-qq", "-o", "/dev/null", "-P", test.databaseFile + "-shm", "-e", "trace=pwrite64", "-e",
                "inject=pwrite64:error=\(error)", Exerciser.path,
            ] + test.exerciserArguments(["add-of-size", "large", "20000000"]))
        #expect(child.failureReasons == [reason], "\(child.output)")
        #expect(try test.state() == ["before": "kept"])
    }
}

extension ChildResult {
    /// Steps done before the first that failed.
    var acknowledgedSteps: Int { lines.prefix { !$0.hasPrefix("failed") }.count }

    var failureReasons: [String] {
        lines.filter { $0.hasPrefix("failed") }.compactMap {
            $0.split(separator: " ").dropFirst().first.map(String.init)
        }
    }
}
