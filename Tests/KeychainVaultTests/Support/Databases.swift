// SPDX-License-Identifier: Apache-2.0
// Changing a vault's tables behind its back.

import Foundation
import KeychainEngine

@testable import KeychainVault

/// A plain connection to a database file, closed with the object.
struct PlainDatabase {
    let connection: Connection

    init(_ path: String) throws { connection = try Connection(path) }

    func run(_ statements: String) throws {
        try connection.execute(SQL(stringLiteral: statements))
        try connection.truncateWAL()
        try connection.close()
    }
}

extension TestVault {
    /// Closes the vault and leaves SQLite's companion files in place, as a process that was killed would.
    func closeKeepingWALFiles() throws {
        try vault.close()
        for name in ["vault.db-wal", "vault.db-shm"]
        where !FileManager.default.fileExists(atPath: location.folder + "/" + name) {
            try place(Data(), at: location.folder + "/" + name)
        }
    }
}

/// The failure that `body` ends with; `nil` if it succeeds.
func failure(_ body: () throws -> Void) -> KeychainError? {
    do {
        try body()
        return nil
    } catch {
        return error as? KeychainError
    }
}
