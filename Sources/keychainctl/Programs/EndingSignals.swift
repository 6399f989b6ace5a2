// SPDX-License-Identifier: Apache-2.0
// Signals that would end the tool, held back until it has put in order what it must not leave behind.

import Foundation
import Synchronization

/// Catches the signals that would end the tool, from its creation until ``restore()``.
final class EndingSignals {
    /// What ^C and ^\ do.
    enum Keyboard {
        /// They are for a program that has the terminal.
        case passBy
        /// They end the tool as the other signals do.
        case end
    }

    private static let fromTheKeyboard = [SIGINT, SIGQUIT]
    private static let numbers =
        fromTheKeyboard + [
            SIGTERM, SIGHUP, SIGALRM, SIGPIPE, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGABRT,
            SIGSTKFLT,
        ] + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax())

    private var previous: [(Int32, sigaction)] = []

    init(ofKeyboard keyboard: Keyboard) {
        receivedSignal.store(0, ordering: .relaxed)
        for number in Self.numbers {
            var (before, ours) = (sigaction(), sigaction())
            let passes = keyboard == .passBy && Self.fromTheKeyboard.contains(number)
            ours.__sigaction_handler.sa_handler = passes ? passingBy : noting
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
