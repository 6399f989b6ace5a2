// SPDX-License-Identifier: Apache-2.0
// A process that was stopped where SQLite has one of its locks keeps others no longer than their own time.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct BusyVaultTests {
    private static var hasty: VaultSettings {
        var settings = VaultSettings.cheap
        settings.writerTimeout = .milliseconds(200)
        return settings
    }

    /// A closed vault, in which the index of the WAL is about to be made by somebody who has the lock for that.
    private static func vaultWithAStoppedOpener(_ settings: VaultSettings) throws -> (TestVault, RangeLock) {
        let test = try TestVault(settings)
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try test.vault.close()
        return (test, try RangeLock(test.databaseFile + "-shm", byte: RangeLock.writing))
    }

    /// SQLite asks nobody there whether to go on, and gives up after ten seconds with an error of its own.
    @Test func reader_besideAProcessThatMakesTheIndexOfTheWAL_isToldThatTheVaultIsBusy() throws {
        let (test, lock) = try Self.vaultWithAStoppedOpener(Self.hasty)
        let reader = test.another(Self.hasty)
        #expect(reason { _ = try reader.engine.text(.genericPassword("s", "a")) } == .busy)
        lock.release()
        #expect(try reader.engine.text(.genericPassword("s", "a")) == "v")
    }

    @Test func writer_besideAProcessThatMakesTheIndexOfTheWAL_isToldThatTheVaultIsBusy() throws {
        let (test, lock) = try Self.vaultWithAStoppedOpener(Self.hasty)
        let writer = test.another(Self.hasty)
        #expect(reason { try writer.engine.add(.genericPassword("s", "b", value: "v")) } == .busy)
        lock.release()
        try writer.engine.add(.genericPassword("s", "b", value: "v"))
    }

    /// Here SQLite asks, and the same lock ends the waiting.
    @Test func writer_besideAnotherConnectionThatWrites_isToldThatTheVaultIsBusy() throws {
        let test = try TestVault(Self.hasty)
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let lock = try RangeLock(test.databaseFile + "-shm", byte: RangeLock.writing)
        #expect(reason { try test.engine.add(.genericPassword("s", "b", value: "v")) } == .busy)
        lock.release()
        try test.engine.add(.genericPassword("s", "b", value: "v"))
    }

    // MARK: - The holder of the lock

    /// A closed vault, and a process that was stopped while it has something locked.
    private static func vaultWithAStoppedProcess(_ command: String) throws -> (TestVault, RunningExerciser) {
        let test = try TestVault(hasty)
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try test.vault.close()
        let child = try test.running(command, "bob")
        #expect(["holding", "inside"].contains(child.line()))
        child.stop()
        try waitUntil("A stopped process") { LockHolder(process: child.number).isStopped }
        return (test, child)
    }

    @Test(arguments: ["hold-database", "add-and-wait"])
    func stoppedProcess_thatHoldsTheVault_isNamed(_ command: String) throws {
        let (test, child) = try Self.vaultWithAStoppedProcess(command)
        defer { child.kill() }
        let error = #expect(throws: KeychainError.self) {
            try test.another(Self.hasty).engine.add(.genericPassword("s", "b", value: "v"))
        }
        #expect(error?.reason == .busy)
        let process = "Process \(child.number) (\(Exerciser.name))"
        #expect(error?.message.contains(process) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("kill -CONT \(child.number)") == true)
    }

    @Test func reader_besideAStoppedCloser_isToldWho() throws {
        let (test, child) = try Self.vaultWithAStoppedProcess("hold-database")
        defer { child.kill() }
        let error = #expect(throws: KeychainError.self) {
            _ = try test.another(Self.hasty).engine.text(.genericPassword("s", "a"))
        }
        #expect(error?.message.contains("kill -CONT \(child.number)") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ["hold-database", "add-and-wait"])
    func stoppedProcess_thatHoldsTheVault_isAProblemToTheExamination(_ command: String) throws {
        let (test, child) = try Self.vaultWithAStoppedProcess(command)
        defer { child.kill() }
        let found = Vault.examine(test.location, Self.hasty).first { $0.check == "writer" }
        #expect(found?.severity == .problem)
        #expect(found?.message.contains("Process \(child.number)") == true)
    }

    @Test func runningProcess_thatHoldsTheVault_isNoProblemToTheExamination() throws {
        let (test, child) = try Self.vaultWithAStoppedProcess("add-and-wait")
        defer { child.kill() }
        child.resume()
        try waitUntil("A process that goes on") { LockHolder.find(test.location.lockFile)?.isStopped != true }
        #expect(Vault.examine(test.location, Self.hasty).first { $0.check == "writer" }?.severity == .warning)
    }

    /// What SQLite is given beside the path is nothing that a user could look for.
    @Test func database_thatCannotBeOpened_isNamedByItsPath() throws {
        let test = try TestVault(.cheap)
        try test.vault.create()
        try test.vault.close()
        try Data(repeating: 0x55, count: 32768).write(to: URL(fileURLWithPath: test.databaseFile))
        let error = #expect(throws: KeychainError.self) { try test.another().status() }
        #expect(error?.message.contains("'\(test.databaseFile)'") == true)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.max)])
    func timeout_ofAnyLength_opensTheVault(_ timeout: Duration) throws {
        #expect(VaultFiles.name(for: timeout) != nil)
        var settings = VaultSettings.cheap
        settings.writerTimeout = timeout
        let test = try TestVault(settings)
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(try test.another(settings).engine.text(.genericPassword("s", "a")) == "v")
    }

    @Test func pauses_allTogether_takeNoLongerThanTheTimeout() {
        let wait = BusyWait(.zero)
        #expect(!wait.goesOn(0))
        let patient = BusyWait(.seconds(60))
        #expect(patient.goesOn(0))
        BusyWait.$isOff.withValue(true) { #expect(!patient.goesOn(1)) }
    }
}

/// One byte of a file, locked as another process would.
private final class RangeLock {
    /// The byte that stands for SQLite's right to write the WAL.
    static let writing: off_t = 120
    /// F_OFD_SETLK, which this platform's module leaves out: a lock of the open file, that the same process meets as well.
    private static let setLock: Int32 = 37

    private let descriptor: Int32

    init(_ path: String, byte: off_t) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        var range = flock()
        (range.l_type, range.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
        (range.l_start, range.l_len) = (byte, 1)
        try #require(descriptor >= 0 && fcntl(descriptor, Self.setLock, &range) == 0, "\(errno)")
    }

    func release() { close(descriptor) }
}
