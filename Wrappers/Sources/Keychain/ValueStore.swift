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
