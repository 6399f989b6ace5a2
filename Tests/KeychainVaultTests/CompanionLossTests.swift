// SPDX-License-Identifier: Apache-2.0
// Another program removes the WAL's index under an open vault: other processes then use a new one.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct CompanionLossTests {
    private static func openVault() throws -> TestVault {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "old"))
        #expect(try test.engine.text(.genericPassword("exerciser", "alice")) == "old")
        return test
    }

    /// Removes the index; then another process adds an item.
    private static func changeElsewhere(_ test: TestVault) throws {
        try FileManager.default.removeItem(atPath: test.databaseFile + "-shm")
        _ = try test.exercise("add", "bob", "new")
        test.vault.lookAgain()
    }

    private static func changedElsewhere() throws -> TestVault {
        let test = try openVault()
        try changeElsewhere(test)
        return test
    }

    @Test func read_afterTheIndexWasRemoved_showsWhatOthersHaveWritten() throws {
        let test = try Self.changedElsewhere()
        #expect(try test.engine.text(.genericPassword("exerciser", "bob")) == "new")
    }

    @Test func change_afterTheIndexWasRemoved_isSeenByOthers() throws {
        let test = try Self.changedElsewhere()
        try test.engine.add(.genericPassword("exerciser", "carol", value: "newer"))
        #expect(try test.exercise("read", "carol").lines.first == "newer")
        #expect(try test.exercise("read", "bob").lines.first == "new")
        #expect(try test.another().headFindings(wholeVault: true) == [])
    }

    /// As long as a connection to the former index is open, SQLite would give it to the new connections too.
    @Test func read_whileAnotherStillUsesTheFormerIndex_isRefusedAndSucceedsAfterwards() throws {
        let test = try Self.openVault()
        try withExtendedLifetime(try test.vault.currentSession()) {
            try Self.changeElsewhere(test)
            #expect(reason { _ = try test.engine.text(.genericPassword("exerciser", "bob")) } == .busy)
        }
        #expect(try test.engine.text(.genericPassword("exerciser", "bob")) == "new")
    }
}
