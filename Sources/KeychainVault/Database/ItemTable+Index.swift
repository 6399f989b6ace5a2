// SPDX-License-Identifier: Apache-2.0
// The SQL of the index of items.

import Foundation

extension ItemTable {
    /// One entry of the table `lookup`.
    struct LookupEntry: Hashable {
        let digest: Data
        let rowID: Int64
    }

    /// A row that is indexed under another key than its own.
    struct WronglyIndexedRow {
        let rowID: Int64
        let from: KeyDigests
        let to: KeyDigests
    }

    func forEachLookup(_ body: (LookupEntry) -> Void) throws {
        try connection.forEach("SELECT digest, item FROM lookup") { row in
            body(LookupEntry(digest: row.blob(0), rowID: row.number(1) ?? -1))
            return true
        }
    }
}
