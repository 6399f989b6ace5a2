// SPDX-License-Identifier: Apache-2.0
// Holding back signals, so that a program is never ended or stopped with the terminal's echo off.

import Foundation
import KeychainEngine

struct HeldSignals {
    /// These cancel what is being waited for.
    private static let cancelling = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]
    /// This one waits until the terminal is restored.
    private static let stopping = SIGTSTP

    /// What stays held back even during a wait.
    private var maskWhileWaiting: sigset_t

    /// Holds the signals back for the length of `body`.
    static func during<Result>(
        _ body: (HeldSignals) throws(KeychainFailure) -> Result
    ) throws(KeychainFailure) -> Result {
        var held = sigset_t()
        sigemptyset(&held)
        for number in cancelling + [stopping] { sigaddset(&held, number) }
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &held, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        // A handler that does nothing: its signal breaks off the wait, and the waiting code does the rest.
        let handlers = cancelling.map { (number: $0, previous: signal($0) { _ in }) }
        defer { for handler in handlers { signal(handler.number, handler.previous) } }
        return try body(HeldSignals(before: before))
    }

    private init(before: sigset_t) {
        maskWhileWaiting = before
        for number in Self.cancelling { sigdelset(&maskWhileWaiting, number) }
        sigaddset(&maskWhileWaiting, Self.stopping)
    }

    /// Waits until something can be read.
    ///
    /// `pselect` lets the signals in and starts to wait in one step: with `read` alone, one that arrives just
    /// before the call would be lost.
    ///
    /// - Returns: `false` if a signal came first.
    func waitForInput(_ descriptor: Int32) -> Bool {
        var wanted = fd_set()
        guard descriptor < FD_SETSIZE else { return false }
        withUnsafeMutableBytes(of: &wanted) { $0[Int(descriptor / 8)] |= 1 << UInt8(descriptor % 8) }
        var mask = maskWhileWaiting
        return pselect(descriptor + 1, &wanted, nil, nil, nil, &mask) > 0
    }
}
