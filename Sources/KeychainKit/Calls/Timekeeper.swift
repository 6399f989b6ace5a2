// SPDX-License-Identifier: Apache-2.0
// The clock of a store, independent of the clock's `Instant` type.

/// Measures time by a clock, and ends calls whose time is up by that clock.
struct Timekeeper: Sendable {
    /// Shared by all stores without a clock of their own, so that one task sleeps for all their calls.
    static let system = Timekeeper(ContinuousClock())

    let clock: any Clock<Duration>
    /// The time since some fixed moment.
    let elapsed: @Sendable () -> Duration
    let timer: CallTimer

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        let elapsed: @Sendable () -> Duration = { start.duration(to: clock.now) }
        self.clock = clock
        self.elapsed = elapsed
        timer = CallTimer(elapsed: elapsed) { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }
}
