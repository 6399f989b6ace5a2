// SPDX-License-Identifier: Apache-2.0
// Retries after another program changed the same items.

import Foundation
import KeychainEngine

/// Counts the attempts of one change, and pauses before the next one so that two programs do not keep disturbing each
/// other.
///
/// The store's clock measures the time for all attempts. The pauses are real time: the synchronous form blocks its
/// thread, and under a test's clock that stands still a pause by that clock would never end.
struct Attempts {
    private let time: Timekeeper
    /// By the clock of the store.
    private let end: Duration
    private var count = 0

    /// - Parameter timeout: `nil`: half a minute.
    init(_ timeout: Timeout?, _ time: Timekeeper) {
        self.time = time
        end = time.elapsed() + (timeout?.operation ?? .seconds(30))
    }

    /// - Throws: `busy` if the time is up.
    mutating func pause() throws(KeychainError) {
        if let pause = try nextPause() { usleep(UInt32(pause / .microseconds(1))) }
    }

    /// - Throws: `busy` if the time is up, `cancelled`.
    nonisolated(nonsending) mutating func pause() async throws(KeychainError) {
        guard let pause = try nextPause() else { return }
        do {
            try await Task.sleep(for: pause)
        } catch {
            throw KeychainError(.cancelled, "The program has cancelled the call. Nothing was changed.")
        }
    }

    /// - Returns: `nil`: no pause.
    private mutating func nextPause() throws(KeychainError) -> Duration? {
        count += 1
        // The second attempt is immediate, however long the first one took.
        guard count > 1 else { return nil }
        guard time.elapsed() < end else {
            throw KeychainError(.busy, "Other programs keep changing this item. Try again.")
        }
        return .microseconds(Int.random(in: 0...min(100 << min(count, 6), 5000)))
    }
}
