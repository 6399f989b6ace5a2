// SPDX-License-Identifier: Apache-2.0
// `copy` with a real clipboard of X11, with programs in place of those of Wayland, and with a terminal.

import ArgumentParser
import Foundation
import Testing

@testable import keychainctl

@Suite("copy")
struct CopyTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
    }

    /// Runs a script on a display of its own. `shown` prints the clipboard; `cleared` waits until it has changed.
    private func onDisplay(_ script: String) throws -> Tool.Run {
        try tool.shell(
            """
            mkfifo display; Xvfb -displayfd 9 -nolisten tcp 9> display > /dev/null 2>&1 & server=$!
            trap 'kill $server' EXIT
            read -r number < display || exit 99
            export DISPLAY=:$number
            shown() { xclip -selection clipboard -out; }
            \(script)
            """)
    }

    @Test(.enabled(if: Tool.hasDisplay, "Xvfb or xclip is not installed"))
    func value_onX11_isOnTheClipboard() throws {
        let run = try onDisplay("\"$CTL\" copy -s example.com --clear-after 0; echo $?; shown")
        #expect(run.text == "0\ncorrect horse", "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasDisplay, "Xvfb or xclip is not installed"))
    func value_onX11_isCleared() throws {
        let run = try onDisplay(
            """
            "$CTL" copy -s example.com --clear-after 1s || exit
            while [ -n "$(shown)" ]; do sleep 0.1; done; echo cleared
            """)
        #expect(run.text == "cleared\n", "\(run.everything)")
    }

    /// Runs a script with `wl-copy` and `wl-paste` that keep the clipboard in the file `copied`, and with their arguments in the
    /// file `words`.
    private func onWayland(_ script: String) throws -> Tool.Run {
        try tool.shell(
            """
            mkdir bin
            printf '#!/bin/sh\\necho "wl-copy $*" >> "$HOME/words"; cat > "$HOME/copied"\\n' > bin/wl-copy
            printf '#!/bin/sh\\necho "wl-paste $*" >> "$HOME/words"; cat "$HOME/copied"\\n' > bin/wl-paste
            chmod +x bin/*; export PATH="$HOME/bin:$PATH" WAYLAND_DISPLAY=wayland-0
            \(script)
            """)
    }

    @Test func value_onWayland_isOnStandardInputOfWlCopy() throws {
        let run = try onWayland("\"$CTL\" copy -s example.com --clear-after 0; echo $?; cat copied words")
        #expect(run.text == "0\ncorrect horsewl-copy \n", "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func value_copiedWithSIGCHLDIgnored_isCopiedWithoutAnError() throws {
        let run = try onWayland("\(Tool.ignoringSIGCHLD("copy -s example.com --clear-after 0")); echo $?")
        #expect(run.text == "0\n", "\(run.everything)")
    }

    @Test func value_onWayland_isCleared() throws {
        let run = try onWayland(
            """
            "$CTL" copy -s example.com --clear-after 1s || exit
            until [ "$(wc -l < words)" = 4 ]; do sleep 0.1; done; cat copied words
            """)
        let words = "wl-copy \nwl-paste --no-newline\nwl-copy --clear\nwl-paste --no-newline\n"
        #expect(run.text == words, "\(run.everything)")
    }

    @Test func delay_thatIsNotGiven_is45Seconds() throws {
        let copy = try #require(try Keychainctl.parseAsRoot(["copy", "-s", "example.com"]) as? Keychainctl.Copy)
        #expect(copy.delay.seconds == 45)
    }

    @Test func help_saysTheDelayThatIsNotGiven() throws {
        let help = try tool.run("copy", "--help").text
        #expect(help.contains("clear it after 45 seconds") && help.contains("default: 45s"), "\(help)")
    }

    @Test(arguments: [
        ("0", 0, "0 seconds"), ("5", 5, "5 seconds"), ("1s", 1, "1 second"), ("90s", 90, "90 seconds"),
        ("15m", 900, "15 minutes"), ("1h", 3600, "1 hour"), ("2d", 172_800, "2 days"),
    ])
    func delay_inAnyUnit_isRead(text: String, seconds: Int, words: String) throws {
        let delay = try ClearingDelay(text)
        #expect(Int(delay.seconds) == seconds && delay.words == words)
    }

    @Test(.enabled(if: Tool.hasDisplay, "Xvfb or xclip is not installed"))
    func clipboard_withSomethingElse_isNotCleared() throws {
        let run = try onDisplay(
            """
            # `copy` looks at the clipboard and then clears it. Again if the other text may have come between the two.
            took=8
            while [ $took -ge 8 ]; do
                begin=$(date +%s)
                "$CTL" copy -s example.com --clear-after 10; printf other | xclip -selection clipboard -in
                took=$(($(date +%s) - begin))
                while pgrep -u "$(id -u)" -f "[c]lear-clipboard --after 10 --clipboard xclip" > /dev/null; do sleep 0.1; done
            done
            shown
            """)
        #expect(run.text == "other", "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func value_onATerminal_isAnEscapeSequence() throws {
        let dialogue = try tool.dialogue("copy", "-s", "example.com", "--clear-after", "0")
        #expect(dialogue.status == 0, "\(dialogue.screen)")
        #expect(dialogue.screen.contains("\u{1B}]52;c;\(secret.base64EncodedString())\u{07}"))
    }

    @Test func machine_withoutAClipboard_isUnavailable() throws {
        let run = try tool.shell("setsid --wait \"$CTL\" copy -s example.com")
        #expect(run.status == 13)
        #expect(!run.everything.contains("correct horse"))
    }

    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"))
    func value_isNeitherAnArgumentNorInTheEnvironment() throws {
        let run = try tool.shell(
            """
            mkdir bin; printf '#!/bin/sh\\ncat > copied\\n' > bin/xclip; chmod +x bin/xclip
            PATH="$HOME/bin:$PATH" DISPLAY=:0 strace -f -v -s 9999 -e trace=execve -o trace "$CTL" copy -s example.com --clear-after 0
            cat copied; grep -c 'correct horse' trace
            """)
        #expect(run.text == "correct horse0\n", "\(run.everything)")
    }
}

extension Tool {
    static let hasDisplay: Bool = {
        do {
            return try Tool().shell("command -v Xvfb xclip pgrep > /dev/null && command -v xclip && command -v pgrep")
                .status == 0
        } catch {
            return false
        }
    }()
}
