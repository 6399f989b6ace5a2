// SPDX-License-Identifier: Apache-2.0
// A question on a thread of its own, so that signals arrive on another one.

import Foundation
import KeychainEngine

/// One question by a named way of asking. Prints how the answer looks, never the answer.
struct Question {
    private let options: QuestionOptions
    private let cancellation = AuthenticationCancellation()

    init(_ options: QuestionOptions) { self.options = options }

    /// Asks, and waits for the answer.
    func ask() {
        cancelAtSignal()
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

    /// SIGUSR1 cancels. All threads made from here on hold it back, but for the one that waits for it.
    private func cancelAtSignal() {
        pthread_sigmask(SIG_BLOCK, [SignalState.set(SIGUSR1)], nil)
        Thread.detachNewThread {
            var number: Int32 = 0
            sigwait([SignalState.set(SIGUSR1)], &number)
            cancellation.cancel()
        }
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
