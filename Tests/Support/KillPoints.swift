// SPDX-License-Identifier: Apache-2.0
// The calls at whose occurrences a test kills a program, one occurrence after the other.

/// Some occurrences of each of some calls, until the program ends before the call occurs that often.
package struct KillPoints {
    private let calls: [String]
    private let step: Int
    private let limit: Int

    /// - Parameters:
    ///   - step: Every so many occurrences; 1 tries all.
    ///   - limit: More occurrences than any program of the tests makes.
    package init(calls: [String], every step: Int, atMost limit: Int = 3000) {
        (self.calls, self.step, self.limit) = (calls, step, limit)
    }

    /// - Parameter isKilled: Tries one point: the call and its occurrence, counted from 1. It returns whether the program was killed
    ///   there, and throws if the program has failed.
    /// - Returns: The number of points at which the program was killed.
    /// - Throws: ``KillsWithoutEnd``, or what the closure throws.
    package func count(_ isKilled: (_ call: String, _ occurrence: Int) async throws -> Bool) async throws -> Int {
        var points = 0
        for call in calls { points += try await count(call, isKilled) }
        return points
    }

    private func count(_ call: String, _ isKilled: (String, Int) async throws -> Bool) async throws -> Int {
        var points = 0
        for occurrence in stride(from: 1, through: limit, by: step) {
            guard try await isKilled(call, occurrence) else { return points }
            points += 1
        }
        throw KillsWithoutEnd(description: "The program is still killed at occurrence \(limit) of \(call).")
    }
}

/// A program that never ends by itself would keep a test for ever.
package struct KillsWithoutEnd: Error, CustomStringConvertible {
    package let description: String
}
