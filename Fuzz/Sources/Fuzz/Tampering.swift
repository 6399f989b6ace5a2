// SPDX-License-Identifier: Apache-2.0
// Changes of a database file, as the input tells.

import Foundation

@testable import KeychainVault

enum Tampering {
    /// Changes bytes of the file: overwrites, fills, copies and cuts.
    static func change(_ database: inout Data, _ input: inout FuzzInput) {
        for _ in 0..<64 where !input.isEmpty { changeOnce(&database, &input) }
    }

    private static func changeOnce(_ database: inout Data, _ input: inout FuzzInput) {
        guard !database.isEmpty else { return }
        let (kind, start) = (input.byte() % 6, input.index(database.count))
        switch kind {
        case 0, 1, 2: replace(&database, start, input.bytes())
        case 3: replace(&database, start, Data(repeating: input.byte(), count: 1 + input.index(4096)))
        case 4:
            let from = input.index(database.count)
            replace(&database, start, Data(database[from...].prefix(1 + input.index(4096))))
        default: database = start < database.count / 2 ? database + input.bytes() : Data(database.prefix(start))
        }
    }

    private static func replace(_ database: inout Data, _ start: Int, _ bytes: Data) {
        let end = min(database.count, start + bytes.count)
        database.replaceSubrange(start..<end, with: bytes.prefix(end - start))
    }

    // MARK: - Rows

    /// Changes columns of rows through SQLite, so that all else in the file fits them. Leaves no WAL.
    static func changeRows(_ path: String, _ input: inout FuzzInput) {
        guard let connection = try? Connection(path) else { return }
        try? connection.writing { connection in
            for _ in 0..<16 where !input.isEmpty { try? change(connection, &input) }
        }
        try? connection.close()
    }

    private static let columns = [
        "item": ["id", "uuid", "version", "class", "generation", "major", "minor", "scope", "metadata", "value"],
        "lookup": ["digest", "item"], "keybag": ["bytes"], "keybag_copy": ["bytes"], "head": ["bytes"],
        "quarantine": ["id", "class", "generation", "metadata", "value", "set_aside"],
    ]
    private static let tables = columns.keys.sorted()

    private static func change(_ connection: Connection, _ input: inout FuzzInput) throws {
        let table = input.element(of: tables)
        let column = input.element(of: columns[table] ?? [])
        let row = "rowid = (SELECT rowid FROM \(table) ORDER BY rowid LIMIT 1 OFFSET \(input.index(30)))"
        let condition = table == "lookup" ? "item = \(input.index(30))" : row
        switch input.byte() % 6 {
        case 0: try connection.execute("UPDATE \(table) SET \(column) = ? WHERE \(condition)", [.blob(input.bytes())])
        case 1:
            try connection.execute(
                "UPDATE \(table) SET \(column) = ? WHERE \(condition)", [.number(input.number(Int64.self))])
        case 2: try connection.execute("DELETE FROM \(table) WHERE \(condition)")
        case 3:
            let other = "(SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(input.index(30)))"
            try connection.execute("UPDATE \(table) SET \(column) = \(other) WHERE \(condition)")
        case 4: try connection.execute("INSERT OR REPLACE INTO quarantine SELECT *, 1 FROM item WHERE \(condition)")
        default:
            let old = try connection.blob("SELECT CAST(\(column) AS BLOB) FROM \(table) WHERE \(condition)")
            guard var bytes = old, !bytes.isEmpty else { return }
            replace(&bytes, input.index(bytes.count), input.bytes())
            try connection.execute("UPDATE \(table) SET \(column) = ? WHERE \(condition)", [.blob(bytes)])
        }
    }
}
