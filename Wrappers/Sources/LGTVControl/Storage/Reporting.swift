// SPDX-License-Identifier: Apache-2.0
// Records the outcome of keychain calls, and converts it to this module's errors.

@_spi(Wrappers) import KeychainKit

extension FailureRecord {
    /// Records the outcome.
    ///
    /// - Throws: ``KeychainError`` for failures of the keychain or of JSON.
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

    /// Records the outcome.
    ///
    /// - Throws: The error of the body.
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
