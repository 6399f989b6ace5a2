// SPDX-License-Identifier: Apache-2.0
// A vault that is put back, or changed behind its back: it says so, can be read, and not changed until it is accepted.

import Foundation
import GRDB
import KeychainEngine
import SecretMemory
import Testing

@testable import KeychainVault

/// One way to change a vault that nobody has open.
struct HeadAttack: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: [HeadFinding]
    /// How many items can be read then.
    let items: Int
    let statements: [String]

    init(_ name: String, _ expected: [HeadFinding], items: Int = 3, _ statements: String...) {
        (testDescription, self.expected, self.items, self.statements) = (name, expected, items, statements)
    }

    private static let columns = "uuid, version, class, generation, major, minor"

    static let all = [
        HeadAttack("a row is deleted", [.missing(.items, 1)], items: 2, "DELETE FROM item WHERE id = 2"),
        HeadAttack(
            "a row is doubled", [.added(.items, 1)],
            "INSERT INTO item SELECT 9, \(columns), zeroblob(16), metadata, value FROM item WHERE id = 1"),
        HeadAttack(
            "a row is doubled in the place of another", [.changed(.items)], items: 2,
            "CREATE TEMP TABLE t AS SELECT * FROM item WHERE id = 1", "DELETE FROM item WHERE id = 2",
            "INSERT INTO item SELECT 2, \(columns), zeroblob(16), metadata, value FROM temp.t"),
        HeadAttack("an entry of the index is deleted", [.missing(.index, 1)], "DELETE FROM lookup WHERE item = 2"),
        HeadAttack("the index is emptied", [.missing(.index, 3)], "DELETE FROM lookup"),
        HeadAttack("an entry is added", [.added(.index, 1)], "INSERT INTO lookup VALUES (zeroblob(16), 1)"),
        HeadAttack(
            "entries of two rows are swapped", [.changed(.index)],
            "UPDATE lookup SET item = 3 - item WHERE item IN (1, 2)"),
        HeadAttack("the format is lowered", [.changedFormat], "PRAGMA user_version = 2"),
        HeadAttack("the head is dropped", [.unreadableHead], "DROP TABLE head"),
        HeadAttack("the head's row is deleted", [.unreadableHead], "DELETE FROM head"),
        HeadAttack("the head is overwritten", [.unreadableHead], "UPDATE head SET bytes = zeroblob(165)"),
        HeadAttack(
            "the head is dropped and the format lowered", [.formerFormat], "DROP TABLE head",
            "PRAGMA user_version = 2"),
        HeadAttack(
            "a row is put into quarantine", [.missing(.items, 1), .added(.quarantine, 1)], items: 2,
            "INSERT INTO quarantine SELECT *, 0 FROM item WHERE id = 1", "DELETE FROM item WHERE id = 1"),
    ]
}

struct HeadAttackTests {
    /// A closed vault with three items, each with a label, and so with one entry of the index.
    private static func vaultWithThreeItems() throws -> TestVault {
        let test = try TestVault()
        for number in 1...3 { try add(test, number) }
        try test.vault.close()
        return test
    }

    private static func add(_ test: TestVault, _ number: Int) throws {
        var query = Query.genericPassword("service", "account-\(number)", value: "value-\(number)")
        query.attributes[.label] = .string("label-\(number)")
        try test.engine.add(query)
    }

    private static func values(_ test: TestVault) throws -> Int {
        try test.another().select(Selection(itemClass: nil), limit: nil, includingValues: true).items.count
    }

    private static func doctorsProblems(_ test: TestVault) -> [String] {
        Vault.examine(test.location).filter { $0.severity == .problem && $0.check == "head" }.map(\.message)
    }

    /// What holds for every vault that is not as it was left.
    private static func expectReadOnly(
        _ test: TestVault, _ expected: [HeadFinding], items: Int, _ settings: VaultSettings = .cheap
    ) throws {
        let vault = test.another(settings)
        #expect(try vault.headFindings(wholeVault: true) == expected)
        #expect(try vault.status().headFindings == expected)
        #expect(try values(test) == items)
        let refusal = failure { try vault.engine.add(.genericPassword("service", "new", value: "v")) }
        #expect(refusal?.reason == .rolledBack)
        for finding in expected { #expect(refusal?.message.contains(finding.message) ?? false) }
        if items == 3 {
            #expect(reason { try vault.engine.delete(.genericPassword("service", "account-3")) } == .rolledBack)
        }
        #expect(reason { try vault.addProtector(.keyFile()) } == .rolledBack)
        #expect(try values(test) == items)
    }

    private static func expectAcceptedInOneStep(
        _ test: TestVault, _ expected: [HeadFinding], _ settings: VaultSettings = .cheap
    ) throws {
        let refused = test.another(settings)
        #expect(reason { try refused.engine.add(.genericPassword("service", "new", value: "v")) } == .rolledBack)
        let vault = test.another(settings)
        #expect(try vault.accept() == expected)
        #expect(try vault.headFindings(wholeVault: true) == [])
        try vault.engine.add(.genericPassword("service", "new", value: "v"))
        // Also for who was refused before.
        try refused.engine.add(.genericPassword("service", "newer", value: "v"))
        let later = test.another(settings)
        #expect(try later.headFindings(wholeVault: true) == [])
        #expect(try later.accept() == [])
    }

    @Test(arguments: HeadAttack.all)
    func vault_changedBehindItsBack_isReadOnlyUntilItIsAccepted(_ attack: HeadAttack) throws {
        let test = try Self.vaultWithThreeItems()
        let queue = try DatabaseQueue(path: test.databaseFile)
        try queue.writeWithoutTransaction { db in
            for statement in attack.statements { try db.execute(sql: statement) }
        }
        try queue.close()
        try Self.expectReadOnly(test, attack.expected, items: attack.items)
        #expect(Self.doctorsProblems(test).count == 1)
        try Self.expectAcceptedInOneStep(test, attack.expected)
        #expect(Self.doctorsProblems(test).isEmpty)
    }

    @Test func vault_asItWasLeft_hasNothingToAccept() throws {
        let test = try Self.vaultWithThreeItems()
        #expect(try test.another().headFindings(wholeVault: true) == [])
        #expect(try test.another().accept() == [])
        #expect(Self.doctorsProblems(test).isEmpty)
    }

    // MARK: - Older files

    private static let databaseFiles = ["vault.db", "vault.db-wal"]

    private static func copy(_ test: TestVault) throws -> [String: Data] {
        try test.files().filter { path, _ in databaseFiles.contains { path == test.location.folder + "/" + $0 } }
    }

    private static func putBack(_ files: [String: Data], _ test: TestVault) throws {
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
        #expect(Self.doctorsProblems(test).first?.contains("older by 3 changes") ?? false)
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
    private static func vaultWithAnOlderKeybag() throws -> (TestVault, DatabaseQueue, Data?) {
        let test = try vaultWithThreeItems()
        let queue = try DatabaseQueue(path: test.databaseFile)
        let old = try queue.read { try KeybagTable($0).copies()[0] }
        let vault = test.another()
        try vault.addProtector(.keyFile())
        try vault.close()
        return (test, queue, old)
    }

    @Test func olderKeybag_putBackAlone_isNoticed() throws {
        let (test, queue, old) = try Self.vaultWithAnOlderKeybag()
        try queue.write { try KeybagTable($0).write(#require(old)) }
        try queue.close()
        try Self.expectReadOnly(test, [.otherKeybag], items: 3)
        try Self.expectAcceptedInOneStep(test, [.otherKeybag])
    }

    @Test func olderKeybag_putBackInOneCopy_isRepairedWithoutAWord() throws {
        let (test, queue, old) = try Self.vaultWithAnOlderKeybag()
        try queue.write { try $0.execute(sql: "UPDATE keybag SET bytes = ?", arguments: [old]) }
        try queue.close()
        #expect(try test.another().headFindings(wholeVault: true) == [])
        try test.another().engine.add(.genericPassword("service", "new", value: "v"))
        #expect(try test.another().headFindings(wholeVault: true) == [])
        #expect(try !test.another().status().isKeybagCopyDamaged)
    }

    @Test func olderVersionOfARow_putBack_isNoticed() throws {
        let test = try Self.vaultWithThreeItems()
        let queue = try DatabaseQueue(path: test.databaseFile)
        try queue.write { try $0.execute(sql: "CREATE TABLE earlier AS SELECT * FROM item WHERE id = 2") }
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM earlier") }
        try queue.write { try $0.execute(sql: "DROP TABLE earlier") }
        let vault = test.another()
        try vault.engine.update(.genericPassword("service", "account-2"), value: "changed")
        try vault.close()
        let old = try #require(rows.first)
        try queue.write {
            try $0.execute(
                sql: "UPDATE item SET version = ?, metadata = ?, value = ? WHERE id = 2",
                arguments: [old["version"], old["metadata"], old["value"]])
        }
        try queue.close()
        try Self.expectReadOnly(test, [.changed(.items)], items: 3)
        try Self.expectAcceptedInOneStep(test, [.changed(.items)])
    }

    @Test func olderHead_putBackAlone_isNoticed() throws {
        let test = try Self.vaultWithThreeItems()
        let queue = try DatabaseQueue(path: test.databaseFile)
        let old = try queue.read { try HeadTable($0).read() }
        let vault = test.another()
        try vault.engine.add(.genericPassword("service", "account-4", value: "v"))
        try vault.close()
        try queue.write { try HeadTable($0).write(#require(old)) }
        try queue.close()
        try Self.expectReadOnly(test, [.older(changes: 1), .added(.items, 1)], items: 4)
    }

    /// It stays the same file with the same keybag, so only the head tells.
    @Test func olderHead_putBackUnderAnOpenVault_isNoticedByTheNextWrite() throws {
        let test = try Self.vaultWithThreeItems()
        let queue = try DatabaseQueue(path: test.databaseFile)
        let old = try queue.read { try HeadTable($0).read() }
        let vault = test.another()
        try vault.engine.add(.genericPassword("service", "account-4", value: "v"))
        try queue.write { try HeadTable($0).write(#require(old)) }
        try queue.close()
        #expect(reason { try vault.engine.add(.genericPassword("service", "account-5", value: "v")) } == .rolledBack)
        #expect(try Self.values(test) == 4)
    }

    // MARK: - What remembers

    @Test func stateFolder_deleted_theKernelStillRemembers() throws {
        guard KernelUnlockCache.isUsable else { return print("skipped: the kernel keeps no keys for this process") }
        var settings = VaultSettings.cheap
        settings.anchors = [.file, .kernel]
        let test = try TestVault(settings)
        defer { Self.removeKernelAnchor(test) }
        try Self.add(test, 1)
        try test.vault.close()
        let old = try Self.copy(test)
        try Self.add(test, 2)
        try Self.putBack(old, test)
        try FileManager.default.removeItem(atPath: test.location.stateFolder)
        try Self.expectReadOnly(test, [.older(changes: 1)], items: 1, settings)
        try Self.expectAcceptedInOneStep(test, [.older(changes: 1)], settings)
    }

    private static func removeKernelAnchor(_ test: TestVault) {
        guard let id = try? test.another().currentSession().keybag.vaultID else { return }
        let name = "swift-keychain:seen:" + Anchor.Place(test.location, vaultID: id).name
        if let key = try? KernelKeyring.find(name) { try? KernelKeyring.remove(key) }
    }

    /// Somebody who can do this can make the vault what it was: the limit that Docs/THREATS.md names.
    @Test func stateFolderAndVault_putBackTogether_areNotNoticed() throws {
        let test = try Self.vaultWithThreeItems()
        let old = try test.files()
        try Self.add(test, 4)
        try Self.putBack(old.filter { $0.key == test.databaseFile }, test)
        for (path, bytes) in old where path.hasPrefix(test.location.stateFolder) { try test.place(bytes, at: path) }
        #expect(try test.another().headFindings(wholeVault: true) == [])
    }

    @Test(arguments: ["", "short", String(repeating: "x", count: 104), String(repeating: "x", count: 5000)])
    func stateFile_thatIsNoAnchor_countsAsNoneAndIsReplaced(_ content: String) throws {
        let test = try Self.vaultWithThreeItems()
        let file = try #require(test.files().keys.first { $0.hasPrefix(test.location.stateFolder) })
        try Data(content.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try test.another().headFindings() == [])
        try test.another().engine.add(.genericPassword("service", "new", value: "v"))
        #expect(try !test.another().currentSession().anchors.read().records.isEmpty)
    }

    /// Else everybody who can write the state folder could make the vault read-only.
    @Test func stateFile_whoseSequenceWasRaisedWithoutTheKey_countsAsNone() throws {
        let test = try Self.vaultWithThreeItems()
        let file = try #require(test.files().keys.first { $0.hasPrefix(test.location.stateFolder) })
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let lastByteOfTheSequence = Anchor.length - 32 - 1
        bytes[lastByteOfTheSequence] = .max
        try bytes.write(to: URL(fileURLWithPath: file))
        #expect(try test.another().headFindings() == [])
        try test.another().engine.add(.genericPassword("service", "new", value: "v"))
    }

    @Test func stateFile_ofAnotherFolder_saysNothing() throws {
        let (test, other) = (try Self.vaultWithThreeItems(), try TestVault())
        try test.vault.close()
        let old = try test.files().filter { $0.key.hasSuffix("vault.db") || $0.key.hasSuffix("device.key") }
        try Self.add(test, 4)
        for (path, bytes) in old {
            try other.place(bytes, at: path.replacingOccurrences(of: test.root, with: other.root))
        }
        for (path, bytes) in try test.files() where path.hasPrefix(test.location.stateFolder) {
            try other.place(bytes, at: path.replacingOccurrences(of: test.root, with: other.root))
        }
        #expect(try other.another().headFindings(wholeVault: true) == [])
        try other.another().engine.add(.genericPassword("service", "new", value: "v"))
    }

    @Test func stateFolder_thatCannotBeMade_isDoneWithout() throws {
        let root = NSTemporaryDirectory() + "keychain-test-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data().write(to: URL(fileURLWithPath: root + "/file"))
        let location = try VaultLocation(
            folder: root + "/vault", deviceKeyFile: root + "/device.key", stateFolder: root + "/file/state")
        try Vault(location).engine.add(.genericPassword("service", "account", value: "v"))
        #expect(try Vault(location).headFindings(wholeVault: true) == [])
    }

    // MARK: - Locked vaults

    @Test func lockedVault_putBack_refusesAChangeOfItsProtectors() throws {
        let test = try TestVault.locked()
        defer { try? test.forget() }
        try test.another().addProtector(.keyFile(1), authority: .old)
        let old = try Self.copy(test)
        try test.another().addProtector(.keyFile(2), authority: .old)
        try Self.putBack(old, test)
        #expect(reason { try test.another().addProtector(.keyFile(3), authority: .old) } == .rolledBack)
        let vault = test.another()
        try vault.unlock(.old)
        #expect(try vault.accept() == [.older(changes: 1)])
        try test.another().addProtector(.keyFile(3), authority: .old)
    }
}
