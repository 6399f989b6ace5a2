// SPDX-License-Identifier: Apache-2.0
// The tool on a terminal: the prompt, what it shows, and how it is left.

import Foundation
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

    @Test(arguments: ["\u{4}", "\u{3}", "half\u{3}", "\u{1c}"])
    func prompt_withControlDOrC_isCancelled(keys: String) throws {
        let dialogue = try set(("Value", .type(keys)))
        #expect(dialogue.status == 6)
        #expect(dialogue.screen.contains("Cancelled"))
        #expect(dialogue.hasEcho)
        #expect(try tool.listed().isEmpty)
    }

    @Test func prompt_withControlCAtTheSecondQuestion_isCancelled() throws {
        #expect(try set(("Value", .type("x\n")), ("again", .type("\u{3}"))).status == 6)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func prompt_withASignal_isCancelledAndLeavesEchoOn(signal: Int32) throws {
        let dialogue = try set(("Value", .send(signal: signal)))
        #expect(dialogue.status == 6)
        #expect(dialogue.hasEcho)
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
