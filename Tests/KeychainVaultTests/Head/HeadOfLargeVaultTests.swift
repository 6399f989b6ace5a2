// SPDX-License-Identifier: Apache-2.0
// A vault whose rows a write only counts: an older row in the place of another is found before it is sealed again.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct HeadOfLargeVaultTests {
    /// More items than the rows that a write adds up, and one of them is the older one again.
    private static func vaultWithAnOlderRow() throws -> TestVault {
        let test = try TestVault()
        try test.engine.transaction(as: Query(.genericPassword)) { (requests) throws(KeychainError) in
            for number in 1...4100 {
                try requests.add(.genericPassword("s", "\(number)", value: "old"), accessGroups: .unrestricted)
            }
        }
        try test.vault.addProtector(.old)
        try test.vault.close()
        let older = test.root + "/older.db"
        try FileManager.default.copyItem(atPath: test.databaseFile, toPath: older)
        try test.engine.update(.genericPassword("s", "1"), value: "new")
        try test.vault.close()
        try PlainDatabase(test.databaseFile).run(
            "ATTACH '\(older)' AS older; REPLACE INTO item SELECT * FROM older.item WHERE id = 1; DETACH older")
        return test
    }

    @Test func rotation_ofALargeVaultWithAnOlderRow_isRefusedBeforeItBegins() throws {
        let test = try Self.vaultWithAnOlderRow()
        #expect(reason { try test.another().rotate() } == .rolledBack)
        let status = try test.another().status()
        #expect(status.headFindings == [.changed(.items)])
        #expect(status.isChangedDespiteFindings)
        #expect(!status.isRotating)
        #expect(HeadAttackTests.doctorsProblems(test).contains { $0.contains("can still be changed") })
    }

    @Test func protector_ofALargeVaultWithAnOlderRow_isNotRemoved() throws {
        let test = try Self.vaultWithAnOlderRow()
        let slots = try test.another().status().slots.count
        #expect(
            reason {
                try test.another().removeProtector(test.another().slot(PassphraseProtector.kind), authority: .old)
            } == .rolledBack)
        #expect(try test.another().status().slots.count == slots)
    }

    /// A write compares only the numbers, as the status says.
    @Test func largeVaultWithAnOlderRow_isChangedAndRotatedOnceItIsAccepted() throws {
        let test = try Self.vaultWithAnOlderRow()
        try test.another().engine.add(.genericPassword("s", "more", value: "v"))
        #expect(try test.another().accept() == [.changed(.items)])
        try test.another().rotate()
        #expect(try test.another().headFindings(wholeVault: true) == [])
        #expect(try test.another().engine.text(.genericPassword("s", "1")) == "old")
    }
}
