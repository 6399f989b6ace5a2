// SPDX-License-Identifier: Apache-2.0
// The access groups that a program may use.

/// The access groups that a program may use.
///
/// Access groups prevent mistakes; they are not a security boundary. Another program of the same user can open the
/// vault itself.
public struct AccessGroups: Hashable, Sendable {
    /// Smart-card items are in this group. They can be listed and read, but never written.
    public static let tokenGroup = "com.apple.token"

    /// The keychain's own items are in this group, such as the keys of a machine that syncs. A search without a group leaves it
    /// out, so that a program that deletes all items of a class does not delete them.
    public static let internalGroup = "swift-keychain.sync"

    /// The groups that the program may name, in the order of the entitlements; `nil` means any.
    public let names: [String]?
    /// The group of items that are added without a group.
    public let defaultGroup: String

    /// A program without an entitlements file: it may name any group, and adds to `default`.
    public static let unrestricted = AccessGroups(names: nil, defaultGroup: "default")

    /// These groups and no others. Items that are added without a group go to the first. If empty, every call fails.
    public init(_ names: [String]) {
        self.init(names: names, defaultGroup: names.first { $0 != Self.tokenGroup } ?? "")
    }

    private init(names: [String]?, defaultGroup: String) {
        self.names = names
        self.defaultGroup = defaultGroup
    }

    /// The groups that a search without a group goes through; `nil` means all but the internal one.
    func readableGroups() throws(KeychainError) -> [String]? {
        guard names?.isEmpty != true else { throw Self.noGroups }
        return names
    }

    /// The same groups without the token group, which is read-only.
    func writableGroups() throws(KeychainError) -> [String]? {
        let writable = names?.filter { !$0.isIdentical(to: Self.tokenGroup) }
        guard writable?.isEmpty != true else { throw Self.noGroups }
        return writable
    }

    /// The group of an item that is added without one.
    func groupForNewItems() throws(KeychainError) -> String {
        _ = try writableGroups()
        return defaultGroup
    }

    func checkMayRead(_ group: String) throws(KeychainError) {
        guard names?.contains(where: { $0.isIdentical(to: group) }) != false else { throw Self.foreign }
    }

    func checkMayWrite(_ group: String) throws(KeychainError) {
        try checkMayRead(group)
        guard !group.isIdentical(to: Self.tokenGroup) else { throw Self.foreign }
    }

    static let foreign = KeychainError(
        .missingEntitlement,
        "This program may not use that access group. Name one of its own, or list the group in its entitlements.")
    private static let noGroups = KeychainError(
        .missingEntitlement, "This program has no access group. List one in its entitlements.")
}
