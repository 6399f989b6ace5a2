// SPDX-License-Identifier: Apache-2.0
// A store of one text.

/// A store of one text.
///
/// ```swift
/// struct Session {
///     let token: any ValueStore
/// }
/// ```
public protocol ValueStore {
    /// - Returns: `nil` only if there is none.
    func get() throws -> String?

    /// - Parameter value: `nil` removes the text, if there is one.
    func set(_ value: String?) throws
}
