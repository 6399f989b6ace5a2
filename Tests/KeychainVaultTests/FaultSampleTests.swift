// SPDX-License-Identifier: Apache-2.0
// A sample of what `make faults` does in full.

import KeychainTestSupport
import Testing

/// The harness is a program of its own, since it has system calls of its own.
@Suite(.serialized)
struct FaultSampleTests {
    @Test func vault_withFaultsAtSomeCalls_keepsWhatWasAcknowledged() async throws {
        try await expectNoViolation(["faults", "40"], points: 250)
    }

    /// SQLite, if it were to make the database that is missing, would remove the WAL as one of another database.
    @Test func wal_ofADatabaseThatIsMovedAwayWhileItIsOpened_isKept() async throws {
        try await expectNoViolation(["faults", "1", "add after a crash", "databaseRemoved"], points: 15)
    }

    @Test func backup_besideAWriterAtAnyRead_isOneStateOfTheVault() async throws {
        try await expectNoViolation(["faults", "1", "back up", "stop-at-read"], points: 4)
    }

    /// SQLite does not say why it could not make a file, and a quota does not show in the free space.
    @Test func vault_withoutRoomForAnotherFile_isRead() async throws {
        try await expectNoViolation(["faults", "1", "add", "EDQUOT-on"], points: 15)
    }

    @Test func vault_afterSomePowerCuts_keepsWhatWasAcknowledged() async throws {
        try await expectNoViolation(["cuts", "5"], points: 140)
    }

    @Test func vault_usedByProcessesInSomeOrders_losesNothing() async throws {
        try await expectNoViolation(["schedules", "8"], points: 100)
    }

    @Test func machines_whoseExchangeFailsAtSomeCalls_haveTheSameInTheEnd() async throws {
        try await expectNoViolation(["exchange", "61", "exchange"], points: 18)
    }

    @Test func verbsOfARing_thatFailAtSomeCalls_canBeRepeatedAndLoseNothing() async throws {
        try await expectNoViolation(["exchange", "61"], points: 60)
    }

    @Test func machines_ofWhichOneLosesItsPowerInAnExchange_haveTheSameInTheEnd() async throws {
        try await expectNoViolation(["exchange-cuts", "4"], points: 16)
    }

    /// A stride beyond all calls. Without points there is no violation either.
    @Test func faults_ofWhichNoneIsTried_areAnError() async throws {
        let run = try await harness(["faults", "1000000", "add", "kill"])
        #expect(run.lines.contains("points 0 violations 0"), "\(run.output)\(run.errors)")
        #expect(run.status != 0)
        #expect(run.errors.contains("no point was tried"), "\(run.errors)")
    }

    /// - Parameter least: The sample has more of them. It tries nothing if, for instance, the faults are not injected.
    private func expectNoViolation(_ arguments: [String], points least: Int) async throws {
        let run = try await harness(arguments)
        #expect(run.status == 0 && !run.wasSignalled, "\(run.output)\(run.errors)")
        let line = try #require(run.lines.last(where: { $0.hasPrefix("points ") }), "\(run.output)")
        #expect(line.hasSuffix(" violations 0"), "\(run.output)")
        let points = try #require(Int(line.split(separator: " ")[1]))
        #expect(points >= least, "\(run.output)")
    }

    private func harness(_ arguments: [String]) async throws -> ChildResult {
        try await onOwnThread {
            try ChildProcess.run(Programs.built("fault-harness"), arguments, limit: .seconds(3600))
        }
    }
}
