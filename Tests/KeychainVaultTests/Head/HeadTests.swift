// SPDX-License-Identifier: Apache-2.0
// The head follows every change, whatever it is made of.

import Foundation
import KeychainEngine
import Testing

@testable import KeychainVault

struct HeadTests {
    static func head(_ test: TestVault) throws -> Head? {
        let session = try test.another().currentSession()
        let keys = try session.headKeys()
        return try session.reader.read { try HeadTable($0).read() }.flatMap { Head(sealed: $0, keys) }
    }

    static func expectWhole(_ test: TestVault) throws {
        #expect(try test.another().headFindings(wholeVault: true) == [])
    }

    @Test func newVault_hasAnEmptyHeadThatFits() throws {
        let test = try TestVault()
        try test.vault.create()
        #expect(try Self.head(test)?.sequence == 0)
        try Self.expectWhole(test)
    }

    @Test func items_addedUpdatedAndDeleted_areInTheHead() throws {
        let test = try TestVault()
        for sample in FormatSample.all { _ = try test.vault.insert(sample.item) }
        try Self.expectWhole(test)
        _ = try test.vault.update(Selection(itemClass: .genericPassword)) { stored in
            var item = stored.item
            item.value = Data("changed".utf8)
            item.attributes[.label] = .string("label")
            item.attributes[.comment] = nil
            return item
        }
        try Self.expectWhole(test)
        _ = try test.engine.delete(Query(.internetPassword, [:]))
        try Self.expectWhole(test)
        #expect(try Self.head(test)?.sequence == UInt64(FormatSample.all.count + 2))
    }

    @Test func rotation_ofAllClasses_keepsTheHead() throws {
        let test = try TestVault()
        for sample in FormatSample.all { _ = try test.vault.insert(sample.item) }
        try test.another().rotate()
        try Self.expectWhole(test)
    }

    @Test func quarantinedRows_areCounted() throws {
        let test = try TestVault()
        let stored = try test.vault.insert(FormatSample.all[0].item)
        try test.vault.close()
        // Damage that the sums do not notice: they hold how the value begins.
        let queue = try Connection(test.databaseFile)
        try queue.writing {
            try $0.execute("UPDATE item SET value = CAST(substr(value, 1, length(value) - 1) || x'00' AS BLOB)")
        }
        try queue.close()
        _ = try test.another().insert(stored.item)
        #expect(try Self.head(test)?.quarantined == 1)
        try Self.expectWhole(test)
    }

    /// What came back fits the head of before; what is still missing is not accepted by the way.
    @Test(arguments: [false, true])
    func index_repaired_fitsTheHeadAgainIfNothingElseIsMissing(_ alsoARow: Bool) throws {
        let test = try TestVault()
        for sample in FormatSample.all { _ = try test.vault.insert(sample.item) }
        let before = try Self.head(test)
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run(
            "DELETE FROM lookup" + (alsoARow ? "; DELETE FROM item WHERE id = 1" : ""))
        #expect(reason { try test.another().engine.add(.genericPassword("s", "new", value: "v")) } == .rolledBack)
        #expect(try test.another().repairIndex().addedCount > 0)
        #expect(try Self.head(test) == before)
        let findings = try test.another().headFindings(wholeVault: true)
        #expect(findings.contains(.missing(.items, 1)) == alsoARow && findings.isEmpty != alsoARow)
    }

    /// The head continues after the repair of a vault that was accepted as it is.
    @Test func index_repairedAfterItWasAccepted_keepsTheHead() throws {
        let test = try TestVault()
        for sample in FormatSample.all { _ = try test.vault.insert(sample.item) }
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run("DELETE FROM lookup")
        try test.vault.accept()
        #expect(try test.vault.repairIndex().addedCount > 0)
        try Self.expectWhole(test)
    }

    @Test func lastPassphrase_removedWithItsItems_keepsTheHead() throws {
        let test = try TestVault()
        let vault = test.another()
        try vault.addProtector(.old)
        for number in 1...3 {
            var query = Query.genericPassword("service", "\(number)", value: "v")
            query.attributes[.accessible] = .string(Accessibility.whenPasscodeSetThisDeviceOnly.rawValue)
            query.attributes[.label] = .string("label")
            try vault.engine.add(query)
        }
        try vault.engine.add(.genericPassword("service", "other", value: "v"))
        try vault.removeProtector(vault.slot(PassphraseProtector.kind), erasingItems: true, authority: .old)
        #expect(try Self.head(test)?.items.count == 1)
        try Self.expectWhole(test)
    }

    @Test func itemsThatAreClosed_deleted_keepTheHead() throws {
        let test = try TestVault.locked()
        defer { try? test.forget() }
        _ = try test.another().engine.delete(.find(.whenUnlocked))
        let vault = test.another()
        try vault.unlock(.old)
        #expect(try vault.headFindings(wholeVault: true) == [])
    }

    @Test func lockedVault_beforeTheFirstUnlock_saysThatItIsLocked() throws {
        let test = try TestVault.locked()
        defer { try? test.forget() }
        unlink(test.location.deviceKeyFile)
        #expect(reason { _ = try test.another().headFindings() } == .locked)
        #expect(try test.another().status().headFindings == nil)
    }

    @Test func transaction_thatFails_leavesTheHead() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let before = try Self.head(test)
        #expect(reason { try test.engine.add(.genericPassword("s", "a", value: "v")) } == .duplicateItem)
        #expect(reason { try test.engine.delete(.genericPassword("s", "absent")) } == .itemNotFound)
        #expect(try Self.head(test) == before)
    }

    // MARK: - Older formats

    @Test(arguments: ["vault-1", "vault-2"])
    func olderVault_writtenTo_getsAHeadOfAllItsRows(_ name: String) throws {
        let folder = FormatReader.testsFolder + "/Fixtures/" + name
        let test = try TestVault()
        for (file, path) in [("vault.db", test.databaseFile), ("device.key", test.location.deviceKeyFile)] {
            try test.place(Data(contentsOf: URL(fileURLWithPath: folder + "/" + file)), at: path)
        }
        #expect(try test.another().headFindings(wholeVault: true) == [])
        #expect(try Self.head0(test) == nil)
        let vault = test.another()
        try vault.engine.add(.genericPassword("s", "new", value: "v"))
        #expect(try Self.head(test)?.sequence == 1)
        try vault.engine.add(.genericPassword("s", "newer", value: "v"))
        try Self.expectWhole(test)
        #expect(try test.another().accept() == [])
    }

    private static func head0(_ test: TestVault) throws -> Bool? {
        try test.another().currentSession().reader.read { try VaultSchema.hasHead($0) ? true : nil }
    }
}
