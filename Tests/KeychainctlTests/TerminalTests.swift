// SPDX-License-Identifier: Apache-2.0
// The tool on a terminal: the prompt, what it shows, and how it is left.

import Foundation
import KeychainTestSupport
import Testing

@Suite("terminal", .enabled(if: Tool.hasPython, "python3 is not installed"))
struct TerminalTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func set(_ steps: (appears: String, reply: Tool.Reply)...) throws -> Tool.Dialogue {
        try tool.dialogue("set", "-s", "example.com", "-a", "alice", steps: steps)
    }

    @Test func prompt_answeredTwiceTheSame_storesTheValue() throws {
        let dialogue = try set(("Value", .type("pässword\n")), ("again", .type("pässword\n")))
        #expect(dialogue.status == 0)
        #expect(try tool.get() == Data("pässword".utf8))
    }

    /// In a loop or behind a pipe, standard input is not the terminal.
    @Test(arguments: [
        ("printf piped | \"$CTL\" set -s example.com -a alice", 1),
        ("printf 'alice\\nalice\\n' | while read -r a; do \"$CTL\" get -s example.com -a $a; done", 2),
    ])
    func prompt_whileStandardInputIsAPipe_asksOnTheTerminal(script: String, count: Int) throws {
        let vault = try LockableTool()
        try vault.store()
        let key = String(decoding: vault.recoveryKey, as: UTF8.self)
        let words = ["sh", "-c", "CTL='\(Tool.executable)'; \(script)"]
        let dialogue = try vault.tool.dialogue(
            program: words, steps: Array(repeating: ("Recovery key", .type(key)), count: count))
        #expect(dialogue.status == 0, "\(dialogue.screen)")
        #expect(try vault.withKey("get -s example.com -a alice").output == (count == 1 ? Data("piped".utf8) : secret))
    }

    @Test func lockedVault_whereNobodyIsToBeAsked_isAnErrorAtOnce() throws {
        let vault = try LockableTool()
        try vault.store()
        let script = "KEYCHAIN_AUTHENTICATOR=none '\(Tool.executable)' get -s example.com"
        let dialogue = try vault.tool.dialogue(program: ["sh", "-c", script])
        #expect(dialogue.status == 5)
        #expect(!dialogue.screen.contains("Recovery key"))
    }

    @Test func prompt_forAValue_doesNotShowIt() throws {
        let dialogue = try set(("Value", .type("hidden\n")), ("again", .type("hidden\n")))
        #expect(!dialogue.screen.contains("hidden"))
    }

    @Test func prompt_forAValue_namesTheItem() throws {
        let dialogue = try set(("Value", .type("x\n")), ("again", .type("x\n")))
        #expect(dialogue.screen.contains("alice at example.com"))
    }

    @Test func prompt_afterwards_leavesEchoOn() throws {
        #expect(try set(("Value", .type("x\n")), ("again", .type("x\n"))).hasEcho)
    }

    @Test func prompt_answeredDifferently_asksAgain() throws {
        let dialogue = try set(
            ("Value", .type("one\n")), ("again", .type("two\n")), ("Value", .type("three\n")),
            ("again", .type("three\n")))
        #expect(dialogue.status == 0)
        #expect(dialogue.screen.contains("differ"))
        #expect(try tool.get() == Data("three".utf8))
    }

    @Test func prompt_answeredDifferentlyThreeTimes_givesUp() throws {
        let dialogue = try set(
            ("Value", .type("1\n")), ("again", .type("2\n")), ("Value", .type("1\n")), ("again", .type("2\n")),
            ("Value", .type("1\n")), ("again", .type("2\n")))
        #expect(dialogue.status == 6)
        #expect(try tool.listed().isEmpty)
    }

    @Test func prompt_forASecretThatOpensNothing_doesNotAppear() throws {
        try tool.store()
        let dialogue = try tool.dialogue("get", "-s", "example.com", "--recovery-key")
        #expect(dialogue.status == 7)
        #expect(dialogue.screen.contains("No recovery key opens the vault"))
        #expect(!dialogue.screen.contains("Recovery key of the keychain"))
    }

    @Test func prompt_withControlD_isCancelled() throws {
        let dialogue = try set(("Value", .type("\u{4}")))
        #expect(dialogue.status == 6)
        #expect(dialogue.screen.contains("Cancelled"))
        #expect(dialogue.hasEcho)
        #expect(try tool.listed().isEmpty)
    }

    @Test(arguments: [("\u{3}", SIGINT), ("half\u{3}", SIGINT), ("\u{1c}", SIGQUIT)])
    func prompt_withControlC_endsTheToolByTheSignalItself(keys: String, signal: Int32) throws {
        let dialogue = try set(("Value", .type(keys)))
        #expect(dialogue.status == -signal)
        #expect(dialogue.hasEcho)
        #expect(try tool.listed().isEmpty)
    }

    @Test func prompt_withControlCAtTheSecondQuestion_endsTheToolByTheSignalItself() throws {
        #expect(try set(("Value", .type("x\n")), ("again", .type("\u{3}"))).status == -SIGINT)
    }

    /// Every signal but SIGKILL, SIGSTOP and those that end or stop nothing.
    static let fatal: [Int32] =
        [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGPIPE, SIGUSR1, SIGUSR2, SIGXCPU, SIGPROF, SIGVTALRM, SIGABRT]
        + [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGIO, SIGPWR, 16, 34, 64]

    @Test(arguments: fatal)
    func prompt_withASignal_endsByItAndLeavesEchoOn(signal: Int32) throws {
        let dialogue = try set(("Value", .send(signal: signal)))
        #expect(dialogue.status == -signal)
        #expect(dialogue.hasEcho)
        #expect(!dialogue.screen.contains("crashed"))
        #expect(try tool.listed().isEmpty)
    }

    /// A program that leaves faults to Swift's runtime, which prints a backtrace first, and then may end by another signal.
    @Test(arguments: [SIGSEGV, SIGABRT, SIGALRM])
    func promptOfAnotherProgram_withASignal_endsAndLeavesEchoOn(signal: Int32) throws {
        // The exerciser is large, and names of functions would take their time.
        let settings =
            "SWIFT_BACKTRACE=enable=yes,interactive=no,color=no,threads=crashed,limit=1,top=0,cache=no,symbolicate=off"
        let dialogue = try tool.dialogue(
            "ask", "terminal", program: ["env", settings, Exerciser.path],
            steps: [("Passphrase", .send(signal: signal))])
        #expect(dialogue.status < 0)
        #expect(dialogue.hasEcho)
    }

    @Test func loopOfAShell_withControlCAtAPrompt_ends() throws {
        let loop = "for account in 1 2 3; do \"$CTL\" set -s example.com -a $account; done; echo after the loop"
        let dialogue = try tool.dialogue(program: ["bash", "-c", loop], steps: [("Value for 1", .type("\u{3}"))])
        #expect(!dialogue.screen.contains("Value for 2"))
        #expect(!dialogue.screen.contains("after the loop"))
        #expect(dialogue.hasEcho)
    }

    private static let shell =
        ["env", "PS1=ready ", "bash", "--norc", "--noprofile", "--noediting", "-i"]
    private static let stopping: [(appears: String, reply: Tool.Reply)] = [
        ("ready ", .type("\"$CTL\" set -s example.com -a alice\n")), ("Value", .type("half\u{1a}")),
        ("Stopped", .type("echo at\" the shell\"\n")),
    ]

    @Test func prompt_withControlZ_stopsAtOnceAndIsShownAgain() throws {
        let dialogue = try tool.dialogue(
            program: Self.shell,
            steps: Self.stopping + [
                // With echo on, the shell's own words are seen twice: as they are typed, and as they are said.
                ("at\" the shell\"", .type("")), ("at the shell", .type("fg\n")), ("Value", .type("right\n")),
                ("again", .type("right\n")), ("ready", .type("exit $?\n")),
            ])
        #expect(dialogue.status == 0)
        #expect(dialogue.hasEcho)
        #expect(!dialogue.screen.contains("right"))
        #expect(try tool.get() == Data("right".utf8))
    }

    /// The shell takes the first line only; the second waits in the terminal when the tool continues.
    @Test func textTypedAtTheShell_afterControlZ_isNotTheSecret() throws {
        let dialogue = try tool.dialogue(
            program: Self.shell,
            steps: Self.stopping + [
                ("at the shell", .type("fg\nfor the shell\n")), ("Value", .type("right\n")),
                ("again", .type("right\n")), ("ready", .type("exit $?\n")),
            ])
        #expect(dialogue.status == 0)
        #expect(try tool.get() == Data("right".utf8))
    }

    @Test func prompt_thatGoesOnInTheBackground_isRefusedAndLeavesTheTerminalToTheShell() throws {
        let dialogue = try tool.dialogue(
            program: Self.shell,
            steps: Self.stopping + [("at the shell", .type("bg; wait %1; exit $?\n"))])
        #expect(dialogue.screen.contains("background"))
        #expect(dialogue.status == 13)
        #expect(dialogue.hasEcho)
        #expect(try tool.listed().isEmpty)
    }

    @Test func prompt_withAnErasedCharacter_takesWhatIsLeft() throws {
        _ = try set(("Value", .type("abx\u{7f}c\n")), ("again", .type("abc\n")))
        #expect(try tool.get() == Data("abc".utf8))
    }

    @Test func prompt_withControlDInTheMiddle_goesOnToTheEndOfTheLine() throws {
        _ = try set(("Value", .type("ab\u{4}c\n")), ("again", .type("abc\n")))
        #expect(try tool.get() == Data("abc".utf8))
    }

    @Test func prompt_withALineThatTheTerminalCuts_isTooLarge() throws {
        let dialogue = try set(("Value", .type(String(repeating: "x", count: 5000) + "\n")))
        #expect(dialogue.status == 18)
        #expect(dialogue.hasEcho)
    }

    @Test func prompt_answeredWithNothing_isRefused() throws {
        #expect(try set(("Value", .type("\n")), ("again", .type("\n"))).status == 64)
    }

    @Test func prompt_withAnEscapeSequenceInTheName_doesNotPrintItRaw() throws {
        let dialogue = try tool.dialogue("set", "-s", "s", "-a", "\u{1b}[2J", steps: [("Value", .type("\u{4}"))])
        #expect(!dialogue.screen.contains("\u{1b}"))
    }

    @Test func descriptor_thatIsATerminal_isRefused() throws {
        #expect(try tool.dialogue("set", "-s", "s", "-a", "a", "--from-fd", "0").status == 64)
    }

    @Test func get_onATerminal_endsTheLine() throws {
        try tool.store()
        let dialogue = try tool.dialogue("get", "-s", "example.com", "-a", "alice")
        #expect(dialogue.status == 0)
        #expect(dialogue.screen == "correct horse\r\n")
    }
}
