// SPDX-License-Identifier: Apache-2.0
// How a store makes its calls.

import KeychainEngine

extension SecretStore {
    func call<Output: Sendable>(
        _ body: @escaping @Sendable (StoreRequests) throws(KeychainError) -> Output
    ) throws(KeychainError) -> Output {
        try backing.call(timeout) { (questions) throws(KeychainError) in try body(StoreRequests(self, questions)) }
    }

    nonisolated(nonsending) func call<Output: Sendable>(
        _ body: @escaping @Sendable (StoreRequests) throws(KeychainError) -> Output
    ) async throws(KeychainError) -> Output {
        try await backing.call(timeout) { (questions) throws(KeychainError) in
            try body(StoreRequests(self, questions))
        }
    }
}

extension StoredItem {
    /// - Throws: `typeMismatch` if the item has no value, or its value is not of this type.
    func value<Value: Decodable>(
        _ type: Value.Type, _ coder: some SecretCoder
    ) throws(KeychainError) -> Value {
        try RepeatedValue(item.value).value(type, coder)
    }
}

extension RepeatedValue {
    /// The same.
    func value<Value: Decodable>(
        _ type: Value.Type, _ coder: some SecretCoder
    ) throws(KeychainError) -> Value {
        guard let value else { throw .noValue }
        return try coder.value(type, from: value)
    }
}
