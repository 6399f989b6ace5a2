// SPDX-License-Identifier: Apache-2.0
// Why the last call of a wrapper failed.

public import KeychainEngine
import SecretMemory

/// The error of the last call; `nil` if it succeeded. It is for wrappers whose calls cannot throw and return `nil` or
/// `false`. A successful call clears an older error, which would be misleading.
@_spi(Wrappers) public final class FailureRecord: Sendable {
    private let failure = Guarded<KeychainError?>(nil)

    @_spi(Wrappers) public init() {}

    @_spi(Wrappers) public var last: KeychainError? { failure.withLock { $0 } }

    /// - Parameter error: `nil` if the call succeeded.
    @_spi(Wrappers) public func record(_ error: KeychainError?) { failure.withLock { $0 = error } }

    @_spi(Wrappers) public func recording<Result>(
        _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            let result = try body()
            record(nil)
            return result
        } catch {
            record(error)
            throw error
        }
    }

    @_spi(Wrappers) public nonisolated(nonsending) func recording<Result>(
        _ body: nonisolated(nonsending) () async throws(KeychainError) -> Result
    ) async throws(KeychainError) -> Result {
        do throws(KeychainError) {
            let result = try await body()
            record(nil)
            return result
        } catch {
            record(error)
            throw error
        }
    }
}
