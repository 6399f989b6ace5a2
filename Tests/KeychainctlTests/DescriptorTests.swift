// SPDX-License-Identifier: Apache-2.0
// Verbs of a program that may open only a few files.

import Foundation
import Testing

@Suite("few descriptors")
struct DescriptorTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
        #expect(try tool.run("backup", "copy").status == 0)
    }

    /// libdispatch ends a program that has no descriptor left for it, some of the times that it needs one.
    @Test(arguments: [
        "get -s example.com -a alice", "list", "status", "set -s example.com -a bob", "delete -s example.com -a carol",
        "rotate",
        "backup copy --replace", "restore copy --yes", "quarantine list", "accept",
    ])
    func verb_withFewDescriptors_isDoneOrSaysSo(_ line: String) throws {
        for limit in [7, 8, 9, 10, 12, 16, 18, 20, 22, 24, 26] {
            let run = try tool.shell("ulimit -n \(limit); exec \"$CTL\" \(line)", input: otherSecret)
            // Only carol is not found.
            #expect([line.contains("carol") ? 3 : 0, 13].contains(run.status), "\(limit): \(run.status) \(run.errors)")
            #expect(run.status != 13 || run.errors.contains("Too many open files"), "\(limit): \(run.errors)")
        }
        #expect(try tool.get() == secret)
        #expect(try tool.run("doctor").status == 0)
    }

    /// That its items were looked at is what makes a copy a backup.
    @Test func backup_withFewDescriptors_looksAtTheItemsOrFails() throws {
        for limit in 10...24 {
            let run = try tool.shell("ulimit -n \(limit); exec \"$CTL\" backup copy --replace --json")
            guard run.status == 0 else { continue }
            #expect(
                run.text.contains("\"opening\":\"by-itself\"") && run.text.contains("\"locked\":0"),
                "\(limit): \(run.text)")
        }
    }
}
