// SPDX-License-Identifier: Apache-2.0
// The attributes of a password that options name, as conditions of a search or for a new item.

import Foundation
import KeychainEngine
import KeychainKit

/// What `-a`, `-s` and the others say. Numbers and codes are checked here.
struct PasswordAttributes {
    static let genericLetters = "a:s:c:C:D:G:j:l:"
    static let internetLetters = "a:s:c:C:d:D:j:l:p:P:r:t:"

    let itemClass: ItemClass
    var filter = ItemFilter()
    /// macOS stores `dflt` where an item of this vault has no type.
    private var authenticationType: String?

    init(_ options: SecurityOptions, _ itemClass: ItemClass) throws(SecurityFailure) {
        self.itemClass = itemClass
        let isInternet = itemClass == .internetPassword
        filter.account = options["a"]
        if isInternet { filter.server = options["s"] } else { filter.service = options["s"] }
        filter.attributes = ItemAttributes(
            label: options["l"], comment: options["j"], itemDescription: options["D"],
            type: try Self.code(options["C"]), creator: try Self.code(options["c"]),
            generic: isInternet ? nil : options["G"].map { Data($0.utf8) })
        guard isInternet else { return }
        (filter.securityDomain, filter.path) = (options["d"], options["p"])
        filter.port = try Self.port(options["P"])
        if let name = options["r"] {
            _ = try Self.code(name)
            filter.protocol = InternetProtocol(rawValue: name)
        }
        if let type = options["t"] {
            _ = try Self.code(type)
            authenticationType = type
        }
    }

    /// A number of four characters.
    private static func code(_ text: String?) throws(SecurityFailure) -> UInt32? {
        guard let text else { return nil }
        guard text.utf8.count == 4 else {
            throw SecurityFailure(
                text: "Error: four-character types must be exactly 4 characters long.\n"
                    + "Try adding spaces to the end of the code, in quotes.",
                status: 1)
        }
        return text.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func port(_ text: String?) throws(SecurityFailure) -> Int? {
        guard let text else { return nil }
        guard let port = UInt16(text) else { throw .usage("security: a port is a number from 0 to 65535") }
        return Int(port)
    }

    // MARK: - Searching

    /// Like macOS, a search by all parts of the name ignores the other conditions.
    var forSearch: PasswordAttributes {
        var search = self
        let hasName =
            itemClass == .genericPassword
            ? filter.account != nil && filter.service != nil
            : [filter.account, filter.securityDomain, filter.server, filter.protocol?.rawValue, filter.path]
                .allSatisfy { $0 != nil } && filter.port != nil && authenticationType != nil
        if hasName { search.filter.attributes = ItemAttributes() }
        return search
    }

    func matches(_ item: KeychainItem) -> Bool {
        guard let authenticationType else { return true }
        return (item.authenticationType?.rawValue ?? "dflt").utf8.elementsEqual(authenticationType.utf8)
    }

    /// macOS's commands that add have a type in any case.
    func isToUpdate(_ item: KeychainItem) -> Bool {
        (item.authenticationType?.rawValue ?? "dflt").utf8.elementsEqual((authenticationType ?? "dflt").utf8)
    }

    // MARK: - New items

    /// The whole name, so that it matches one item.
    ///
    /// - Parameter group: The access group.
    func name(in group: String) -> Attributes {
        var name: Attributes = [
            .account: .string(filter.account ?? ""), .accessGroup: .string(group), .synchronizable: .number(0),
        ]
        guard itemClass == .internetPassword else {
            name[.service] = .string(filter.service ?? "")
            return name
        }
        name[.server] = .string(filter.server ?? "")
        name[.path] = .string(filter.path ?? "")
        name[.port] = .number(Int64(filter.port ?? 0))
        name[.securityDomain] = .string(filter.securityDomain ?? "")
        name[.protocol] = filter.protocol.map { .string($0.rawValue) } ?? .number(0)
        name[.authenticationType] = .string(authenticationType == "dflt" ? "" : authenticationType ?? "")
        return name
    }

    /// The parts of the name that are given, as conditions of a search, without the type of authentication.
    func givenName(in group: String) -> Attributes {
        let whole = name(in: group)
        var given: Attributes = [.accessGroup: .string(group), .synchronizable: .number(0)]
        let parts: [(Attribute, Bool)] = [
            (.account, filter.account != nil), (.service, filter.service != nil), (.server, filter.server != nil),
            (.path, filter.path != nil), (.port, filter.port != nil), (.protocol, filter.protocol != nil),
            (.securityDomain, filter.securityDomain != nil),
        ]
        for (attribute, isGiven) in parts where isGiven { given[attribute] = whole[attribute] }
        return given
    }

    /// The attributes that are given and not part of the name.
    var others: Attributes {
        let given = filter.attributes
        var others = Attributes()
        others[.label] = given.label.map { .string($0) }
        others[.comment] = given.comment.map { .string($0) }
        others[.itemDescription] = given.itemDescription.map { .string($0) }
        others[.type] = given.type.map { .number(Int64($0)) }
        others[.creator] = given.creator.map { .number(Int64($0)) }
        others[.generic] = given.generic.map { .data($0) }
        return others
    }
}
