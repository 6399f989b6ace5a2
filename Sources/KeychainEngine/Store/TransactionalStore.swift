// SPDX-License-Identifier: Apache-2.0
// A store that can make several calls one transaction.

/// An ``ItemStore`` that can make several calls one transaction. To find out whether a store can, use
/// ``ItemStore/transactional``.
///
/// ```swift
/// guard let store = store.transactional else { return try addOneByOne() }
/// try store.transaction(authorization) { (items) throws(KeychainError) in
///     for item in new { _ = try items.insert(item, authorization) }
/// }
/// ```
public protocol TransactionalStore: ItemStore {
    /// Makes all calls on the argument of `body` one transaction. All of it is durable when this returns. If `body`
    /// throws, nothing has happened.
    ///
    /// No other program writes during the transaction, so the user is not asked during it. If items require proofs, the
    /// transaction is rolled back, the user is asked, and `body` runs again.
    ///
    /// - Parameter body: Must use the store only through its argument.
    /// - Throws: The errors of `body` and of each call; `unsupported`, without running `body`, if
    ///   ``ItemStore/transactional`` is `nil`.
    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result
}

extension KeychainError {
    /// The error of a transaction on a store that has none.
    package static let withoutTransactions = KeychainError(
        .unsupported, "This store has no transactions over several items. Keep one record in one item.")
}
