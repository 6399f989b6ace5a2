// SPDX-License-Identifier: Apache-2.0
// A sample of what `make faults` does in full.

import KeychainTestSupport
import Testing

/// The harness is a program of its own, since it has system calls of its own.
@Suite(.serialized)
struct FaultSampleTests {
    @Test func vault_withFaultsAtSomeCalls_keepsWhatWasAcknowledged() throws {
        try expectNoViolation(["faults", "40"])
    }

    /// SQLite, if it were to make the database that is missing, would remove the WAL as one of another database.
    @Test func wal_ofADatabaseThatIsMovedAwayWhileItIsOpened_isKept() throws {
        try expectNoViolation(["faults", "1", "add after a crash", "databaseRemoved"])
    }

    @Test func backup_besideAWriterAtAnyRead_isOneStateOfTheVault() throws {
        try expectNoViolation(["faults", "1", "back up", "stop-at-read"])
    }

    /// SQLite does not say why it could not make a file, and a quota does not show in the free space.
    @Test func vault_withoutRoomForAnotherFile_isRead() throws {
        try expectNoViolation(["faults", "1", "add", "EDQUOT-on"])
    }

    @Test func vault_afterSomePowerCuts_keepsWhatWasAcknowledged() throws {
        try expectNoViolation(["cuts", "5"])
    }

    @Test func vault_usedByProcessesInSomeOrders_losesNothing() throws {
        try expectNoViolation(["schedules", "8"])
    }

    @Test func machines_whoseExchangeFailsAtSomeCalls_haveTheSameInTheEnd() throws {
        try expectNoViolation(["exchange", "61", "exchange"])
    }

    @Test func verbsOfARing_thatFailAtSomeCalls_canBeRepeatedAndLoseNothing() throws {
        try expectNoViolation(["exchange", "61"])
    }

    @Test func machines_ofWhichOneLosesItsPowerInAnExchange_haveTheSameInTheEnd() throws {
        try expectNoViolation(["exchange-cuts", "4"])
    }

    private func expectNoViolation(_ arguments: [String]) throws {
        let run = try ChildProcess.run(Programs.built("fault-harness"), arguments, limit: .seconds(3600))
        #expect(run.status == 0 && !run.wasSignalled, "\(run.output)\(run.errors)")
        #expect(run.lines.contains { $0.hasPrefix("points ") && $0.hasSuffix(" violations 0") }, "\(run.output)")
    }
}
