// SPDX-License-Identifier: Apache-2.0
// The name of a valet.

/// The name of a valet: text that is not empty.
///
/// ```swift
/// let identifier = Identifier(nonEmpty: "com.example.app")
/// ```
public struct Identifier: CustomStringConvertible, Hashable, Sendable {
    public let description: String

    /// - Returns: `nil` for `nil` and for empty text.
    public init?(nonEmpty string: String?) {
        guard let string, !string.isEmpty else { return nil }
        description = string
    }

    /// For text that is known not to be empty.
    init(_ group: SharedGroupIdentifier) { description = group.description }
}
