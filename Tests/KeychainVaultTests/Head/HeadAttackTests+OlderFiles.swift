// SPDX-License-Identifier: Apache-2.0
// Older files that are put back: the vault notices them.

import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

extension HeadAttackTests {
    static let databaseFiles = ["vault.db", "vault.db-wal"]

    static func copy(_ test: TestVault) throws -> [String: Data] {
        try test.files().filter { path, _ in databaseFiles.contains { path == test.location.folder + "/" + $0 } }
    }

    static func putBack(_ files: [String: Data], _ test: TestVault) throws {
        try test.vault.close()
        for name in databaseFiles + ["vault.db-shm"] { unlink(test.location.folder + "/" + name) }
        for (path, bytes) in files { try test.place(bytes, at: path) }
    }

    @Test func wal_dropped_isNoticed() throws {
        let test = try TestVault()
        for number in 1...3 { try Self.add(test, number) }
        var files = try Self.copy(test)
        files[test.databaseFile + "-wal"] = nil
        try Self.putBack(files, test)
        try Self.expectReadOnly(test, [.older(changes: 3)], items: 0)
        try Self.expectAcceptedInOneStep(test, [.older(changes: 3)])
    }

    @Test(arguments: [true, false])
    func olderFile_putBack_isNoticed(_ hasWAL: Bool) throws {
        let test = try TestVault()
        for number in 1...2 { try Self.add(test, number) }
        if !hasWAL { try test.vault.close() }
        let files = try Self.copy(test)
        #expect(files.count == (hasWAL ? 2 : 1))
        for number in 3...5 { try Self.add(test, number) }
        try Self.putBack(files, test)
        try Self.expectReadOnly(test, [.older(changes: 3)], items: 2)
        #expect(Self.doctorsProblems(test).first?.contains("3 changes older") ?? false)
        try Self.expectAcceptedInOneStep(test, [.older(changes: 3)])
    }

    @Test func vaultBeforeItsAcceptance_putBack_isNoticed() throws {
        let test = try Self.vaultWithThreeItems()
        let first = try Self.copy(test)
        try Self.add(test, 4)
        try Self.putBack(first, test)
        try test.another().accept()
        try Self.putBack(first, test)
        try Self.expectReadOnly(test, [.older(changes: 2)], items: 3)
    }

    /// A connection to it, and the keybag that it had before a protector was added.
    static func vaultWithAnOlderKeybag() throws -> (TestVault, Connection, Data?) {
        let test = try vaultWithThreeItems()
        let queue = try Connection(test.databaseFile)
        let old = try KeybagTable(queue).copies()[0]
        let vault = test.another()
        try vault.addProtector(.keyFile())
        try vault.close()
        return (test, queue, old)
    }

    @Test func olderKeybag_putBackAlone_isNoticed() throws {
        let (test, queue, old) = try Self.vaultWithAnOlderKeybag()
        try KeybagTable(queue).write(#require(old))
        try queue.close()
        try Self.expectReadOnly(test, [.otherKeybag], items: 3)
        try Self.expectAcceptedInOneStep(test, [.otherKeybag])
    }

    @Test func olderKeybag_putBackInOneCopy_isRepairedWithoutAWord() throws {
        let (test, queue, old) = try Self.vaultWithAnOlderKeybag()
        try queue.execute("UPDATE keybag SET bytes = ?", [.blob(#require(old))])
        try queue.close()
        #expect(try test.another().headFindings(wholeVault: true) == [])
        try test.another().engine.add(.genericPassword("service", "new", value: "v"))
        #expect(try test.another().headFindings(wholeVault: true) == [])
        #expect(try !test.another().status().isKeybagCopyDamaged)
    }

    @Test func olderVersionOfARow_putBack_isNoticed() throws {
        let test = try Self.vaultWithThreeItems()
        let queue = try Connection(test.databaseFile)
        try queue.execute("CREATE TABLE earlier AS SELECT * FROM item WHERE id = 2")
        var old: [SQLValue] = []
        try queue.forEach("SELECT version, metadata, value FROM earlier") { row in
            old = [row.number(0).map(SQLValue.number) ?? .null, .blob(row.blob(1)), .blob(row.blob(2))]
            return false
        }
        try queue.execute("DROP TABLE earlier")
        let vault = test.another()
        try vault.engine.update(.genericPassword("service", "account-2"), value: "changed")
        try vault.close()
        try queue.execute("UPDATE item SET version = ?, metadata = ?, value = ? WHERE id = 2", old)
        try queue.close()
        try Self.expectReadOnly(test, [.changed(.items)], items: 3)
        try Self.expectAcceptedInOneStep(test, [.changed(.items)])
    }

    @Test func olderHead_putBackAlone_isNoticed() throws {
        let test = try Self.vaultWithThreeItems()
        let queue = try Connection(test.databaseFile)
        let old = try HeadTable(queue).read()
        let vault = test.another()
        try vault.engine.add(.genericPassword("service", "account-4", value: "v"))
        try vault.close()
        try HeadTable(queue).write(#require(old))
        try queue.close()
        try Self.expectReadOnly(test, [.older(changes: 1), .added(.items, 1)], items: 4)
    }

    /// It stays the same file with the same keybag, so only the head tells.
    @Test func olderHead_putBackUnderAnOpenVault_isNoticedByTheNextWrite() throws {
        let test = try Self.vaultWithThreeItems()
        let queue = try Connection(test.databaseFile)
        let old = try HeadTable(queue).read()
        let vault = test.another()
        try vault.engine.add(.genericPassword("service", "account-4", value: "v"))
        try HeadTable(queue).write(#require(old))
        try queue.close()
        #expect(reason { try vault.engine.add(.genericPassword("service", "account-5", value: "v")) } == .rolledBack)
        #expect(try Self.values(test) == 4)
    }
}
