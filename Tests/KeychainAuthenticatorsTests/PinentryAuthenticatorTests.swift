// SPDX-License-Identifier: Apache-2.0
// Questions by the real pinentry programs for terminals.

import Foundation
import Testing

@Suite(
    "pinentry",
    .enabled(if: Conversation.hasPython, "python3 is not installed"),
    .enabled(if: Conversation.hasPinentries, "pinentry-curses and pinentry-tty are not installed"))
struct PinentryAuthenticatorTests {
    private static let programs = [Conversation.curses, Conversation.tty]

    private func ask(_ program: String, _ options: String..., steps: [Step] = []) throws -> Conversation {
        try Conversation(["pinentry", "--program", program] + options, steps: steps)
    }

    @Test(arguments: programs)
    func question_answered_givesTheEntryWithoutShowingIt(program: String) throws {
        let conversation = try ask(program, steps: [("Passphrase:", .type("p%41ss wörd\r"))])
        #expect(conversation.result == Conversation.answer("p%41ss wörd"))
        conversation.expectAllInOrder(notShowing: "p%41ss", "wörd")
    }

    @Test(arguments: programs)
    func question_shown_hasTheReasonWithoutControlCharacters(program: String) throws {
        let conversation = try ask(program, "--reason", "100% \u{7}new\nline", steps: [("Passphrase:", .type("x\r"))])
        #expect(conversation.screen.contains("100% \\u{7}new\\nline"))
        #expect(!conversation.screen.contains("\u{7}"))
    }

    @Test(arguments: programs)
    func question_withAnEndlessReason_isAskedAllTheSame(program: String) throws {
        let reason = String(repeating: "ä\n%", count: 5000)
        let conversation = try ask(program, "--reason", reason, steps: [("ssphrase:", .type("x\r"))])
        // A box that does not fit the screen is refused by some; what matters is an end without garbage.
        #expect([Conversation.answer("x"), "unavailable"].contains { conversation.result.hasPrefix($0) })
    }

    @Test(arguments: programs)
    func question_afterAWrongAnswer_saysSo(program: String) throws {
        let conversation = try ask(program, "--attempt", "2", steps: [("Passphrase:", .type("x\r"))])
        #expect(conversation.screen.contains("Wrong passphrase, try again."))
        #expect(conversation.result == Conversation.answer("x"))
    }

    @Test(arguments: programs)
    func question_answeredWithNothing_isAskedAgain(program: String) throws {
        let conversation = try ask(
            program,
            steps: [
                ("Passphrase:", .type("\r")), ("Nothing was entered", .type("")),
                ("Passphrase:", .type("x\r")),
            ])
        #expect(conversation.result == Conversation.answer("x"))
    }

    @Test(arguments: programs)
    func question_withControlC_isCancelledWithoutReachingTheProgram(program: String) throws {
        let conversation = try ask(program, steps: [("Passphrase:", .type("\u{3}"))])
        #expect(conversation.reason == "cancelled")
        #expect(conversation.hostSignal == "0")
        conversation.expectAllInOrder()
    }

    @Test func tty_withControlD_isCancelled() throws {
        let conversation = try ask(Conversation.tty, steps: [("Passphrase:", .type("\u{4}"))])
        #expect(conversation.reason == "cancelled")
        conversation.expectAllInOrder()
    }

    @Test func curses_withItsCancelButton_isCancelled() throws {
        let conversation = try ask(
            Conversation.curses, "--cancel-title", "No_thanks", steps: [("No_thanks", .type("half\t\t\r"))])
        #expect(conversation.reason == "cancelled")
        conversation.expectAllInOrder(notShowing: "half")
    }

    @Test(arguments: programs)
    func question_notAnsweredInTime_isTimedOut(program: String) throws {
        let conversation = try ask(program, "--timeout", "1")
        #expect(conversation.reason == "timedOut")
        conversation.expectAllInOrder()
    }

    @Test(arguments: programs)
    func question_cancelledFromAnotherThread_endsAndLeavesTheTerminalInOrder(program: String) throws {
        let conversation = try ask(program, steps: [("Passphrase:", .send(signal: SIGUSR1))])
        #expect(conversation.reason == "cancelled")
        conversation.expectAllInOrder()
    }

    @Test(arguments: programs)
    func newSecret_enteredTwice_isTheAnswer(program: String) throws {
        let conversation = try ask(
            program, "--new", steps: [("passphrase:", .type("abc\r")), ("again:", .type("abc\r"))])
        #expect(conversation.result == Conversation.answer("abc"))
        conversation.expectAllInOrder(notShowing: "abc")
    }

    @Test(arguments: programs)
    func newSecret_enteredDifferently_isAskedAgain(program: String) throws {
        let conversation = try ask(
            program, "--new",
            steps: [
                ("passphrase:", .type("abc\r")), ("again:", .type("abd\r")),
                ("The two entries differ", .type("")), ("passphrase:", .type("xyz\r")), ("again:", .type("xyz\r")),
            ])
        #expect(conversation.result == Conversation.answer("xyz"))
    }

    /// pinentry-tty itself says "cancelled" then.
    @Test(arguments: [(Conversation.curses, "interactionNotAllowed"), (Conversation.tty, "cancelled")])
    func question_withoutATerminal_isNotAsked(program: String, reason: String) throws {
        #expect(try Conversation(["pinentry", "--program", program], place: "detached").reason == reason)
    }

    @Test(arguments: [(Conversation.curses, "interactionNotAllowed"), (Conversation.tty, "cancelled")])
    func question_inTheBackground_isNotAskedAndStopsNothing(program: String, reason: String) throws {
        let conversation = try Conversation(["pinentry", "--program", program], place: "background")
        #expect(conversation.reason == reason)
        #expect(!conversation.screen.contains("[stopped"))
        conversation.expectAllInOrder()
    }

    /// Not with pinentry-curses, which ignores ^Z while it draws, and nothing shows when it has finished.
    @Test func tty_withControlZ_stopsAndGoesOn() throws {
        let conversation = try ask(
            Conversation.tty, steps: [("Passphrase:", .type("\u{1a}")), ("[stopped", .type("x\r"))])
        #expect(conversation.result == Conversation.answer("x"))
        conversation.expectAllInOrder()
    }
}
