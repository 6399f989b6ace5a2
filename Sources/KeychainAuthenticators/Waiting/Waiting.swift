// SPDX-License-Identifier: Apache-2.0
// Waiting for the user, with everything that may end the wait early.

import Foundation
import KeychainEngine

/// Waits for descriptors until the question is cancelled, a signal interrupts the wait, or the timeout is reached.
struct Waiting {
    private let cancelled: WakePipe
    private let registration: AuthenticationCancellation.Registration
    private var signals: HeldSignals?
    private var deadline: ContinuousClock.Instant?

    init(_ cancellation: AuthenticationCancellation, timeout: Duration?) throws(KeychainError) {
        let cancelled = try WakePipe()
        self.cancelled = cancelled
        // The closure keeps the pipe: a cancellation may arrive while the last wait ends on another thread.
        registration = cancellation.onCancel { cancelled.wake() }
        deadline = timeout.map { ContinuousClock.now + $0 }
    }

    /// The same, also interrupted by signals.
    func breaking(for signals: HeldSignals) -> Waiting {
        var copy = self
        copy.signals = signals
        return copy
    }

    /// The same with a shorter timeout.
    func limited(to limit: Duration) -> Waiting {
        var copy = self
        let end = ContinuousClock.now + limit
        copy.deadline = deadline.map { min($0, end) } ?? end
        return copy
    }

    /// The reason for the end of a wait.
    enum Event {
        case ready, late
        /// As in `HeldSignals.Request`.
        case stop, goOn
    }

    /// Returns as soon as the descriptor is ready, or never will be. ^Z stops the program in the meantime.
    ///
    /// - Throws: `cancelled`, `timedOut`.
    func wait(for descriptor: Int32, _ events: Int32) throws(KeychainError) {
        while true {
            switch try next(descriptor, events) {
            case .ready: return
            case .stop: signals?.stop()
            case .goOn, .late: continue
            }
        }
    }

    /// The same for a caller that has changed the terminal and must restore it before the program is stopped.
    ///
    /// - Returns: Never `late`.
    /// - Throws: `cancelled`, `timedOut`.
    func next(_ descriptor: Int32, _ events: Int32) throws(KeychainError) -> Event {
        let event = try next(descriptor, events, before: deadline)
        if event == .late { throw .unanswered }
        return event
    }

    /// - Throws: `cancelled`, `timedOut` if the wait is over already.
    func check() throws(KeychainError) { try pause(.zero) }

    /// Waits for some time.
    ///
    /// - Throws: `cancelled`, `timedOut`.
    func pause(_ length: Duration) throws(KeychainError) {
        let end = ContinuousClock.now + length
        if let deadline, deadline < end { return try wait(for: -1, POLLIN) }
        while true {
            switch try next(-1, POLLIN, before: end) {
            case .ready, .late: return
            case .stop: signals?.stop()
            case .goOn: continue
            }
        }
    }

    /// `poll` and not `select`, which does not support descriptors above 1023: a host program may have many.
    private func next(
        _ descriptor: Int32, _ events: Int32, before end: ContinuousClock.Instant?
    ) throws(KeychainError) -> Event {
        while true {
            var entries = [
                pollfd(fd: cancelled.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(events), revents: 0),
            ]
            _ = poll(&entries, nfds_t(entries.count), Self.milliseconds(until: end))
            if entries[0].revents != 0 { throw .cancelledQuestion }
            switch signals?.next() {
            case .cancel?: throw .cancelledQuestion
            case .stop?: return .stop
            case .goOn?: return .goOn
            case nil: break
            }
            if entries[2].revents != 0 { return .ready }
            if let end, end <= .now { return .late }
        }
    }

    /// Rounded up, so that the last wait does not become a busy loop; negative means for ever.
    private static func milliseconds(until end: ContinuousClock.Instant?) -> Int32 {
        guard let end else { return -1 }
        let left = end - .now
        guard left > .zero else { return 0 }
        return Int32(min(60_000, (left / .milliseconds(1)).rounded(.up)))
    }
}
