// SPDX-License-Identifier: Apache-2.0
// Why the last call failed, if it did.

import KeychainKit
import Synchronization

/// Unlike a record of failures it is empty again after a call that did not fail: `nil` from a call that cannot throw is
/// explained by it, and an old failure would explain nothing.
final class LastFailure: Sendable {
    private let failure = Mutex<KeychainKit.KeychainError?>(nil)

    var last: KeychainKit.KeychainError? { failure.withLock { $0 } }

    func set(_ error: KeychainKit.KeychainError?) { failure.withLock { $0 = error } }

    func recorded<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            set(nil)
            return result
        } catch {
            note(error)
            throw error
        }
    }

    nonisolated(nonsending) func recorded<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body()
            set(nil)
            return result
        } catch {
            note(error)
            throw error
        }
    }

    private func note(_ error: any Error) {
        switch error {
        case let error as KeychainKit.KeychainError: set(error)
        case let error as JSON.Failure: set(error.cause)
        default: break
        }
    }
}
