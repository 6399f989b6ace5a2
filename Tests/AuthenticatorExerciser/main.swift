// SPDX-License-Identifier: Apache-2.0
// Asks once by a named way of asking, for tests: prints how the answer looks, never the answer.
//
//   authenticator-exerciser terminal|pinentry|askpass|explicit [--program PATH] [--method passphrase|applicationPassword]
//       [--new] [--attempt N] [--reason TEXT] [--cancel-title TEXT] [--timeout SECONDS] [--ignore SIGNAL] [--handle SIGNAL]
//       [--await-signal] [--hold]
//
// With --hold, all threads hold back the signals that a question catches. SIGUSR1 cancels the question. It is asked on a thread of its own, so that signals arrive on another one.

import Crypto
import Foundation
import KeychainAuthenticators
import KeychainEngine
import SecretMemory

let options = try Options(CommandLine.arguments.dropFirst())
let cancellation = AuthenticationCancellation()

// All threads made from here on hold it back, but for the one that waits for it.
let usr1 = SignalState.set(SIGUSR1)
pthread_sigmask(SIG_BLOCK, [usr1], nil)
Thread.detachNewThread {
    var number: Int32 = 0
    sigwait([usr1], &number)
    cancellation.cancel()
}
if options.holdsSignals { pthread_sigmask(SIG_BLOCK, [SignalState.set(SIGINT, SIGTERM, SIGHUP, SIGTSTP)], nil) }
HostSignals.install(ignoring: options.ignored, handling: options.handled)

let finished = DispatchSemaphore(value: 0)
Thread.detachNewThread {
    let before = SignalState.ofThisThread
    let outcome = options.ask(cancellation)
    let after = SignalState.ofThisThread
    if options.awaitsSignal { HostSignals.await() }
    print("RESULT \(outcome)")
    print("SIGNALS \(before == after ? "kept" : "changed")")
    print("HOST \(HostSignals.received)")
    finished.signal()
}
finished.wait()
