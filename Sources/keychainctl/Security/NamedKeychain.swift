// SPDX-License-Identifier: Apache-2.0
// Keychain files of macOS, which stand for access groups of the one vault.

import Foundation
import KeychainEngine
import KeychainKit
import SecretMemory

/// A keychain as an argument names it. There is no such file: only the last part of its path counts, as a group.
struct NamedKeychain: Hashable {
    /// The path that macOS would show.
    let path: String
    let group: String

    static let defaultGroup = "default"

    /// The group of items that were stored without a keychain, and of other commands of this tool.
    static var login: NamedKeychain {
        NamedKeychain(path: folder + "/login.keychain-db", group: defaultGroup)
    }

    private init(path: String, group: String) { (self.path, self.group) = (path, group) }

    /// - Returns: `nil` if the name cannot be a group, or is that of the keychain itself.
    init?(_ name: String) {
        guard name.utf8.count <= 1024 else { return nil }
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard let file = parts.last.map({ String(Substring($0)) }) else { return nil }
        let isAbsolute = name.utf8.first == UInt8(ascii: "/")
        let parent = isAbsolute ? String(Substring(name.utf8.dropLast(file.utf8.count + 1))) : Self.folder
        // In a home folder, every file of macOS ends in -db, and a name means the same with and without it.
        let isHome = !isAbsolute || parent.hasSuffix(Self.place) && !Self.systemPlaces.contains(parent)
        let endings = [".keychain-db", ".keychain"] + (isHome ? ["-db"] : [])
        let group = endings.first(where: file.hasSuffix).map { file.dropLast($0.count) } ?? file[...]
        guard !group.isEmpty, group != ".", group != "..",
            !group.utf8.elementsEqual(AccessGroups.internalGroup.utf8)
        else { return nil }
        path = parent + "/" + (isHome && !file.hasSuffix("-db") ? file + "-db" : file)
        self.group = group == "login" ? Self.defaultGroup : String(group)
    }

    /// What the error about a keychain that does not exist says.
    var absence: String {
        let text = SecurityStatus.text(SecurityStatus.noSuchKeychain)
        guard path == Self.place + "/System.keychain" else { return text }
        return text
            + " The system has no keychain here. For root certificates: update-ca-certificates (Debian, Ubuntu) or trust "
            + "anchor FILE (Fedora, Arch). For other items: name another keychain, or none."
    }

    var isLogin: Bool { group == Self.defaultGroup }

    /// Names of the same group are the same keychain, in whatever folder.
    static func == (first: NamedKeychain, second: NamedKeychain) -> Bool {
        first.group.utf8.elementsEqual(second.group.utf8)
    }

    func hash(into hasher: inout Hasher) { for byte in group.utf8 { hasher.combine(byte) } }

    /// Where a home folder has its keychains, and the system its own.
    private static let place = "/Library/Keychains"
    private static let systemPlaces = [place, "/System" + place]

    private static var folder: String { (ProcessEnvironment.current.value("HOME") ?? "") + place }
}

/// The keychains that scripts have created or put into the search list.
struct KeychainList: Codable {
    /// The paths in the search list; `nil`: the login keychain.
    var search: [String]?
    var known: [String]?
    var defaultKeychain: String?
    /// Seconds without use after which the next `unlock-keychain` lets the vault lock itself.
    var timeout: UInt32?

    static let limit = 1000

    var searchList: [NamedKeychain] { search.map { $0.compactMap { NamedKeychain($0) } } ?? [.login] }

    var defaultOne: NamedKeychain { defaultKeychain.flatMap { NamedKeychain($0) } ?? .login }

    func knows(_ keychain: NamedKeychain) -> Bool {
        keychain.isLogin || (known ?? []).contains { NamedKeychain($0) == keychain }
    }

    mutating func learn(_ keychain: NamedKeychain) throws(KeychainError) {
        guard !knows(keychain) else { return }
        guard (known ?? []).count < Self.limit else {
            throw KeychainError(.tooLarge, "There are \(Self.limit) keychains. Delete one that is no longer used.")
        }
        known = (known ?? []) + [keychain.path]
    }

    mutating func forget(_ keychain: NamedKeychain) {
        known = known?.filter { NamedKeychain($0) != keychain }
        search = search?.filter { NamedKeychain($0) != keychain }
        if defaultOne == keychain { defaultKeychain = nil }
    }
}
