// SPDX-License-Identifier: Apache-2.0
// `edit` with editors that change, fail, rename, wait and are interrupted.

import Foundation
import Testing

@Suite("edit", .enabled(if: Tool.hasMemoryFolder, "/dev/shm is not a folder in memory"))
struct EditTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
    }

    /// Runs `edit` with a shell script as the editor. Its file is `$1`.
    private func edit(_ script: String, _ options: String = "") throws -> Tool.Run {
        try tool.shell(
            "cat > editor; chmod +x editor; EDITOR=\"$HOME/editor\" \"$CTL\" edit -s example.com \(options)",
            input: Data(("#!/bin/sh\n" + script).utf8))
    }

    /// The last test would otherwise find the folder of another one.
    private func folderIsGone() throws -> Bool {
        let path = try String(contentsOf: tool.home.appendingPathComponent("path"), encoding: .utf8)
        return !FileManager.default.fileExists(atPath: path.trimmingCharacters(in: .newlines))
    }

    @Test(arguments: [
        ("printf new > \"$1\"", "new"), ("echo new > \"$1\"", "new"), ("printf 'a\nb\n' > \"$1\"", "a\nb"),
        ("printf new > \"$1.tmp\"; mv \"$1.tmp\" \"$1\"", "new"), ("sed -i s/horse/mouse/ \"$1\"", "correct mouse"),
    ])
    func value_thatIsChanged_isStored(script: String, value: String) throws {
        let run = try edit(script)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try tool.get() == Data(value.utf8))
    }

    @Test(arguments: ["exit 3", "printf new > \"$1\"; exit 1", "kill -9 $$"])
    func editor_thatFails_changesNothing(script: String) throws {
        #expect(try edit(script).status == 6)
        #expect(try tool.get() == secret)
    }

    @Test(arguments: ["printf 'a\\377' > \"$1\"", "printf 'a\\0b' > \"$1\""])
    func editor_thatSavesNoText_changesNothing(script: String) throws {
        let run = try edit(script)
        #expect(run.status == 1 && run.errors.contains("UTF-8"), "\(run.status) \(run.errors)")
        #expect(try tool.get() == secret)
    }

    @Test(arguments: ["true", "touch \"$1\"", "echo >> \"$1\""])
    func value_thatIsNotChanged_isNotWritten(script: String) throws {
        let before = try tool.listed().first?["modified"] as? String
        #expect(try edit(script).status == 0)
        #expect(try tool.listed().first?["modified"] as? String == before)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func value_thatIsChangedWithSIGCHLDIgnored_isStored() throws {
        let run = try tool.shellIgnoringSIGCHLD("edit -s example.com", before: "export EDITOR='echo new >'")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try tool.get() == Data("new".utf8))
    }

    @Test func value_thatAnotherProcessChanged_isKept() throws {
        let run = try edit("printf theirs | \"$CTL\" set -s example.com -a alice; printf ours > \"$1\"")
        #expect(run.status == 11, "\(run.errors)")
        #expect(try tool.get() == Data("theirs".utf8))
    }

    /// The editor takes the vault away.
    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"), arguments: [["n"], ["y", "n"]])
    func text_thatCannotBeStored_isOfferedAgainUntilDropped(answers: [String]) throws {
        let script = "EDITOR='mv $HOME/.local/share away; echo new >' \(Tool.executable) edit -s example.com"
        let dialogue = try tool.dialogue(
            program: ["sh", "-c", script],
            steps: answers.map { ("Try again?", .type($0 + "\n")) })
        #expect(dialogue.status > 0 && dialogue.status != 6, "\(dialogue.screen)")
        #expect(dialogue.screen.contains("Your changes were dropped."))
        #expect(try tool.shell("mv away \"$HOME/.local/share\"").status == 0)
        #expect(try tool.get() == secret)
    }

    @Test(arguments: [
        ("true > \"$1\"", 64), ("rm \"$1\"", 13), ("truncate -s 70000000 \"$1\"", 18),
        ("rm \"$1\"; mkfifo \"$1\"", 13), ("rm \"$1\"; mkdir \"$1\"", 13),
    ])
    func file_thatIsNoValue_changesNothing(script: String, status: Int32) throws {
        #expect(try edit(script).status == status)
        #expect(try tool.get() == secret)
    }

    @Test func file_isPrivateAndInMemory() throws {
        let run = try edit("stat -c %a \"$1\" \"$(dirname \"$1\")\"; stat -f -c %T \"$1\"")
        #expect(run.text == "600\n700\ntmpfs\n")
    }

    /// `su` keeps the variable.
    @Test(arguments: geteuid() == 0 ? ["chmod 777", "chown 64201"] : ["chmod 777"])
    func runtimeFolder_thatAnotherUserMayChange_isNotUsed(change: String) throws {
        let run = try tool.shell(
            """
            XDG_RUNTIME_DIR=$(mktemp -d -p /dev/shm); export XDG_RUNTIME_DIR; \(change) "$XDG_RUNTIME_DIR"
            printf '#!/bin/sh\ndirname "$(dirname "$1")"' > editor; chmod +x editor
            EDITOR="$HOME/editor" "$CTL" edit -s example.com 2> log; rm -r "$XDG_RUNTIME_DIR"
            """)
        #expect(run.everything == "/dev/shm\n")
    }

    @Test(arguments: ["true", "exit 1", "echo x > \"$1~\"; mkdir \"$1.d\"; echo y > \"$1.d/z\""])
    func folder_afterwards_isGone(script: String) throws {
        _ = try edit("dirname \"$1\" > \"$HOME/path\"; " + script)
        #expect(try folderIsGone())
    }

    /// Such as one that an editor has linked into its folder.
    @Test func file_withANameElsewhere_isNotOverwritten() throws {
        let run = try tool.shell(
            """
            file=$(mktemp -p /dev/shm); printf notes > "$file"; printf '#!/bin/sh\nln "%s" "$1.notes"' "$file" > editor
            chmod +x editor; EDITOR="$HOME/editor" "$CTL" edit -s example.com; cat "$file"; rm "$file"
            """)
        #expect(run.text == "notes", "\(run.everything)")
    }

    @Test(arguments: [
        ("TERM", 143), ("USR1", 138), ("USR2", 140), ("ABRT", 134), ("16", 144), ("40", 168), ("64", 192),
    ])
    func signal_thatEndsTheTool_removesTheFolderFirst(signal: String, status: Int32) throws {
        let run = try edit("dirname \"$1\" > \"$HOME/path\"; kill -\(signal) $PPID; exec sleep 60")
        #expect(run.status == status, "\(run.errors)")
        #expect(try folderIsGone())
        #expect(try tool.get() == secret)
    }

    @Test func controlC_isForTheEditor() throws {
        let run = try edit("kill -INT $PPID; printf new > \"$1\"")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try tool.get() == Data("new".utf8))
    }

    @Test func editor_withOptions_getsThem() throws {
        let run = try tool.shell("VISUAL='sed -i -e s/horse/mouse/' EDITOR=false \"$CTL\" edit -s example.com")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try tool.get() == Data("correct mouse".utf8))
    }

    @Test func editor_doesNotGetTheDescriptorOfASecret() throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.tool.shell(
            """
            printf '#!/bin/sh\nreadlink /proc/self/fd/0 >&2' > editor; chmod +x editor
            EDITOR="$HOME/editor" setsid --wait "$CTL" edit -s example.com --recovery-key-fd 0 < paper
            """)
        #expect(run.status == 0 && run.errors.contains("/dev/null"), "\(run.everything)")
    }

    @Test func edit_withoutAnEditor_isUnavailable() throws {
        #expect(try tool.run("edit", "-s", "example.com").status == 13)
    }

    @Test func value_thatIsNoText_isRefused() throws {
        try tool.store(Data([0x61, 0]), service: "s", account: "a")
        #expect(try tool.shell("EDITOR=true \"$CTL\" edit -s s").status == 1)
    }

    @Test func edit_ofALockedVault_takesItsSecretOnce() throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.tool.shell(
            "EDITOR='sed -i s/horse/mouse/' \"$CTL\" edit -s example.com --recovery-key-fd 3 3< paper")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try vault.withKey("get -s example.com -a alice").output == Data("correct mouse".utf8))
    }
}

extension Tool {
    static let hasMemoryFolder: Bool = {
        do {
            return try Tool().shell("stat -f -c %T /dev/shm").text == "tmpfs\n"
        } catch {
            return false
        }
    }()
}
