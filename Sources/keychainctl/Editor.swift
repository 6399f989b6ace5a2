// SPDX-License-Identifier: Apache-2.0
// The user's editor on a value.

import Foundation
import KeychainKit
import SecretMemory
import Synchronization

struct Editor {
    private static let limit = 64 << 20
    /// How long an editor may take to end after it was asked to.
    private static let grace = 100
    private static let nap: UInt32 = 20_000

    /// As a shell interprets it, so that it may contain options.
    private let command: String

    /// The editor of VISUAL or EDITOR.
    init() throws(KeychainError) {
        let environment = ProcessEnvironment.current
        guard let command = environment.value("VISUAL") ?? environment.value("EDITOR") else {
            throw KeychainError(.unavailable, "There is no editor. Set VISUAL or EDITOR, for example: EDITOR=nano")
        }
        self.command = command
    }

    /// The shell is replaced by the editor, so that a signal reaches it. Only a simple command can replace a shell.
    private var shellCommand: String {
        let isSimple = !command.utf8.contains { Array("=;&|<>()$`\n".utf8).contains($0) }
        return (isSimple ? "exec " : "") + command + " \"$@\""
    }

    /// Lets the user edit a text. The file is in memory, and is overwritten and removed in every case except SIGKILL. A
    /// signal that would end the tool does so after that.
    ///
    /// - Throws: `cancelled` if the editor fails; `unsupported` without a folder in memory.
    func edited(_ text: Data) throws(KeychainError) -> Data {
        let signals = EndingSignals()
        defer { signals.restore() }
        let folder = try MemoryFolder()
        defer {
            folder.remove()
            signals.raiseReceived()
        }
        try folder.write(text, to: "value")
        let file = folder.path + "/value"
        let child = try ChildProgram(
            "/bin/sh", ["-c", shellCommand, command, file],
            .init(input: .inherited, output: .inherited, errors: .inherited))
        let code = Self.exitCode(child, signals)
        guard code == 0, signals.received == nil else {
            throw KeychainError(.cancelled, "The editor failed (exit code \(code)). Nothing was changed.")
        }
        return try InputFile.read(file, limit: Self.limit)
    }

    /// ^C and ^\ are for the editor, which gets them from the terminal too. Another signal ends it.
    private static func exitCode(_ child: ChildProgram, _ signals: EndingSignals) -> Int32 {
        var naps = 0
        while true {
            if let code = child.exitCodeIfEnded() { return code }
            if let number = signals.received {
                if naps == 0 { kill(child.identifier, number) }
                if naps == grace { kill(child.identifier, SIGKILL) }
                naps += 1
            }
            usleep(nap)
        }
    }
}

/// Catches the signals that would end the tool, until the file is removed.
private final class EndingSignals {
    private static let fromTheKeyboard = [SIGINT, SIGQUIT]
    private static let numbers =
        fromTheKeyboard + [
            SIGTERM, SIGHUP, SIGALRM, SIGPIPE, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGABRT,
            SIGSTKFLT,
        ] + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax())

    private var previous: [(Int32, sigaction)] = []

    init() {
        receivedSignal.store(0, ordering: .relaxed)
        for number in Self.numbers {
            var (before, ours) = (sigaction(), sigaction())
            ours.__sigaction_handler.sa_handler = Self.fromTheKeyboard.contains(number) ? passingBy : noting
            sigaction(number, nil, &before)
            // What the caller ignores, as `nohup` does, stays ignored.
            if unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
            {
                continue
            }
            sigaction(number, &ours, nil)
            previous.append((number, before))
        }
    }

    /// The signal that is to end the tool.
    var received: Int32? {
        let number = receivedSignal.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    func restore() {
        for (number, action) in previous { sigaction(number, [action], nil) }
        previous = []
    }

    /// Ends the tool by the signal that it received.
    func raiseReceived() {
        restore()
        if let received { raise(received) }
    }
}

/// Only stores a number, which is allowed in a handler.
private let noting: @convention(c) (Int32) -> Void = { receivedSignal.store($0, ordering: .relaxed) }
/// A handler instead of SIG_IGN, which the editor would inherit.
private let passingBy: @convention(c) (Int32) -> Void = { _ in }
private let receivedSignal = Atomic<Int32>(0)
