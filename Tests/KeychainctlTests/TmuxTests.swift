// SPDX-License-Identifier: Apache-2.0
// Sessions in tmux, a terminal that other programs share: prompts, ^C, ^Z, wide tables, and what remains in the scrollback.

import Foundation
import KeychainTestSupport
import Testing

@Suite("tmux", .enabled(if: Programs.installed("tmux") != nil, "tmux is not installed"))
struct TmuxTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Runs a script beside a session with a shell on 80 columns. `type` enters a line, and `key` presses one; `line` runs a
    /// command to its end; `screen` prints everything with the scrollback; `see` waits until a text is there so often; `back`
    /// waits until the shell has the terminal again. The limit of the whole script ends what never comes.
    private func session(_ script: String) throws -> Tool.Run {
        try tool.shell(
            """
            unset TMUX; export TMUX_TMPDIR="$PWD" LC_ALL=C.UTF-8
            t() { tmux -u -L keychain -f settings "$@"; }
            echo 'set -g history-limit 5000; set -g set-clipboard on' > settings
            t new-session -d -x 80 -y 24 'bash --norc --noprofile' || exit 77
            trap 't kill-server' EXIT
            type() { t send-keys -l "$1"; t send-keys Enter; }
            key() { t send-keys "$1"; }
            line() { type "$1; tmux -u -L keychain wait-for -S done"; t wait-for done; }
            screen() { t capture-pane -p -S -; }
            see() { until [ "$(screen | grep -c -e "$1")" -ge "${2-1}" ]; do sleep 0.05; done; }
            back() { until [ "$(t display -p '#{pane_current_command}')" = bash ]; do sleep 0.05; done; }
            \(script)
            """)
    }

    @Test func prompt_inASession_showsNothingOfTheValue() throws {
        let run = try session(
            """
            type '"$CTL" set -s s -a a; echo "code $?"'; see 'Value for'; type hunter2; see again; type hunter2; see '^code'
            screen | grep -c hunter2; "$CTL" get -s s
            """)
        #expect(run.text == "0\nhunter2", "\(run.everything)")
    }

    @Test func prompt_interruptedInASession_endsBySIGINT() throws {
        let run = try session(
            """
            type '"$CTL" set -s s -a a'; see 'Value for'; type half; see again; key C-c; back
            type 'echo "code $?"'; see '^code'; screen | grep -x 'code [0-9]*'; "$CTL" list
            """)
        #expect(run.text == "code 130\n", "\(run.everything)")
    }

    @Test func prompt_stoppedInASession_isShownAgain() throws {
        let run = try session(
            """
            type '"$CTL" set -s s -a a'; see 'Value for'; key C-z; see Stopped; type 'fg; echo "code $?"'; see 'Value for' 2
            type hunter2; see again; type hunter2; see '^code'; screen | grep -c hunter2; "$CTL" get -s s
            """)
        #expect(run.text == "0\nhunter2", "\(run.everything)")
    }

    @Test func value_copiedInASession_isNotInTheScrollback() throws {
        try tool.store()
        let run = try session(
            """
            line '"$CTL" copy -s example.com --clear-after 0'
            screen | grep -c 'correct horse'; until t show-buffer 2> log; do sleep 0.05; done
            """)
        #expect(run.text == "0\ncorrect horse", "\(run.everything)")
    }

    /// 500 items with names of any width: each is one line of the terminal.
    @Test func table_of500Items_hasALineForEach() throws {
        let names = ["plain", "日本語サービス", "ｆｕｌｌｗｉｄｔｈ", "e\u{301}a\u{308}", "🔑🗝", String(repeating: "長い", count: 40)]
        let items = (0..<500).map { number in
            ExportedItems.item(
                #""svce":{"text":"\#(names[number % names.count])"},"acct":{"text":"account \#(number) \#(names[number % 5])"},"#
            )
        }
        try #require(try tool.take(ExportedItems.document(items)).status == 0)
        let run = try session("line 'clear; \"$CTL\" list'; screen")
        let rows = run.text.split(separator: "\n").filter { $0.hasPrefix("CLASS ") || !$0.hasPrefix("bash") }
        #expect(
            rows.count == 501 && rows.dropFirst().allSatisfy { $0.hasPrefix("generic-password") },
            "\(run.text.suffix(2000))")
    }
}
