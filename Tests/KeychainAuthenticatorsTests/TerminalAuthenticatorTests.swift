// SPDX-License-Identifier: Apache-2.0
// Questions on the terminal: what is shown, what counts as an answer, and how everything is left.

import Foundation
import Testing

@Suite("terminal", .enabled(if: Conversation.hasPython, "python3 is not installed"))
struct TerminalAuthenticatorTests {
    private func ask(_ options: String..., steps: [Step] = []) throws -> Conversation {
        try Conversation(["terminal"] + options, steps: steps)
    }

    @Test func question_answered_givesTheLineWithoutShowingIt() throws {
        let conversation = try ask(steps: [("Passphrase: ", .type("pässword\n"))])
        #expect(conversation.result == Conversation.answer("pässword"))
        conversation.expectAllInOrder(notShowing: "pässword")
    }

    @Test func question_shown_hasTheReason() throws {
        #expect(
            try ask("--reason", "Open door 7", steps: [("Passphrase: ", .type("x\n"))]).screen.contains("Open door 7"))
    }

    @Test func question_withControlCharactersInTheReason_doesNotPrintThemRaw() throws {
        let conversation = try ask("--reason", "a\u{1b}[2Jb\nc", steps: [("Passphrase: ", .type("x\n"))])
        #expect(!conversation.screen.contains("\u{1b}"))
        #expect(conversation.screen.contains("b\\nc"))
    }

    @Test func question_forAnApplicationPassword_saysSo() throws {
        let conversation = try ask("--method", "applicationPassword", steps: [("Password: ", .type("x\n"))])
        #expect(conversation.result == Conversation.answer("x"))
    }

    @Test func question_afterAWrongAnswer_saysSo() throws {
        let conversation = try ask("--attempt", "2", steps: [("Wrong passphrase, try again.", .type("x\n"))])
        #expect(conversation.result == Conversation.answer("x"))
    }

    @Test func question_answeredWithNothing_isAskedAgain() throws {
        let conversation = try ask(steps: [("Passphrase: ", .type("\n")), ("Nothing was entered.", .type("x\n"))])
        #expect(conversation.result == Conversation.answer("x"))
    }

    /// The child was forked during the question, and has the handler that the question has set.
    @Test func question_whenAForkedChildGetsAnInterrupt_isNotCancelled() throws {
        let conversation = try ask(
            steps: [("Passphrase: ", .send(signal: SIGUSR2)), ("FORKED", .type("x\n"))])
        #expect(conversation.result == Conversation.answer("x"))
    }

    @Test func newSecret_enteredTwice_isTheAnswer() throws {
        let conversation = try ask("--new", steps: [("New passphrase: ", .type("abc\n")), ("again: ", .type("abc\n"))])
        #expect(conversation.result == Conversation.answer("abc"))
        conversation.expectAllInOrder(notShowing: "abc")
    }

    @Test func newSecret_enteredDifferently_isAskedAgain() throws {
        let conversation = try ask(
            "--new",
            steps: [
                ("New passphrase: ", .type("abc\n")), ("again: ", .type("abd\n")),
                ("differ", .type("xyz\n")), ("again: ", .type("xyz\n")),
            ])
        #expect(conversation.result == Conversation.answer("xyz"))
    }

    @Test func newSecret_enteredDifferentlyThreeTimes_isCancelled() throws {
        let wrong: [Step] = [("New passphrase: ", .type("1\n")), ("again: ", .type("2\n"))]
        let conversation = try Conversation(["terminal", "--new"], steps: wrong + wrong + wrong)
        #expect(conversation.reason == "cancelled")
        conversation.expectAllInOrder()
    }

    @Test(arguments: ["\u{3}", "\u{4}", "\u{1c}", "half\u{3}"])
    func question_withControlCOrD_isCancelledWithoutReachingTheProgram(keys: String) throws {
        let conversation = try ask(steps: [("Passphrase: ", .type(keys))])
        #expect(conversation.reason == "cancelled")
        #expect(conversation.hostSignal == "0")
        conversation.expectAllInOrder()
    }

    @Test func question_withControlCAndTheProgramIgnoringIt_isCancelled() throws {
        let conversation = try ask("--ignore", "\(SIGINT)", steps: [("Passphrase: ", .type("\u{3}"))])
        #expect(conversation.reason == "cancelled")
        conversation.expectAllInOrder()
    }

    @Test func question_withControlCAndTheProgramHoldingItBack_isCancelled() throws {
        let conversation = try ask("--hold", steps: [("Passphrase: ", .type("\u{3}"))])
        #expect(conversation.reason == "cancelled")
        conversation.expectAllInOrder()
    }

    @Test(arguments: [SIGTERM, SIGHUP])
    func question_withAnOrderToEnd_isCancelledAndTheProgramGetsTheOrder(signal: Int32) throws {
        let conversation = try ask("--await-signal", steps: [("Passphrase: ", .send(signal: signal))])
        #expect(conversation.reason == "cancelled")
        #expect(conversation.hostSignal == "\(signal)")
        conversation.expectAllInOrder()
    }

    @Test func question_withAnOrderThatTheProgramIgnores_goesOn() throws {
        let conversation = try ask(
            "--ignore", "\(SIGHUP)", "--new",
            steps: [("New passphrase: ", .send(signal: SIGHUP)), ("", .type("x\n")), ("again: ", .type("x\n"))])
        #expect(conversation.result == Conversation.answer("x"))
        conversation.expectAllInOrder()
    }

    @Test func question_withControlZ_stopsTheProgramAtOnceWithEchoAndIsShownAgain() throws {
        let conversation = try ask(
            "--new",
            steps: [
                ("New passphrase: ", .type("half\u{1a}")), ("[stopped with echo]", .type("")),
                ("New passphrase: ", .type("x\n")), ("again: ", .type("x\n")),
            ])
        #expect(conversation.screen.contains("[stopped with echo]"))
        #expect(conversation.result == Conversation.answer("x"))
        conversation.expectAllInOrder()
    }

    @Test func question_whileTheProgramIsStoppedByAnother_isShownAgain() throws {
        let conversation = try ask(
            steps: [("Passphrase: ", .send(signal: SIGSTOP)), ("[stopped", .type("")), ("Passphrase: ", .type("x\n"))])
        #expect(conversation.result == Conversation.answer("x"))
        conversation.expectAllInOrder()
    }

    @Test func question_withASignalThatTheProgramHandles_goesOnAndTheHandlerIsCalled() throws {
        let conversation = try ask(
            "--handle", "\(SIGALRM)", "--await-signal",
            steps: [("Passphrase: ", .send(signal: SIGALRM)), ("", .type("x\n"))])
        #expect(conversation.result == Conversation.answer("x"))
        #expect(conversation.hostSignal == "\(SIGALRM)")
        conversation.expectAllInOrder()
    }

    @Test func question_cancelledFromAnotherThread_ends() throws {
        let conversation = try ask(steps: [("Passphrase: ", .send(signal: SIGUSR1))])
        #expect(conversation.reason == "cancelled")
        conversation.expectAllInOrder()
    }

    @Test func question_notAnsweredInTime_isTimedOut() throws {
        let conversation = try ask("--timeout", "1")
        #expect(conversation.reason == "timedOut")
        conversation.expectAllInOrder()
    }

    @Test func question_withALineThatTheTerminalCuts_isTooLarge() throws {
        let conversation = try ask(steps: [("Passphrase: ", .type(String(repeating: "x", count: 5000) + "\n"))])
        #expect(conversation.reason == "tooLarge")
        conversation.expectAllInOrder(notShowing: "xxxx")
    }

    @Test func question_inTheBackground_isNotAllowedAndStopsNothing() throws {
        let conversation = try Conversation(["terminal"], place: "background")
        #expect(conversation.reason == "interactionNotAllowed")
        #expect(!conversation.screen.contains("[stopped"))
        conversation.expectAllInOrder()
    }

    @Test func question_withoutATerminal_isNotAllowed() throws {
        #expect(try Conversation(["terminal"], place: "detached").reason == "interactionNotAllowed")
    }

    @Test func explicitRequest_withNothingSet_usesTheTerminal() throws {
        let conversation = try Conversation(["explicit"], steps: [("Passphrase: ", .type("x\n"))])
        #expect(conversation.result == Conversation.answer("x"))
    }

    @Test func explicitRequest_withoutATerminal_asksNobody() throws {
        #expect(try Conversation(["explicit"], place: "detached").result == "nobody")
    }

    @Test func explicitRequest_withTheWordNone_asksNobody() throws {
        let conversation = try Conversation(["explicit"], environment: ["KEYCHAIN_AUTHENTICATOR": "none"])
        #expect(conversation.result == "nobody")
    }
}
