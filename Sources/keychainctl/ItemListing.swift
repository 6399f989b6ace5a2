// SPDX-License-Identifier: Apache-2.0
// The table of items for people.

import Foundation
import KeychainAuthenticators
import KeychainKit

struct ItemListing {
    private static let header = ["CLASS", "SERVICE/SERVER", "ACCOUNT", "LABEL", "GROUP", "MODIFIED"]

    let items: [ListedItem]

    /// One line for each item under a line of titles; nothing at all if there are no items. Items that require
    /// authentication are marked, in a column that is there only if it is needed.
    var text: String {
        guard !items.isEmpty else { return "" }
        guard items.contains(where: \.requiresAuthentication) else {
            return TextTable(header: Self.header, rows: items.map(\.cells)).text
        }
        let rows = items.map { $0.cells + [$0.requiresAuthentication ? "asks" : "-"] }
        return TextTable(header: Self.header + ["PROTECTED"], rows: rows).text
    }
}

/// Columns, each as wide as its longest cell.
struct TextTable {
    let header: [String]
    let rows: [[String]]

    var text: String {
        let rows = [header] + rows
        let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { Self.line($0, widths) + "\n" }.joined()
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        let last = cells.count - 1
        let padded = zip(cells, widths).prefix(last).map { cell, width in
            cell + String(repeating: " ", count: width - cell.count)
        }
        return (padded + [cells[last]]).joined(separator: "  ")
    }
}

extension ListedItem {
    fileprivate var cells: [String] {
        let modified = modified?.timestamp(withFraction: false)
        return [itemClass.name, place, account, label, accessGroup, modified].map { cell in
            // An empty cell would shift the others for programs that parse columns.
            cell.flatMap { $0.isEmpty ? nil : $0.escapingControls() } ?? "-"
        }
    }

    /// The service, or the server with what tells it from others of the same name.
    private var place: String? {
        guard itemClass == .internetPassword else { return service }
        let scheme = protocolCode.map { $0.trimmingCharacters(in: .whitespaces) + "://" } ?? ""
        let port = port.map { ":\($0)" } ?? ""
        return scheme + (server ?? "") + port + (path ?? "")
    }
}
