// SPDX-License-Identifier: Apache-2.0
// ^C at every prompt of the tool.

import Foundation
import KeychainTestSupport
import Testing

@Suite("interrupted prompts", .enabled(if: Tool.hasPython, "python3 is not installed"))
struct InterruptTests {
    @Test(
        .enabled(if: Programs.installed("openssl") != nil, "openssl is not installed"),
        arguments: InterruptedPrompt.all)
    func prompt_withControlC_endsByTheSignalAndChangesNothing(_ prompt: InterruptedPrompt) throws {
        let lockable = prompt.vault == .locked ? try LockableTool() : nil
        let tool = try lockable?.tool ?? Tool()
        if prompt.command.hasSuffix(" git"), !Tool.has("git") { try Test.cancel("git is not installed") }
        switch prompt.vault {
        case .missing: break
        case .open: try tool.store()
        case .locked: try lockable?.store()
        }
        try tool.must("set -e; \(prompt.before)")
        let before = try tool.content()
        let settings = prompt.before.hasPrefix("export ") ? prompt.before : ":"
        let dialogue = try tool.dialogue(
            program: ["sh", "-c", "\(settings); exec \"$CTL\" \(prompt.command)"],
            steps: prompt.answered.map { ($0.appears, .type($0.text + "\n")) } + [(prompt.question, .type("\u{3}"))])
        #expect(dialogue.status == -SIGINT, "\(dialogue.screen)")
        #expect(dialogue.screen.contains(prompt.question) && dialogue.hasEcho, "\(dialogue.screen)")
        try tool.must(prompt.after)
        #expect(try tool.content() == before)
    }

    /// It fetches the requests before it asks, so the vault changes. The machine that asks is killed: otherwise it would take its
    /// request back.
    @Test func approvalOfAMachine_withControlC_letsNobodyInAndKeepsTheRequest() throws {
        let tool = try Tool()
        try tool.must(
            """
            set -e; mkdir shared desktop; "$CTL" sync init --folder shared --name laptop
            "$CTL" sync invite --name desktop --confirm > code
            HOME="$HOME/desktop" "$CTL" sync join --folder shared --wait 600s --code-fd 3 3< code 2> joined & other=$!
            until grep -q "This machine's ID" joined; do kill -0 $other; done
            kill -9 $other
            """)
        let dialogue = try tool.dialogue("sync", "approve", steps: [("[y/N] ", .type("\u{3}"))])
        #expect(dialogue.status == -SIGINT && dialogue.hasEcho, "\(dialogue.screen)")
        #expect(try !tool.must("\"$CTL\" sync status").text.contains("desktop"))
        let answered = try tool.dialogue("sync", "approve", steps: [("[y/N] ", .type("y\n"))])
        #expect(answered.screen.contains("Let in: desktop"), "\(answered.screen)")
    }
}

extension Tool {
    /// All files below the home folder with their digests, and every row of the vault.
    fileprivate func content() throws -> [String] {
        try python(
            """
            import hashlib, os, sqlite3, sys
            for folder, folders, names in os.walk("."):
                folders[:] = sorted(name for name in folders if not name.startswith("run-"))
                for name in sorted(names):
                    path = os.path.join(folder, name)
                    if name.startswith("vault.db") or not os.path.isfile(path):
                        continue
                    print(path, hashlib.sha256(open(path, "rb").read()).hexdigest())
            if os.path.exists(sys.argv[1]):
                print(*sqlite3.connect(sys.argv[1]).iterdump(), sep="\\n")
            """
        ).text.split(separator: "\n").map(String.init)
    }
}
