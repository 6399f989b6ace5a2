// SPDX-License-Identifier: Apache-2.0
// An entry of a password manager: one item for the password, and one for each further secret.

import Foundation
import KeychainKit

struct ImportedLogin {
    let origin: String
    var title = ""
    /// The addresses; the first one names the item.
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

    init(origin: String) { self.origin = origin }

    mutating func add(_ name: String, _ value: Data?) {
        guard let value, !value.isEmpty else { return }
        extras.append((name, value))
    }

    mutating func add(_ name: String, _ value: String?) { add(name, value.map { Data($0.utf8) }) }

    var records: [ImportRecord] {
        let missing =
            unsupported.map { ImportRecord(skipping: displayName, $0, origin: origin) }
            + leftOut.map { ImportRecord(leavingOut: displayName, $0, origin: origin) }
        guard let place else {
            return [ImportRecord(skipping: nil, "it has neither a title nor an address", origin: origin)] + missing
        }
        let items = (password.isEmpty ? [] : [item(place)]) + extras.map { extra(place, $0.name, $0.value) }
        guard !items.isEmpty || !unsupported.isEmpty else {
            return [ImportRecord(skipping: displayName, "it has no password", origin: origin)] + missing
        }
        return items.map { ImportRecord($0, origin: origin) } + missing
    }

    private var displayName: String { title.isEmpty ? place?.text ?? "" : title }

    private var place: ImportedPlace? {
        if let server = addresses.lazy.compactMap(WebAddress.server).first { return .server(server) }
        let name = title.isEmpty ? addresses.first ?? "" : title
        return name.isEmpty ? nil : .service(name)
    }

    private func item(_ place: ImportedPlace) -> ImportedItem {
        ImportedItem(
            place: place, account: account, value: password, label: title.isEmpty ? nil : title, comment: comment
        )
    }

    private func extra(_ place: ImportedPlace, _ name: String, _ value: Data) -> ImportedItem {
        ImportedItem(
            place: .service(place.text), account: account.isEmpty ? "(\(name))" : "\(account) (\(name))", value: value,
            label: title.isEmpty ? nil : title, kind: name)
    }

    private var comment: String? {
        let others = addresses.dropFirst().filter { !$0.isEmpty }
        let parts = [
            group.isEmpty ? nil : "Group: " + group,
            others.isEmpty ? nil : "Other addresses: " + others.joined(separator: " "),
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
