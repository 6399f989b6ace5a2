// SPDX-License-Identifier: Apache-2.0
// How calls to the keychain end: on record, and for callers in this module's own words.

@_spi(Wrappers) import KeychainKit

extension FailureRecord {
    /// Records how something ends.
    ///
    /// - Throws: ``KeychainError`` for what the keychain, or JSON, refuses.
    func reporting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            let result = try body()
            record(nil)
            return result
        } catch {
            note(error)
            throw Self.reported(error)
        }
    }

    /// Records how something ends.
    ///
    /// - Throws: What it throws.
    nonisolated(nonsending) func recorded<Result>(
        _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body()
            record(nil)
            return result
        } catch {
            note(error)
            throw error
        }
    }

    private func note(_ error: any Error) {
        switch error {
        case let error as KeychainKit.KeychainError: record(error)
        case let error as JSON.Failure: record(error.cause)
        default: break
        }
    }

    private static func reported(_ error: any Error) -> any Error {
        switch error {
        case let error as KeychainKit.KeychainError: KeychainError(error)
        case is JSON.Failure: KeychainError.encodingFailed
        default: error
        }
    }
}
