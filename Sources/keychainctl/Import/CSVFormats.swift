// SPDX-License-Identifier: Apache-2.0
// The CSV exports of KeePassXC, Firefox, Chrome and 1Password.

import Foundation
import KeychainKit

/// Which column has what. A column that is not named here has its content reported as left out.
struct CSVFormat {
    /// With its article, for messages.
    let name: String
    var title: String?
    let address = "url"
    let account = "username"
    let password = "password"
    /// A column that only this format has, so that the export of another program is not taken for it.
    let mark: String
    /// The columns of further secrets, and what the items are called.
    var extras: [(column: String, name: String)] = []
    /// A part of the name of an item, beside the address.
    var realm: String?
    /// The path of its groups.
    var group: String?
    /// Columns that say nothing of the secret, such as times. They are passed over.
    var ignored: Set<String> = []

    static let keepassxc = CSVFormat(
        name: "a CSV export of KeePassXC", title: "title", mark: "group",
        extras: [("notes", "notes"), ("totp", "one-time password")], group: "group",
        ignored: ["icon", "last modified", "created"])
    static let firefox = CSVFormat(
        name: "a CSV export of Firefox", mark: "httprealm", realm: "httprealm",
        ignored: ["formactionorigin", "guid", "timecreated", "timelastused", "timepasswordchanged"])
    static let chrome = CSVFormat(
        name: "a CSV export of Chrome", title: "name", mark: "name", extras: [("note", "notes")])
    static let onePassword = CSVFormat(
        name: "a CSV export of 1Password", title: "title", mark: "otpauth",
        extras: [("notes", "notes"), ("otpauth", "one-time password")],
        ignored: ["favorite", "archived", "tags"])

    func records(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportRecord] {
        var table = try CSVTable(bytes)
        defer {
            for row in table.rows.indices {
                for field in table.rows[row].fields.indices { table.rows[row].fields[field].wipe() }
            }
        }
        _ = try table.index(mark, of: name)
        let columns = try Columns(self, table)
        return table.rows.flatMap { records(of: $0, columns) }
    }

    private func records(of row: CSVTable.Row, _ columns: Columns) -> [ImportRecord] {
        var login = ImportedLogin(origin: "line \(row.line)")
        login.title = columns.title.map { row.text($0) } ?? ""
        login.addresses = [row.text(columns.address)]
        login.account = row.text(columns.account)
        login.password = Data(Array(row.fields[columns.password]))
        for (column, name) in columns.extras { login.add(name, Data(Array(row.fields[column]))) }
        let others = columns.others.count { !row.fields[$0].isEmpty }
        if others > 0 { login.leftOut.append("\(others) column(s) that no item is made of are not imported") }
        login.realm = columns.realm.map { row.text($0) } ?? ""
        // The outermost group is the database.
        let groups = columns.group.map { row.text($0).split(separator: "/").dropFirst() } ?? []
        login.group = groups.joined(separator: "/")
        return login.records
    }

    private struct Columns {
        let title: Int?
        let address: Int
        let account: Int
        let password: Int
        let realm: Int?
        let group: Int?
        var extras: [(Int, String)] = []
        /// Columns that are not known.
        let others: [Int]

        init(_ format: CSVFormat, _ table: CSVTable) throws(KeychainError) {
            title = if let title = format.title { try table.index(title, of: format.name) } else { nil }
            realm = if let realm = format.realm { try table.index(realm, of: format.name) } else { nil }
            group = if let group = format.group { try table.index(group, of: format.name) } else { nil }
            address = try table.index(format.address, of: format.name)
            account = try table.index(format.account, of: format.name)
            password = try table.index(format.password, of: format.name)
            for extra in format.extras {
                // Older versions of these programs lack some columns.
                if let index = try table.optionalIndex(extra.column, of: format.name) {
                    extras.append((index, extra.name))
                }
            }
            let read = [title, realm, group, address, account, password].compactMap { $0 } + extras.map(\.0)
            others = table.columns.indices.filter { !read.contains($0) && !format.ignored.contains(table.columns[$0]) }
        }
    }
}

extension CSVTable.Row {
    fileprivate func text(_ column: Int) -> String { String(decoding: fields[column], as: UTF8.self) }
}
