// SPDX-License-Identifier: Apache-2.0
// Changes of one item or several items that depend on their current values.

import Foundation
import KeychainEngine

extension SecretStore {
    /// Changes a value based on its current one. It is atomic across threads and processes.
    ///
    /// ```swift
    /// try store.update(Int.self, for: "counter") { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// Nothing is locked while `change` runs: if another program changes the item first, `change` runs again with the
    /// new value. Everything else of the item stays as it is, except that the store's accessibility and access control
    /// are applied.
    ///
    /// - Parameter change: Gets the value, or `nil` if there is no item, and may change it. `nil` removes the item. If
    ///   the value is not changed, nothing is written. It may run several times.
    /// - Returns: What `change` returned the last time.
    /// - Throws: The errors of `change`, unchanged; as a ``KeychainError``, the errors of reading and saving, and
    ///   `busy` if other programs keep changing the item for the whole timeout, or for half a minute without a timeout.
    @discardableResult
    public func update<Value: Codable, Result>(
        _ type: Value.Type = Value.self, for account: String, _ change: (inout Value?) throws -> Result
    ) throws -> Result {
        try update(type, for: account, change) { (requests) throws(KeychainError) in
            try requests.find(account, includingValue: true)
        }
    }

    /// - Parameter find: Finds the item to change, with its value.
    func update<Value: Codable, Result>(
        _ type: Value.Type, for account: String, _ change: (inout Value?) throws -> Result,
        finding find: @escaping @Sendable (StoreRequests) throws(KeychainError) -> StoredItem?
    ) throws -> Result {
        let store = sharingContext
        var attempts = Attempts(timeout, backing.time)
        while true {
            let found = try store.call(find)
            let step = try ChangeStep(found, type, coder, change)
            if !step.isChange { return step.result }
            let bytes = step.bytes
            if try store.call({ (requests) throws(KeychainError) in try requests.replace(account, found, by: bytes) }) {
                return step.result
            }
            try attempts.pause()
        }
    }

    /// The asynchronous form. `change` runs on the caller's executor.
    @discardableResult
    public nonisolated(nonsending) func update<Value: Codable, Result>(
        _ type: Value.Type = Value.self, for account: String, _ change: (inout Value?) throws -> Result
    ) async throws -> Result {
        let store = sharingContext
        var attempts = Attempts(timeout ?? .standard, backing.time)
        while true {
            let found = try await store.call { (requests) throws(KeychainError) in
                try requests.find(account, includingValue: true)
            }
            let step = try ChangeStep(found, type, coder, change)
            if !step.isChange { return step.result }
            let bytes = step.bytes
            let isDone = try await store.call { (requests) throws(KeychainError) in
                try requests.replace(account, found, by: bytes)
            }
            if isDone { return step.result }
            try await attempts.pause()
        }
    }

    /// Makes several changes in one step: all or none, even if the program is killed.
    ///
    /// ```swift
    /// try store.transaction { transaction in
    ///     try transaction.save("new", for: "access-token")
    ///     try transaction.save("newer", for: "refresh-token")
    /// }
    /// ```
    ///
    /// See ``SecretTransaction`` for when the reads and changes happen.
    ///
    /// - Parameter body: It may run several times, so it should have no side effects besides the transaction.
    /// - Returns: What `body` returned the last time.
    /// - Throws: The errors of `body`, unchanged; then nothing has changed. `unsupported` if several items are involved
    ///   and the keychain has no transactions, such as Apple's. `busy` if other programs keep changing the items that
    ///   the body reads.
    @discardableResult
    public func transaction<Result>(_ body: (SecretTransaction) throws -> Result) throws -> Result {
        try transaction(allowsSteps: false, body)
    }

    /// - Parameter allowsSteps: As in ``Commit``.
    func transaction<Result>(
        allowsSteps: Bool, _ body: (SecretTransaction) throws -> Result
    ) throws -> Result {
        let store = sharingContext
        var attempts = Attempts(timeout, backing.time)
        while true {
            let record = TransactionRecord()
            let result = try body(SecretTransaction(store: store, record: record))
            let commit = Commit(store, record, allowsSteps: allowsSteps)
            if try backing.call(timeout, { (questions) throws(KeychainError) in try commit.run(questions) }) {
                return result
            }
            try attempts.pause()
        }
    }

    /// The asynchronous form. `body` runs on the caller's executor and reads asynchronously.
    @discardableResult
    public nonisolated(nonsending) func transaction<Result>(
        _ body: nonisolated(nonsending) (SecretTransaction) async throws -> Result
    ) async throws -> Result {
        try await transaction(allowsSteps: false, body)
    }

    nonisolated(nonsending) func transaction<Result>(
        allowsSteps: Bool, _ body: nonisolated(nonsending) (SecretTransaction) async throws -> Result
    ) async throws -> Result {
        let store = sharingContext
        var attempts = Attempts(timeout ?? .standard, backing.time)
        while true {
            let record = TransactionRecord()
            let result = try await body(SecretTransaction(store: store, record: record))
            let commit = Commit(store, record, allowsSteps: allowsSteps)
            let isDone = try await backing.call(timeout) { (questions) throws(KeychainError) in
                try commit.run(questions)
            }
            if isDone { return result }
            try await attempts.pause()
        }
    }

    /// A copy with one context for several calls, so that the user is asked once.
    package var sharingContext: SecretStore {
        var copy = self
        copy.context = context ?? AuthenticationContext(Backing.authenticator)
        return copy
    }
}

/// One run of a caller's change: its result, and the value to save.
private struct ChangeStep<Result> {
    let result: Result
    /// `nil`: remove the item.
    let bytes: Data?
    let isChange: Bool

    init<Value: Codable>(
        _ found: StoredItem?, _ type: Value.Type, _ coder: any SecretCoder, _ change: (inout Value?) throws -> Result
    ) throws {
        var value = try found.map { try $0.value(type, coder) }
        result = try change(&value)
        bytes = try value.map { try coder.bytes(of: $0) }
        isChange = bytes != found?.item.value
    }
}
