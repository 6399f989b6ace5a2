// SPDX-License-Identifier: Apache-2.0
// The table of items for people.

import Foundation
import KeychainAuthenticators
import KeychainKit

struct ItemListing {
    private static let header = ["CLASS", "SERVICE/SERVER", "ACCOUNT", "LABEL", "GROUP", "MODIFIED"]

    private static let names = ["SERVICE/SERVER", "ACCOUNT", "LABEL", "GROUP", "SECURITY DOMAIN"]

    private let items: [ListedItem]

    init(items: [ListedItem]) {
        self.items = items.sorted { $0.sortingKey.lexicographicallyPrecedes($1.sortingKey) }
    }

    /// - Parameter wide: Whether names are shown whole on a terminal too.
    func print(asJSON: Bool, wide: Bool) throws(KeychainError) {
        try Output.write(
            asJSON ? JSONOutput.line(items.map(ItemJSON.init)) : text(within: wide ? nil : Output.columns))
    }

    /// A line of titles, and one line for each item; empty if there are no items. Expiry dates,
    /// whether items require authentication, and security domains are in columns that exist only if they are needed.
    ///
    /// - Parameter limit: The columns of the terminal, to which names are shortened; `nil` for no limit.
    private func text(within limit: Int?) -> String {
        guard !items.isEmpty else { return "" }
        var (header, rows) = (Self.header, items.map(\.cells))
        func add(_ title: String, _ cell: (ListedItem) -> String?) {
            let cells = items.map(cell)
            guard cells.contains(where: { $0 != nil }) else { return }
            header.append(title)
            for (index, cell) in cells.enumerated() { rows[index].append(cell ?? "-") }
        }
        add("EXPIRES") { $0.expires?.timestamp(withFraction: false) }
        add("PROTECTED") { $0.requiresAuthentication ? "asks" : nil }
        add("SECURITY DOMAIN") { $0.securityDomain?.escapingControls() }
        return TextTable(header: header, rows: rows, cut: Self.names).text(within: limit)
    }
}

extension ListedItem {
    /// Its part of a row, without the last column.
    var cells: [String] {
        let modified = modified?.timestamp(withFraction: false)
        return [itemClass.name, place, account, label, accessGroup, modified].map { cell in
            // An empty cell would shift the others for programs that parse columns.
            cell.flatMap { $0.isEmpty ? nil : $0.escapingControls() } ?? "-"
        }
    }

    /// The service, or the server with the parts that distinguish it from others of the same name.
    private var place: String? {
        guard itemClass == .internetPassword else { return service }
        let scheme = protocolName.map { $0 + "://" } ?? ""
        let port = port.map { ":\($0)" } ?? ""
        // The colons of an IPv6 address would run into the port.
        let host = server.map { $0.utf8.contains(UInt8(ascii: ":")) ? "[\($0)]" : $0 } ?? ""
        return scheme + host + port + (path ?? "")
    }
}

extension ListedItem {
    fileprivate var sortingKey: [String] {
        [itemClass.name, service ?? server ?? "", account ?? "", accessGroup, protocolName ?? ""]
            + [String(port ?? 0), path ?? "", securityDomain ?? ""]
    }
}
