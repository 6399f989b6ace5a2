// SPDX-License-Identifier: Apache-2.0
// Reading again after a failure that may pass without a change of the store.

package import KeychainEngine

/// The pauses before a failed read is repeated: one second, then twice as long each time, at most 16 seconds.
///
/// A store notifies observers about changes and unlocking, but not when it is no longer busy. Without retries an
/// observer would report such a failure until an item is changed.
package struct ReadRetries: Sendable {
    private static let (shortest, longest) = (Duration.seconds(1), Duration.seconds(16))

    private var next = shortest

    package init() {}

    /// How a pause ended.
    package enum Ending: Sendable {
        /// There was no pause, or the observation has ended: wait for the next change.
        case noPause
        /// The time is over: read again, without asking the user.
        case over
        /// There was a change, which has been taken: read again.
        case changed
    }

    /// Waits if the failure may pass by itself: until the pause is over, there is a change to take, or the task is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - failure: Why the last read failed; `nil`: it succeeded.
    ///   - changes: The changes that end the pause, if they are observed.
    package mutating func pause(
        after failure: KeychainError?, by clock: any Clock<Duration>, endedBy changes: SecretChanges? = nil
    ) async -> Ending {
        guard let failure, failure.mayPass else {
            next = Self.shortest
            return .noPause
        }
        let pause = next
        next = min(next * 2, Self.longest)
        guard let feed = changes?.feed else {
            await Self.sleep(pause, clock)
            return .over
        }
        let isOver: Bool = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await Self.sleep(pause, clock)
                return true
            }
            group.addTask {
                await feed.untilPending()
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
        if isOver { return .over }
        // Taken now: if it was undone in the meantime, waiting for it could take for ever.
        return feed.takeIfPending() ? .changed : .noPause
    }

    private static func sleep(_ pause: Duration, _ clock: any Clock<Duration>) async {
        // An error means that the task is cancelled, which also ends the second sleep at once, or that the clock failed: without
        // the second sleep a failing clock would cause reads without pause. The caller looks whether it is cancelled.
        do { try await clock.sleep(for: pause) } catch { try? await Task.sleep(for: shortest) }
    }
}

extension KeychainError {
    /// Whether the same read may succeed later, although nothing in the store has changed.
    fileprivate var mayPass: Bool {
        switch reason {
        case .busy, .timedOut, .unavailable, .diskFull, .inputOutput, .unsafeLocation: true
        default: false
        }
    }
}
