// SPDX-License-Identifier: Apache-2.0
// Calls on a store that only wrappers need.

import KeychainEngine

extension SecretStore {
    /// The items, as `items` gives them, with all attributes of items that require authentication. The user is asked
    /// for them.
    @_spi(Wrappers) public func itemsByAsking() throws(KeychainError) -> [KeychainItem] {
        try call { (requests) throws(KeychainError) in try requests.items(.all, isAsking: true) }
    }

    /// Makes several changes as `transaction` does. In a keychain without transactions, such as Apple's, it makes them
    /// one by one, in order. So they must be consistent after each step.
    @_spi(Wrappers) @discardableResult
    public func transactionOrSteps<Result>(_ body: (SecretTransaction) throws -> Result) throws -> Result {
        try transaction(allowsSteps: true, body)
    }

    /// The asynchronous form.
    @_spi(Wrappers) @discardableResult
    public nonisolated(nonsending) func transactionOrSteps<Result>(
        _ body: nonisolated(nonsending) (SecretTransaction) async throws -> Result
    ) async throws -> Result {
        try await transaction(allowsSteps: true, body)
    }
}
