// SPDX-License-Identifier: Apache-2.0
// A value to migrate into a valet.

public import Foundation

/// A key and its value, before or after the program has changed them.
///
/// ```swift
/// let pair = MigratableKeyValuePair(key: "token", value: "s3cret")
/// ```
public struct MigratableKeyValuePair<Key: Hashable>: Hashable {
    /// `Key`, for extensions that constrain it under this name.
    public typealias KeyType = Key

    public let key: Key
    public let value: Data

    public init(key: Key, value: Data) { (self.key, self.value) = (key, value) }

    public init(key: Key, value: String) { self.init(key: key, value: Data(value.utf8)) }
}

extension MigratableKeyValuePair: Sendable where Key: Sendable {}

extension MigratableKeyValuePair: CustomStringConvertible {
    /// Without the value, which is a secret.
    public var description: String { "\(key): \(value.count) bytes" }
}

extension MigratableKeyValuePair: CustomDebugStringConvertible, CustomReflectable {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
