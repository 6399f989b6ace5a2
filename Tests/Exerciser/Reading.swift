// SPDX-License-Identifier: Apache-2.0
// A reader that does not end.

import Foundation
import GRDB

/// Keeps a read transaction open until the input ends.
func holdRead(_ folder: String) throws {
    var configuration = Configuration()
    configuration.readonly = true
    let queue = try DatabaseQueue(path: folder + "/vault.db", configuration: configuration)
    try queue.read { db in
        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM item")
        print("reading")
        fflush(nil)
        while readLine() != nil {}
    }
    try queue.close()
}
