// SPDX-License-Identifier: Apache-2.0
// Trying again after somebody else was faster.

import Foundation
import KeychainEngine

/// Counts the tries of one change, and makes a pause before the next so that two programs do not keep disturbing each other.
struct Attempts {
    private let end: ContinuousClock.Instant
    private var count = 0

    /// - Parameter deadline: `nil`: half a minute.
    init(_ deadline: Deadline?) {
        end = .now + (deadline?.silent ?? .seconds(30))
    }

    /// - Throws: `busy` if the time is up.
    mutating func pause() throws(KeychainError) {
        if let time = try nextPause() { Thread.sleep(forTimeInterval: time / .seconds(1)) }
    }

    /// - Throws: `busy` if the time is up, `cancelled`.
    nonisolated(nonsending) mutating func pause() async throws(KeychainError) {
        guard let time = try nextPause() else { return }
        do {
            try await Task.sleep(for: time)
        } catch {
            throw KeychainError(.cancelled, "The program has cancelled the call. Nothing was changed.")
        }
    }

    /// - Returns: `nil`: at once.
    private mutating func nextPause() throws(KeychainError) -> Duration? {
        count += 1
        // However long the first try took: it says nothing of others.
        guard count > 1 else { return nil }
        guard ContinuousClock.now < end else {
            throw KeychainError(.busy, "Other programs keep changing this item. Try again.")
        }
        return .microseconds(Int.random(in: 0...min(100 << min(count, 6), 5000)))
    }
}
