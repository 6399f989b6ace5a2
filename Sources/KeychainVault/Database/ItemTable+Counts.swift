// SPDX-License-Identifier: Apache-2.0
// The number of rows of each kind.

extension ItemTable {
    func count() throws -> Int { Int(try connection.number("SELECT count(*) FROM item") ?? 0) }

    /// The number of items of a class, including quarantined ones.
    func count(of keyClass: UInt8) throws -> Int {
        try ["item", "quarantine"].reduce(0) { count, table in
            try count
                + Int(
                    connection.number("SELECT count(*) FROM \(table) WHERE class = ?", [.number(Int64(keyClass))]) ?? 0)
        }
    }

    /// The bytes of a row, without reading them; 0 if there is none.
    func length(ofRow rowID: Int64) throws -> Int {
        Int(try connection.number(Statements.length, [.number(rowID)]) ?? 0)
    }

    /// The bytes of the largest row, also of quarantined ones. Looks at each row.
    func largestLength() throws -> Int {
        try ["item", "quarantine"].reduce(0) { length, table in
            let found = try connection.number("SELECT max(length(metadata) + coalesce(length(value), 0)) FROM \(table)")
            return max(length, Int(found ?? 0))
        }
    }

    /// How many rows are sealed under each key, according to their columns.
    func keyUse() throws -> KeyUse {
        KeyUse(items: try counts(in: "item"), quarantined: try counts(in: "quarantine"))
    }

    private func counts(in table: String) throws -> [ClassKeyName: Int] {
        var counts: [ClassKeyName: Int] = [:]
        try connection.forEach("SELECT class, generation, count(*) FROM \(table) GROUP BY class, generation") { row in
            // As when rows are read, a damaged number becomes one that no key has.
            let name = ClassKeyName(
                keyClass: UInt8(clamping: row.number(0) ?? 0), generation: UInt32(clamping: row.number(1) ?? 0))
            counts[name, default: 0] += Int(row.number(2) ?? 0)
            return true
        }
        return counts
    }

    /// Of several ways to narrow a search, the one that leaves the fewest rows, according to a short count.
    func narrowest(_ choices: [Candidates]) throws -> Candidates {
        guard choices.count > 1 else { return choices.first ?? .all }
        var best: (choice: Candidates, count: Int)?
        for choice in choices {
            let count = try shortCount(choice)
            if best.map({ count < $0.count }) ?? true { best = (choice, count) }
        }
        return best?.choice ?? .all
    }

    private func shortCount(_ candidates: Candidates) throws -> Int {
        let sql: SQL
        switch candidates {
        case .major: sql = Statements.shortCountOfMajor
        case .lookup: sql = Statements.shortCountOfLookup
        case .all, .row, .key, .minor, .keyClass: return .max
        }
        return Int(try connection.number(sql, candidates.arguments) ?? 0)
    }

    func lookupCount() throws -> Int { Int(try connection.number("SELECT count(*) FROM lookup") ?? 0) }

    func quarantineCount() throws -> Int { Int(try connection.number("SELECT count(*) FROM quarantine") ?? 0) }
}
