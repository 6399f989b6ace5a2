// SPDX-License-Identifier: Apache-2.0
// `sync recovery-key` that fails or is repeated.

import Foundation
import Testing

@Suite("recovery key of sync")
struct SyncRecoveryTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        let run = try tool.shell("mkdir shared desktop && \"$CTL\" sync init --folder shared --name laptop")
        try #require(run.status == 0, "\(run.errors)")
    }

    private func status() throws -> [String: Any] {
        let run = try tool.run("sync", "status", "--json")
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
    }

    private func keysInTheRing() throws -> Int {
        let machines = try #require(try status()["machines"] as? [[String: Any]])
        return machines.count { $0["role"] as? String == "recovery" }
    }

    /// The exit code of another machine that enters with a key.
    private func join(_ key: String) throws -> Int32 {
        try tool.shell(
            "HOME=\"$HOME/desktop\" \"$CTL\" sync join --folder shared --name desktop --ring-key-fd 0",
            input: Data(key.utf8)
        ).status
    }

    @Test(arguments: [">/dev/full", ">&-"])
    func key_thatCannotBeShown_isNotInTheRing(output: String) throws {
        #expect(try tool.shell("\"$CTL\" sync recovery-key \(output)").status == 17)
        #expect(try tool.run("sync", "now").status == 0)
        #expect(try keysInTheRing() == 0)
        #expect(try status()["recoveryKey"] as? Bool == false)
    }

    @Test func key_whoseCommandIsRepeatedBeforeItHasReachedTheFolder_takesThePlaceOfTheFirst() throws {
        let run = try tool.shell(
            "mv shared away; for key in first second; do \"$CTL\" sync recovery-key; done; mv away shared")
        let keys = run.text.split(separator: "\n").map(String.init)
        try #require(keys.count == 2)
        #expect(try tool.run("sync", "now").status == 0)
        #expect(try keysInTheRing() == 1)
        #expect(try join(keys[0]) == 3)
        #expect(try join(keys[1]) == 0)
    }

    @Test func key_whoseCommandHasSucceeded_isKeptBesideAnother() throws {
        let keys = try (0..<2).map { _ in try tool.run("sync", "recovery-key").text }
        #expect(try keysInTheRing() == 2)
        #expect(try join(keys[0]) == 0)
    }

    @Test func key_ofAMachineThatOnlyReads_isNotShown() throws {
        let run = try tool.shell(
            """
            "$CTL" sync invite --name desktop --reader > code || exit
            HOME="$HOME/desktop" "$CTL" sync join --folder shared --wait 600s --code-fd 3 3< code 2> log & other=$!
            while kill -0 $other 2> /dev/null; do "$CTL" sync now 2> log || exit; done
            wait $other || exit
            HOME="$HOME/desktop" "$CTL" sync recovery-key
            """)
        #expect(run.status == 7 && run.text.isEmpty, "\(run.everything)")
    }
}
