// SPDX-License-Identifier: Apache-2.0
// A question on a thread of its own, so that signals arrive on another one.

import CTestShims
import Foundation
import KeychainEngine

/// One question by a named way of asking. Prints how the answer looks, never the answer.
struct Question {
    private let options: QuestionOptions
    private let cancellation = AuthenticationCancellation()

    init(_ options: QuestionOptions) { self.options = options }

    /// Asks, and waits for the answer.
    func ask() {
        actAtSignals()
        if options.holdsSignals {
            pthread_sigmask(SIG_BLOCK, [SignalState.set(SIGINT, SIGTERM, SIGHUP, SIGTSTP)], nil)
        }
        HostSignals.install(ignoring: options.ignored, handling: options.handled)
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            askHere()
            finished.signal()
        }
        finished.wait()
    }

    /// SIGUSR1 cancels, SIGUSR2 forks. All threads made from here on hold them back, but for the ones that wait for them.
    private func actAtSignals() {
        pthread_sigmask(SIG_BLOCK, [SignalState.set(SIGUSR1, SIGUSR2)], nil)
        Self.at(SIGUSR1) { [cancellation] in cancellation.cancel() }
        Self.at(SIGUSR2, Self.interruptChild)
    }

    private static func at(_ signal: Int32, _ act: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            var number: Int32 = 0
            sigwait([SignalState.set(signal)], &number)
            act()
        }
    }

    /// Forks in the middle of the question. The child gets a ^C, the parent none.
    @Sendable private static func interruptChild() {
        let child = test_fork()
        if child == 0 {
            kill(getpid(), SIGINT)
            _exit(0)
        }
        waitpid(child, nil, 0)
        print("FORKED")
        fflush(nil)
    }

    /// Asks, and forks. A child asks by another program, and then the parent again by the first one.
    static func aroundAFork(_ program: String, inTheChild other: String) throws {
        let options = try QuestionOptions(["pinentry", "--program", program])
        let inTheChild = try QuestionOptions(["pinentry", "--program", other])
        print(options.ask(AuthenticationCancellation()))
        fflush(nil)
        waitUntilOtherThreadsSleep()
        let child = test_fork()
        if child == 0 {
            alarm(600)
            _ = inTheChild.ask(AuthenticationCancellation())
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        print("child ended by", status & 0x7F)
        print(options.ask(AuthenticationCancellation()))
    }

    private func askHere() {
        let before = SignalState.ofThisThread
        let outcome = options.ask(cancellation)
        let after = SignalState.ofThisThread
        if options.awaitsSignal { HostSignals.await() }
        print("RESULT \(outcome)")
        print("SIGNALS \(before == after ? "kept" : "changed")")
        print("HOST \(HostSignals.received)")
    }
}
