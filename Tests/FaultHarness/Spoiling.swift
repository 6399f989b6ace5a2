// SPDX-License-Identifier: Apache-2.0
// Changes behind a vault's back, which no call of the vault makes.

import Foundation
import KeychainEngine
import KeychainVault

/// Spoils a vault that opens with the device key.
struct Spoiling {
    let place: Place
    let vault: Vault

    /// Leaves these items in the quarantine, where they open.
    func quarantine(_ items: [String: String]) throws {
        for (account, value) in items { try vault.add(account, value) }
        try run("INSERT INTO quarantine SELECT *, 1 FROM item; DELETE FROM item; DELETE FROM lookup")
        _ = try vault.accept()
    }

    /// - Returns: The number of the row of an item that is added.
    func addOne() throws -> Int64 {
        try vault.add("gone", "value")
        return try database { try $0.number("SELECT id FROM item") } ?? 0
    }

    func remove(_ row: Int64) throws { try run("DELETE FROM item WHERE id = \(row)") }

    /// Removes the entries of one item, and adds one that fits none to each.
    func spoilIndex() throws {
        var item = Items.item("labelled", "value")
        item.attributes[.label] = .string("label")
        _ = try Engine(store: vault).add(item, accessGroups: .unrestricted)
        try run("DELETE FROM lookup; INSERT INTO lookup SELECT randomblob(16), id FROM item")
    }

    private func run(_ statements: SQL) throws {
        try database { connection in
            try connection.execute(statements)
            try connection.truncateWAL()
        }
    }

    private func database<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try Vault.closeAll()
        let connection = try Connection(place.folder + "/vault.db")
        let result = try body(connection)
        try connection.close()
        return result
    }
}
