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
        let test = try vault(updating: 1)
        try putBack(1, in: test)
        return test
    }

    private static func olderFile(_ test: TestVault) -> String { test.root + "/older.db" }

    /// The former state, in which the item had another value, is in a file beside it.
    private static func vault(updating number: Int) throws -> TestVault {
        let test = try TestVault()
        try test.engine.transaction(as: Query(.genericPassword)) { (requests) throws(KeychainError) in
            for number in 1...4100 {
                try requests.add(.genericPassword("s", "\(number)", value: "old"), accessGroups: .unrestricted)
            }
        }
        try test.vault.addProtector(.old)
        try test.vault.close()
        try FileManager.default.copyItem(atPath: test.databaseFile, toPath: olderFile(test))
        try test.engine.update(.genericPassword("s", "\(number)"), value: "new")
        try test.vault.close()
        return test
    }

    private static func putBack(_ number: Int, in test: TestVault) throws {
        try PlainDatabase(test.databaseFile).run(
            "ATTACH '\(olderFile(test))' AS older; REPLACE INTO item SELECT * FROM older.item WHERE id = \(number); "
                + "DETACH older")
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

    /// The last row is sealed again long after the first step.
    @Test func rotation_duringWhichAnOlderRowIsPutBack_failsAndKeepsTheOldKeys() throws {
        let test = try Self.vault(updating: 4100)
        let former = try test.another().currentSession().keybag.classKeys
        var steps = 0
        let error = failure {
            try test.another().rotate(progress: { _ in
                steps += 1
                guard steps == 1 else { return }
                do { try Self.putBack(4100, in: test) } catch { Issue.record(error) }
            })
        }
        #expect(error?.reason == .rolledBack)
        #expect(error?.message.contains("The rotation was started but is not finished.") ?? false)
        #expect(try test.another().status().headFindings == [.changed(.items)])
        let kept = try test.another().currentSession().keybag.classKeys
        #expect(
            former.allSatisfy { key in
                kept.contains { $0.keyClass == key.keyClass && $0.generation == key.generation }
            })
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
