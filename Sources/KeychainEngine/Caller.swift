// SPDX-License-Identifier: Apache-2.0
// Who asks: the access groups that a program may use.

/// The access groups of the program that asks.
///
/// Access groups keep programs of one user from mixing up their items. They do not protect against another program of
/// the same user: it can open the vault itself.
public struct Caller: Hashable, Sendable {
    /// Smart-card items live in this group: readable when listed, never writable.
    public static let tokenGroup = "com.apple.token"

    /// The groups that may be named, in the order of the entitlements; `nil` means any.
    public let groups: [String]?
    /// Where items go that are added without a group.
    public let defaultGroup: String

    /// A program without an entitlements file: it may name any group, and adds to `default`.
    public static let unrestricted = Caller(groups: nil, defaultGroup: "default")

    /// A program that is held to `groups`; the first is where it adds when it names none. An empty list may do nothing.
    public init(groups: [String]) {
        self.init(groups: groups, defaultGroup: groups.first { $0 != Self.tokenGroup } ?? "")
    }

    private init(groups: [String]?, defaultGroup: String) {
        self.groups = groups
        self.defaultGroup = defaultGroup
    }

    /// The groups that a search without a group goes through; `nil` means all.
    func readableGroups() throws(KeychainError) -> [String]? {
        guard groups?.isEmpty != true else { throw Self.noGroups }
        return groups
    }

    /// The same, less the group that is never written to.
    func writableGroups() throws(KeychainError) -> [String]? {
        let writable = groups?.filter { !$0.isIdentical(to: Self.tokenGroup) }
        guard writable?.isEmpty != true else { throw Self.noGroups }
        return writable
    }

    /// The group of an item that is added without one.
    func groupForNewItems() throws(KeychainError) -> String {
        _ = try writableGroups()
        return defaultGroup
    }

    func checkMayRead(_ group: String) throws(KeychainError) {
        guard groups?.contains(where: { $0.isIdentical(to: group) }) != false else { throw Self.foreign }
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
