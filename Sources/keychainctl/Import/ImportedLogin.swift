// SPDX-License-Identifier: Apache-2.0
// An entry of a password manager: one item for the password, and one for each further secret.

import Foundation
import KeychainKit

struct ImportedLogin {
    let origin: String
    var title = ""
    /// The addresses; the first one of a server names the item.
    var addresses: [String] = []
    var account = ""
    var password = Data()
    /// Notes, one-time passwords and hidden fields. They may be secret, so each is the value of an item of its own and
    /// not an attribute.
    var extras: [(name: String, value: Data)] = []
    /// Why parts of the entry are not imported.
    var unsupported: [String] = []
    /// Which parts of the entry no import takes.
    var leftOut: [String] = []
    /// The groups that the entry is in, from the outermost one: `Web/Team`.
    var group = ""
    /// A realm of HTTP authentication, which distinguishes logins of one server.
    var realm = ""

    init(origin: String) { self.origin = origin }

    mutating func add(_ name: String, _ value: Data?) {
        guard let value, !value.isEmpty else { return }
        extras.append((name, value))
    }

    mutating func add(_ name: String, _ value: String?) { add(name, value.map { Data($0.utf8) }) }

    var records: [ImportRecord] {
        let read = addresses.map { WebAddress($0) }
        let (place, chosen) = place(read)
        let name: String? = title.isEmpty ? place?.text : title
        let missing =
            unsupported.map { ImportRecord(skipping: name, $0, origin: origin) }
            + (leftOut + partsLeftOut(read)).map { ImportRecord(leavingOut: name, $0, origin: origin) }
        guard let place else {
            return [ImportRecord(skipping: nil, "it has neither a title nor an address", origin: origin)] + missing
        }
        var items = (password.isEmpty ? [] : [item(place)]) + extras.map { extra(place, $0.name, $0.value) }
        guard !items.isEmpty else {
            // A reason of a part is that of the entry, if this has nothing else.
            let isSaid = !unsupported.isEmpty && account.isEmpty && addresses.isEmpty
            return (isSaid ? [] : [ImportRecord(skipping: name, "it has no password", origin: origin)]) + missing
        }
        // Entries without a password have groups and further addresses too.
        items[0].comment = comment(read, chosen)
        return items.map { ImportRecord($0, origin: origin) } + missing
    }

    /// - Returns: Also which of the addresses it is from.
    private func place(_ read: [WebAddress]) -> (ImportedPlace?, Int?) {
        if let index = read.firstIndex(where: { $0.server != nil }), var server = read[index].server {
            if !realm.isEmpty { server.securityDomain = realm }
            return (.server(server), index)
        }
        if !title.isEmpty { return (.service(title), nil) }
        let index = read.firstIndex { !$0.text.isEmpty }
        return (index.map { .service(read[$0].text) }, index)
    }

    private func item(_ place: ImportedPlace) -> ImportedItem {
        ImportedItem(place: place, account: account, value: password, label: title.isEmpty ? nil : title)
    }

    private func extra(_ place: ImportedPlace, _ name: String, _ value: Data) -> ImportedItem {
        ImportedItem(
            place: .service(place.text), account: account.isEmpty ? "(\(name))" : "\(account) (\(name))", value: value,
            label: title.isEmpty ? nil : title, kind: name)
    }

    // MARK: - Addresses

    /// User names, queries and fragments of addresses are often tokens. Names and comments of items are no secrets.
    private func partsLeftOut(_ read: [WebAddress]) -> [String] {
        ["user name", "query", "fragment"].compactMap { kind in
            let count = read.count { $0.leftOut.contains(kind) }
            guard count > 0 else { return nil }
            return "the \(kind) of \(count == 1 ? "an address" : "\(count) addresses") is not imported"
        }
    }

    private func comment(_ read: [WebAddress], _ chosen: Int?) -> String? {
        let others = read.indices.filter { $0 != chosen && !read[$0].text.isEmpty }.map { read[$0].text }
        var isServer: Bool { chosen.map { read[$0].server != nil } ?? false }
        let parts = [
            group.isEmpty ? nil : "Group: " + group,
            others.isEmpty
                ? nil : (chosen == nil ? "Addresses: " : "Other addresses: ") + others.joined(separator: " "),
            realm.isEmpty || isServer ? nil : "Realm: " + realm,
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
