// SPDX-License-Identifier: Apache-2.0
// The access group of a valet whose items several programs use.

/// An access group: a prefix, a period, and the name of the group. It must be among the entitlements of the programs
/// that use it.
///
/// ```swift
/// let group = SharedGroupIdentifier(appIDPrefix: "AB12CDE345", nonEmptyGroup: "com.example.shared")
/// ```
public struct SharedGroupIdentifier: CustomStringConvertible, Hashable, Sendable {
    let prefix: String
    let groupIdentifier: String

    /// A keychain access group.
    ///
    /// - Parameter appIDPrefix: The identifier of the developer's team, as in entitlements.
    /// - Returns: `nil` if one of the two is empty.
    public init?(appIDPrefix: String, nonEmptyGroup groupIdentifier: String?) {
        self.init(prefix: appIDPrefix, groupIdentifier)
    }

    /// An app group.
    ///
    /// - Parameter groupPrefix: `group`; on macOS the identifier of the developer's team.
    /// - Returns: `nil` for another prefix, and if one of the two is empty.
    public init?(groupPrefix: String, nonEmptyGroup groupIdentifier: String?) {
        #if !os(macOS)
            guard groupPrefix == "group" else { return nil }
        #endif
        self.init(prefix: groupPrefix, groupIdentifier)
    }

    private init?(prefix: String, _ groupIdentifier: String?) {
        guard !prefix.isEmpty, let groupIdentifier, !groupIdentifier.isEmpty else { return nil }
        (self.prefix, self.groupIdentifier) = (prefix, groupIdentifier)
    }

    /// The access group of the items.
    public var description: String { "\(prefix).\(groupIdentifier)" }

    var asIdentifier: Identifier { Identifier(self) }
}
