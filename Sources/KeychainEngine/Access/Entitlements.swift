// SPDX-License-Identifier: Apache-2.0
// The access groups in an entitlements file: the property list that Xcode writes, read as Apple reads it.

public import Foundation

/// What an entitlements file says about access groups.
///
/// ```swift
/// let entitlements = try Entitlements(bytes, path: "App.entitlements", team: "A1B2C3D4E5")
/// let accessGroups = AccessGroups(entitlements.groups)
/// ```
///
/// Does not prove anything about the program: anyone who can write the file can grant any group.
public struct Entitlements: Hashable, Sendable {
    /// The groups in Apple's order, without duplicates: `keychain-access-groups`, the associated application
    /// identifiers, the application identifier, the application groups, and `com.apple.token` last. Items are added to
    /// the first group.
    public let groups: [String]

    /// Reads a property list in any of its formats.
    ///
    /// An entitlement whose type differs from Apple's is ignored completely. So is an array with an element of another
    /// type.
    ///
    /// - Parameters:
    ///   - bytes: At most ``sizeLimit``.
    ///   - path: The path of the file, for messages.
    ///   - team: The value of `$(AppIdentifierPrefix)`, without its dot. `com.apple.developer.team-identifier` in the
    ///     list takes precedence.
    /// - Throws: `unavailable` if this is not a property list, has no dictionary at its top, is too large or nested too
    ///   deeply, or if an entry has a variable that cannot be expanded.
    public init(_ bytes: Data, path: String, team: String? = nil) throws(KeychainError) {
        let listed = try ListedEntitlements.read(bytes, path)
        let variables = BuildVariables(path: path, team: listed.team ?? team)
        var groups: [String] = []
        // Groups are compared by bytes. As Swift strings, names would be equal that differ in their Unicode form.
        var known: Set<[UInt8]> = []
        for entry in listed.isDenied ? [] : listed.entries {
            let group = try variables.expanded(entry)
            if known.insert(Array(group.utf8)).inserted { groups.append(group) }
        }
        let isToken = AccessGroups.tokenGroup.isIdentical
        self.groups = groups.filter { !isToken($0) } + groups.filter(isToken)
    }

    /// The maximum size of the list: 64 KiB. Lists of real programs have a few thousand bytes.
    public static let sizeLimit = 1 << 16
}

/// One group name as it is in the file.
struct EntitlementEntry {
    let key: String
    let text: String
}

/// The entitlements in the property list, before variables are expanded.
private struct ListedEntitlements: Decodable {
    let isDenied: Bool
    let team: String?
    let entries: [EntitlementEntry]
    private let keyCount: Int

    /// Any key of the list.
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private enum CodingKeys: String, CodingKey {
        case accessGroups = "keychain-access-groups"
        case associatedIdentifiers = "com.apple.developer.associated-application-identifier"
        case identifier = "application-identifier"
        case identifierOnMacOS = "com.apple.application-identifier"
        case applicationGroups = "com.apple.security.application-groups"
        case team = "com.apple.developer.team-identifier"
        case isDenied = "com.apple.private.keychain.deny"
    }

    init(from decoder: any Decoder) throws {
        let list = try decoder.container(keyedBy: CodingKeys.self)
        keyCount = try decoder.container(keyedBy: Key.self).allKeys.count
        isDenied = try list.value(Bool.self, .isDenied) ?? false
        team = try list.value(String.self, .team)
        entries =
            try Self.entries(list, .accessGroups) + Self.entries(list, .associatedIdentifiers)
            + Self.identifier(list) + Self.entries(list, .applicationGroups)
    }

    private static func entries(
        _ list: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys
    ) throws -> [EntitlementEntry] {
        try (list.value(GroupNames.self, key)?.names ?? []).map { EntitlementEntry(key: key.rawValue, text: $0) }
    }

    /// macOS uses another key, which counts only if the first one is absent.
    private static func identifier(_ list: KeyedDecodingContainer<CodingKeys>) throws -> [EntitlementEntry] {
        for key in [CodingKeys.identifier, .identifierOnMacOS] {
            guard let text = try list.value(String.self, key) else { continue }
            return [EntitlementEntry(key: key.rawValue, text: text)]
        }
        return []
    }

    static func read(_ bytes: Data, _ path: String) throws(KeychainError) -> ListedEntitlements {
        guard bytes.count <= Entitlements.sizeLimit else { throw unusable(path, "is larger than 64 KiB") }
        guard mayBeParsed(bytes) else { throw unusable(path, "has too many lists") }
        guard BinaryPropertyList.isPlain(bytes) else { throw unusable(path, "is a damaged property list") }
        // The parser reads blanks as an empty list. More likely the file was not written completely.
        guard bytes.contains(where: { $0 > UInt8(ascii: " ") }) else { throw unusable(path, "is empty") }
        let listed: ListedEntitlements
        do {
            listed = try PropertyListDecoder().decode(ListedEntitlements.self, from: bytes)
        } catch is GroupNames.TooMany {
            throw unusable(path, "lists more than \(GroupNames.limit) groups in one entitlement")
        } catch {
            throw unusable(path, "is not a property list with a dictionary at its root")
        }
        // If several entries have one name, Foundation picks an unpredictable one.
        guard BinaryPropertyList.entryCount(bytes).map({ $0 == listed.keyCount }) ?? true else {
            throw unusable(path, "has two entries of the same name")
        }
        return listed
    }

    /// Whether the nesting is far below the depth at which the XML parser overflows its stack and crashes. Every tag
    /// that can contain others (array, dict, plist) counts, at any depth. Zero bytes are skipped: they come from
    /// UTF-16.
    private static func mayBeParsed(_ bytes: Data) -> Bool {
        guard !bytes.starts(with: Data("bplist".utf8)) else { return true }
        let text = bytes.filter { $0 != 0 }
        let tags = zip(text, text.dropFirst()).count { $0 == UInt8(ascii: "<") && "adp".utf8.contains($1) }
        return tags <= 256
    }

    private static func unusable(_ path: String, _ what: String) -> KeychainError {
        KeychainError(
            .unavailable,
            "The entitlements file '\(path)' lists the access groups of the program, but it \(what). "
                + "Correct or remove it; until then the program cannot use the keychain.")
    }
}

/// An array that contains only strings.
private struct GroupNames: Decodable {
    struct TooMany: Error {}

    let names: [String]

    /// A binary list can refer to one long string many times. The decoded copies would fill the memory.
    static let limit = 1000

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        var names: [String] = []
        while !list.isAtEnd {
            guard names.count < Self.limit else { throw TooMany() }
            names.append(try list.decode(String.self))
        }
        self.names = names
    }
}

extension KeyedDecodingContainer {
    /// `nil` if the entitlement has another type: it is then ignored. Damage is thrown.
    fileprivate func value<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        do {
            return try decodeIfPresent(type, forKey: key)
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            return nil
        }
    }
}
