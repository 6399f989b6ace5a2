// SPDX-License-Identifier: Apache-2.0
// Changes that depend on what is there: of one item, and of several.

import Foundation
import KeychainEngine

extension SecretStore {
    /// Changes a value with the old one in hand, safe against all other threads and programs.
    ///
    /// ```swift
    /// try store.update(Int.self, for: "counter") { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// Nothing is locked while `change` runs: if another program was faster, it runs again with the new value. Of the item
    /// everything but its value, and what the store says of accessibility and access control, stays as it is.
    ///
    /// - Parameter change: Gets the value, `nil` if there is none, and may change it; `nil` removes the item. Leaving it as it
    ///   is writes nothing. It may run several times.
    /// - Returns: What `change` returned the last time.
    /// - Throws: What `change` throws, unchanged; as a ``KeychainError`` what reading and saving throw, and `busy` if others
    ///   keep changing the item for as long as the deadline, or half a minute.
    @discardableResult
    public func update<Value: Codable, Result>(
        _ type: Value.Type = Value.self, for account: String, _ change: (inout Value?) throws -> Result
    ) throws -> Result {
        let store = sharingContext
        var attempts = Attempts(deadline)
        while true {
            let found = try store.call { (requests) throws(KeychainError) in
                try requests.find(account, includingValue: true)
            }
            let step = try ChangeStep(found, type, coder, change)
            if !step.isChange { return step.result }
            let bytes = step.bytes
            if try store.call({ (requests) throws(KeychainError) in try requests.replace(account, found, by: bytes) }) {
                return step.result
            }
            try attempts.pause()
        }
    }

    /// The same without blocking a thread; `change` runs where the caller runs.
    @discardableResult
    public nonisolated(nonsending) func update<Value: Codable, Result>(
        _ type: Value.Type = Value.self, for account: String, _ change: (inout Value?) throws -> Result
    ) async throws -> Result {
        let store = sharingContext
        var attempts = Attempts(deadline ?? .standard)
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

    /// Makes several changes at once, or none: also if the program is killed in the midst of it.
    ///
    /// ```swift
    /// try store.transaction { transaction in
    ///     try transaction.save("new", for: "access-token")
    ///     try transaction.save("newer", for: "refresh-token")
    /// }
    /// ```
    ///
    /// See ``SecretTransaction`` for what happens when.
    ///
    /// - Parameter body: May run several times: it should change nothing but the transaction.
    /// - Returns: What `body` returned the last time.
    /// - Throws: What `body` throws, unchanged, and then nothing has happened; `unsupported` in a keychain without
    ///   transactions, as Apple's is, if several items are involved; `busy` if others keep changing what the body reads.
    @discardableResult
    public func transaction<Result>(_ body: (SecretTransaction) throws -> Result) throws -> Result {
        let store = sharingContext
        var attempts = Attempts(deadline)
        while true {
            let record = TransactionRecord()
            let result = try body(SecretTransaction(store: store, record: record))
            let commit = Commit(store, record)
            if try backing.call(deadline, { (questions) throws(KeychainError) in try commit.run(questions) }) {
                return result
            }
            try attempts.pause()
        }
    }

    /// The same without blocking a thread; `body` runs where the caller runs, and reads asynchronously.
    @discardableResult
    public nonisolated(nonsending) func transaction<Result>(
        _ body: nonisolated(nonsending) (SecretTransaction) async throws -> Result
    ) async throws -> Result {
        let store = sharingContext
        var attempts = Attempts(deadline ?? .standard)
        while true {
            let record = TransactionRecord()
            let result = try await body(SecretTransaction(store: store, record: record))
            let commit = Commit(store, record)
            let isDone = try await backing.call(deadline) { (questions) throws(KeychainError) in
                try commit.run(questions)
            }
            if isDone { return result }
            try await attempts.pause()
        }
    }

    /// With one context for several calls, so that a person is asked once.
    var sharingContext: SecretStore {
        var copy = self
        copy.context = context ?? AuthenticationContext(Backing.authenticator)
        return copy
    }
}

/// One run of a caller's change: what came in, and what is to be saved.
private struct ChangeStep<Result> {
    let result: Result
    /// `nil`: the item is to be removed.
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
