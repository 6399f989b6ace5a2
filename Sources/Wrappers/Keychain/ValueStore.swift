// SPDX-License-Identifier: Apache-2.0
// What keeps one text.

/// Something that keeps one text.
///
/// ```swift
/// struct Session {
///     let token: any ValueStore
/// }
/// ```
public protocol ValueStore {
    /// - Returns: `nil` only if there is none.
    func get() throws -> String?

    /// - Parameter value: `nil` removes what is there, if anything is.
    func set(_ value: String?) throws
}

/// A store that can be waited for without blocking a thread.
protocol AwaitableStore: ValueStore, Sendable {
    nonisolated(nonsending) func get() async throws -> String?
    nonisolated(nonsending) func set(_ value: String?) async throws
}
