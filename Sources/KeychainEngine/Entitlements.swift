// SPDX-License-Identifier: Apache-2.0
// The access groups in an entitlements file: the property list that Xcode writes, read as Apple reads it.

public import Foundation

/// What an entitlements file says about access groups.
///
/// ```swift
/// let entitlements = try Entitlements(bytes, path: "App.entitlements", team: "A1B2C3D4E5")
/// let caller = Caller(groups: entitlements.groups)
/// ```
///
/// Does not prove anything about the program: whoever may write the file may grant anything.
public struct Entitlements: Hashable, Sendable {
    /// The groups in Apple's order, each once: `keychain-access-groups`, the associated application identifiers, the
    /// application identifier, the application groups, and `com.apple.token` last. The first is where items are added.
    public let groups: [String]

    /// Reads a property list in any of its formats.
    ///
    /// An entitlement of another type than Apple's is ignored as a whole, an array with one element of another type too.
    ///
    /// - Parameters:
    ///   - bytes: At most ``sizeLimit``.
    ///   - path: Where they come from, for messages.
    ///   - team: What `$(AppIdentifierPrefix)` stands for, without its dot, unless the list has
    ///     `com.apple.developer.team-identifier`.
    /// - Throws: `unavailable` if this is no property list, has no dictionary at its top, is too large or nested too deeply,
    ///   or if an entry holds a variable that cannot be expanded.
    public init(_ bytes: Data, path: String, team: String? = nil) throws(KeychainError) {
        let listed = try ListedEntitlements.read(bytes, path)
        let variables = BuildVariables(path: path, team: listed.team ?? team)
        var groups: [String] = []
        // By bytes, as groups are compared: to Swift, names are equal that differ in their Unicode form.
        var known: Set<[UInt8]> = []
        for entry in listed.isDenied ? [] : listed.entries {
            let group = try variables.expanded(entry)
            if known.insert(Array(group.utf8)).inserted { groups.append(group) }
        }
        let isToken = Caller.tokenGroup.isIdentical
        self.groups = groups.filter { !isToken($0) } + groups.filter(isToken)
    }

    /// The most bytes that are read: 64 KiB. Those of real programs are a few thousand.
    public static let sizeLimit = 1 << 16
}

/// One name of a group as it stands in the file.
struct EntitlementEntry {
    let key: String
    let text: String
}

/// What is read of the property list, before variables are expanded.
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

    /// macOS has another name for it, which counts only without the first.
    private static func identifier(_ list: KeyedDecodingContainer<CodingKeys>) throws -> [EntitlementEntry] {
        for key in [CodingKeys.identifier, .identifierOnMacOS] {
            guard let text = try list.value(String.self, key) else { continue }
            return [EntitlementEntry(key: key.rawValue, text: text)]
        }
        return []
    }

    static func read(_ bytes: Data, _ path: String) throws(KeychainError) -> ListedEntitlements {
        guard bytes.count <= Entitlements.sizeLimit else { throw unusable(path, "is larger than 64 KiB") }
        guard mayBeParsed(bytes) else { throw unusable(path, "holds more lists than entitlements do") }
        // Nothing but blanks is an empty list to the parser, and more likely a file that was never written to its end.
        guard bytes.contains(where: { $0 > UInt8(ascii: " ") }) else { throw unusable(path, "is empty") }
        let listed: ListedEntitlements
        do {
            listed = try PropertyListDecoder().decode(ListedEntitlements.self, from: bytes)
        } catch is GroupNames.TooMany {
            throw unusable(path, "lists more than \(GroupNames.limit) groups in one entitlement")
        } catch {
            throw unusable(path, "is no property list with a dictionary at its top")
        }
        // Foundation takes now one and now another of several entries of one name.
        guard BinaryPropertyList.entryCount(bytes).map({ $0 == listed.keyCount }) ?? true else {
            throw unusable(path, "has two entries of the same name")
        }
        return listed
    }

    /// Whether nesting stays far from where the parser of XML runs out of stack, which would end the program. Each tag that
    /// may hold others (array, dict, plist) counts, however deep it stands; zero bytes are those of UTF-16.
    private static func mayBeParsed(_ bytes: Data) -> Bool {
        guard !bytes.starts(with: Data("bplist".utf8)) else { return true }
        let text = bytes.filter { $0 != 0 }
        let tags = zip(text, text.dropFirst()).count { $0 == UInt8(ascii: "<") && "adp".utf8.contains($1) }
        return tags <= 256
    }

    private static func unusable(_ path: String, _ what: String) -> KeychainError {
        KeychainError(
            .unavailable,
            "The entitlements '\(path)' say which access groups the program may use, but the file \(what). "
                + "Until it is corrected or removed, the program has no keychain.")
    }
}

/// An array of nothing but strings.
private struct GroupNames: Decodable {
    struct TooMany: Error {}

    let names: [String]

    /// A binary list may name one long string many times; decoded, the copies would fill the memory.
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
    /// `nil` for another type too: an entitlement of a wrong type does not count. Damage is thrown.
    fileprivate func value<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        do {
            return try decodeIfPresent(type, forKey: key)
        } catch DecodingError.typeMismatch, DecodingError.valueNotFound {
            return nil
        }
    }
}
