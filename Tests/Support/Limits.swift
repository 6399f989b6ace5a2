// SPDX-License-Identifier: Apache-2.0
// No test waits for ever: what never happens ends the test with a sentence that says what it waited for.

import Foundation

extension Duration {
    /// More than anything takes that a test waits for, on a busy machine as well. With `KEYCHAIN_FAULTS=all` some programs do
    /// much more. Where tests have to fail soon, `KEYCHAIN_TEST_LIMIT` has another number of seconds.
    package static let testLimit: Duration = {
        let environment = ProcessInfo.processInfo.environment
        if let limit = environment["KEYCHAIN_TEST_LIMIT"].flatMap(Int.init) { return .seconds(limit) }
        return environment["KEYCHAIN_FAULTS"] == "all" ? .seconds(14_400) : .seconds(900)
    }()

    /// Of a server, which its test ends. It has to outlive the test, which may wait for a thread of Swift's pool after each `await`.
    package static let serverLimit = testLimit * 4
}

/// A test has waited for this for so long that it will never happen.
package struct LimitReached: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String, _ limit: Duration) { description = "\(what): not within \(limit)." }
}

/// A busy machine may keep a test, and what it waits for, from running until the limit is reached. So it looks at least so often.
private let leastLooks = 100

/// Looks again and again until a condition holds.
///
/// - Parameter what: What is waited for, as the failure says it.
/// - Throws: ``LimitReached``, or what the condition throws.
package func waitUntil(
    _ what: String, limitedTo limit: Duration = .testLimit, _ condition: () throws -> Bool
) throws {
    let end = ContinuousClock.now + limit
    var looks = 0
    while try !condition() {
        looks += 1
        guard ContinuousClock.now < end || looks < leastLooks else { throw LimitReached(what, limit) }
        usleep(1000)
    }
}

/// The same in a task, without keeping its thread.
///
/// - Throws: ``LimitReached``, what the condition throws, or a `CancellationError`.
package func yieldUntil(
    _ what: String, limitedTo limit: Duration = .testLimit, _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    var looks = 0
    while try await !condition() {
        looks += 1
        guard ContinuousClock.now < end || looks < leastLooks else { throw LimitReached(what, limit) }
        try Task.checkCancellation()
        await Task.yield()
    }
}

/// The same with a pause after each look, which leaves the processor to what is waited for.
package func yieldUntil(
    _ what: String, every pause: Duration, _ condition: () async throws -> Bool
) async throws {
    try await yieldUntil(what) {
        if try await condition() { return true }
        try await Task.sleep(for: pause)
        return false
    }
}
