// SPDX-License-Identifier: Apache-2.0
// `sync keep` and `sync remove`, when two machines have removed each other.

import Foundation
import Testing

@Suite("sync contests")
struct SyncContestTests {
    private let tool: Tool

    /// Three machines, each with a home of its own, and one folder.
    init() throws {
        tool = try Tool()
        let run = try tool.shell(
            """
            mkdir shared desktop server
            "$CTL" sync init --folder shared --name laptop || exit
            for name in desktop server; do
                "$CTL" sync invite --name $name > code || exit
                HOME="$HOME/$name" "$CTL" sync join --folder shared --wait 600s --code-fd 3 3< code & other=$!
                while kill -0 $other 2> /dev/null; do "$CTL" sync now || exit; done
                wait $other || exit
            done
            HOME="$HOME/desktop" "$CTL" sync now
            """)
        try #require(run.status == 0, "\(run.errors)")
    }

    private func run(_ machine: String, _ arguments: String..., input: Data = Data()) throws -> Tool.Run {
        let words = arguments.map { "'\($0)'" }.joined(separator: " ")
        return try tool.shell("HOME=\"$HOME/\(machine)\" \"$CTL\" \(words)", input: input)
    }

    /// The desktop cannot reach the folder when it removes the laptop, and the laptop removes it before it can.
    private func contest() throws {
        try #require(try tool.shell("mv shared away").status == 0)
        #expect(try run("desktop", "sync", "remove", "laptop", "--without-fetching", "--yes").status == 13)
        try #require(try tool.shell("mv away shared").status == 0)
        try #require(try run(".", "sync", "remove", "desktop", "--yes").status == 0)
        #expect(try run("desktop", "sync", "now").errors.contains("removed from its ring"))
        try #require(
            try run("server", "set", "--synchronizable", "-s", "s", "-a", "bob", input: Data("v".utf8)).status == 0)
    }

    private func pending() throws -> Int? {
        let status = try run("server", "sync", "status", "--json").output
        return (try JSONSerialization.jsonObject(with: status) as? [String: Any])?["pending"] as? Int
    }

    @Test func exchange_whileNobodyHasDecided_failsAndSendsNothing() throws {
        try contest()
        let exchange = try run("server", "sync", "now")
        #expect(exchange.status == 13 && exchange.errors.contains("for you to decide"), "\(exchange.errors)")
        #expect(try run("server", "sync", "dismiss").errors.contains("nothing to forget"))
        let status = try run("server", "sync", "status").text
        #expect(status.contains("keychainctl sync keep") && status.contains("keychainctl sync remove"), "\(status)")
        #expect(try pending() == 1)
    }

    @Test func machine_thatIsKept_getsWhatWaited() throws {
        try contest()
        #expect(try run("server", "sync", "now").status == 13)
        #expect(try run("server", "sync", "keep", "laptop").status != 0, "nobody was asked")
        #expect(try run("server", "sync", "keep", "laptop", "--yes").status == 0)
        #expect(try pending() == 0)
        #expect(try run(".", "sync", "now").status == 13)
        #expect(try run(".", "sync", "keep", "laptop", "--yes").status == 0)
        #expect(try run(".", "get", "-s", "s", "-a", "bob").text == "v")
    }

    @Test func machine_thatIsRemoved_getsNothing() throws {
        try contest()
        #expect(try run("server", "sync", "remove", "laptop", "--yes").status == 0)
        #expect(try pending() == 0)
        #expect(try run(".", "sync", "now").errors.contains("removed from its ring"))
        #expect(try run(".", "get", "-s", "s", "-a", "bob").status == 3)
    }

    @Test func decision_thatNobodyNeeds_isRefused() throws {
        #expect(try run("server", "sync", "keep", "laptop", "--yes").status == 3)
        let unknown = try run("server", "sync", "keep", "tablet", "--yes")
        #expect(unknown.status == 3 && unknown.errors.contains("No machine of the ring is named 'tablet'"))
        #expect(try run("server", "sync", "now").status == 0)
    }
}
