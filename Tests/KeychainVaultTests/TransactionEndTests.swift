// SPDX-License-Identifier: Apache-2.0
// Transactions that SQLite ended by itself, that cannot be rolled back, or that have ended: nothing more is written.

import CKeychainSQLite
import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct TransactionEndTests {
    private struct Refused: Error {}

    private let test: TestVault

    init() throws {
        test = try TestVault()
        try test.engine.add(Self.item("before"))
    }

    private static func item(_ account: String) -> Query { .genericPassword("exerciser", account, value: "v") }

    private static func newItem(_ account: String) -> Item {
        Item(
            itemClass: .genericPassword, attributes: [.service: .string("exerciser"), .account: .string(account)],
            accessControl: AccessControl(.whenUnlocked), value: Data("v".utf8))
    }

    private func accounts() throws -> [String] { try test.state().keys.sorted() }

    /// As SQLite does after some errors.
    private static func rollBackAlone(_ transaction: VaultTransaction) throws {
        try transaction.content.items.connection.execute("ROLLBACK")
    }

    @Test func body_thatContinuesAfterSQLiteHasRolledBack_storesNothing() throws {
        let failure = reason {
            _ = try test.vault.write(.items) { transaction in
                _ = try transaction.insert(Self.newItem("first"), .none)
                try Self.rollBackAlone(transaction)
                #expect(reason { _ = try transaction.insert(Self.newItem("second"), .none) } == .inputOutput)
                #expect(
                    reason { _ = try transaction.delete(Selection(itemClass: .genericPassword), .none) } == .inputOutput
                )
            }
        }
        #expect(failure == .inputOutput)
        #expect(try accounts() == ["before"])
    }

    @Test func body_thatDoesNothingAfterSQLiteHasRolledBack_isNotReportedAsDone() throws {
        let failure = reason {
            _ = try test.vault.write(.items) { transaction in
                _ = try transaction.insert(Self.newItem("first"), .none)
                try Self.rollBackAlone(transaction)
            }
        }
        #expect(failure == .inputOutput)
        #expect(try accounts() == ["before"])
        try test.engine.add(Self.item("after"))
        #expect(try accounts() == ["after", "before"])
    }

    @Test func transaction_thatWasKept_writesNothingAfterItsEnd() throws {
        var kept: VaultTransaction?
        _ = try test.vault.write(.items) { kept = $0 }
        let transaction = try #require(kept)
        #expect(reason { _ = try transaction.insert(Self.newItem("late"), .none) } == .invalidParameter)
        #expect(try accounts() == ["before"])
    }

    /// The error of the body is the one to tell, and the database must not stay locked.
    @Test func transaction_thatCannotBeRolledBack_leavesTheDatabaseFree() throws {
        #expect(throws: KeychainError.self) {
            _ = try test.vault.write(.items) { transaction in
                _ = try transaction.insert(Self.newItem("first"), .none)
                try Self.denyRollback(transaction.content.items.connection)
                throw KeychainError(.typeMismatch, "the body's")
            }
        }
        #expect(try test.exercise("add", "other", "v").output == "done\n")
        try test.engine.add(Self.item("after"))
        #expect(try accounts() == ["after", "before", "other"])
    }

    /// SQLite prepares all statements again afterwards, and refuses this one.
    private static func denyRollback(_ connection: Connection) throws {
        try connection.setAuthorizer { _, action, operation, _, _, _ in
            action == SQLITE_TRANSACTION && operation.map { String(cString: $0) } == "ROLLBACK"
                ? SQLITE_DENY : SQLITE_OK
        }
    }

    @Test func database_withAnUnknownSchemaFormat_isCorruptAndCanBeRestored() throws {
        let backup = test.root + "/backup"
        _ = try test.vault.backup(to: backup)
        try test.vault.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: test.databaseFile))
        try file.seek(toOffset: 47)
        try file.write(contentsOf: Data([5]))
        try file.close()
        #expect(reason { _ = try test.reopened().text(Self.item("before")) } == .corrupt)
        _ = try test.another().restore(from: backup, force: true)
        #expect(try accounts() == ["before"])
    }

    /// A program that reads a secret and then goes into the background, as daemons do.
    @Test func child_whoseParentHasEnded_losesNothingThatItAdds() throws {
        let mark = test.root + "/mark"
        #expect(try test.exercise("fork-and-end", mark).output == "done\n")
        let other = test.another()
        try other.engine.add(Self.item("other"))
        try other.close()
        #expect(FileManager.default.createFile(atPath: mark + ".go", contents: nil))
        try waitUntil("The child") { FileManager.default.fileExists(atPath: mark + ".end") }
        #expect(try accounts() == ["before", "child-1", "child-2", "other", "parent"])
    }

    /// Swift's mutex would end a child whose threads meet at a lock that its parent has used.
    @Test func childWithSeveralThreads_readsAndAdds() throws {
        #expect(try test.exercise("fork-and-use-threads").output == "child 0\ndone\n")
        #expect(try accounts() == ["before", "child-0", "child-1", "child-2", "child-3", "parent"])
    }

    /// It inherits the lock file's descriptor, and with it the lock.
    @Test func child_forkedDuringAWrite_doesNotKeepTheLock() throws {
        #expect(try test.exercise("fork-while-locked").output == "written\nadded\ndone\n")
        #expect(try accounts() == ["before", "other", "parent"])
    }

    @Test func child_ofAParentThatWasOpeningTheVault_isToldSoAndDoesNotWait() throws {
        #expect(try test.exercise("fork-while-opening").output == "child unavailable\nchild 0\ndone\n")
    }
}
