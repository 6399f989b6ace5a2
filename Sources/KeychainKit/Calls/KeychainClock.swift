// SPDX-License-Identifier: Apache-2.0
// The time by which items are dated and calls end.

public import Foundation

/// The time by which items are dated and calls end: the system's, or a test's.
///
/// ```swift
/// store.clock = KeychainClock(now: { date }, elapsed: { elapsed }, sleep: { try await Task.sleep(for: $0) })
/// ```
public struct KeychainClock: Sendable {
    /// The date that new and changed items get.
    public let now: @Sendable () -> Date
    /// The time since some fixed moment; it never goes back.
    public let elapsed: @Sendable () -> Duration
    let alarm: Alarm

    /// The system's time.
    public static let system = {
        let start = ContinuousClock.now
        return KeychainClock(
            now: { Date() }, elapsed: { start.duration(to: .now) }, sleep: { try await Task.sleep(for: $0) })
    }()

    /// - Parameter sleep: Returns after a time as measured by `elapsed`, and throws when its task is cancelled.
    public init(
        now: @escaping @Sendable () -> Date, elapsed: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.elapsed = elapsed
        alarm = Alarm(elapsed: elapsed, sleep: sleep)
    }
}
