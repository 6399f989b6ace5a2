// SPDX-License-Identifier: Apache-2.0
// Media that can be read and not written.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

/// Mounts need rights of their own, which a user namespace gives where the system allows one.
private let canMount: Bool = {
    guard let unshare = Programs.installed("unshare") else { return false }
    do {
        return try ChildProcess.run(unshare, ["-Urm", "true"]).status == 0
    } catch {
        return false
    }
}()

@Suite(.enabled(if: canMount, "this system does not let a test make mounts of its own"))
struct ReadOnlyTests {
    /// What starts a program that sees the vault's folder mounted read-only.
    private func readOnly(_ test: TestVault) throws -> [String] {
        let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\""
        let unshare = try #require(Programs.installed("unshare"))
        return [unshare, "-Urm", "sh", "-c", script, "sh", test.location.folder]
    }

    private func exerciseReadOnly(_ test: TestVault, _ command: String...) throws -> ChildResult {
        let words = try readOnly(test)
        return try ChildProcess.run(
            words[0], Array(words.dropFirst()) + [Exerciser.path] + test.exerciserArguments(command))
    }

    @Test func vault_closedAndReadOnly_isRead() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        try test.vault.close()
        #expect(try exerciseReadOnly(test, "read", "alice").lines.first == "v")
    }

    @Test func vault_withWALAndReadOnly_isReadWithItsLastChanges() throws {
        let test = try TestVault()
        _ = try test.exercise("add", "alice", "in the WAL")
        #expect(FileManager.default.fileExists(atPath: test.databaseFile + "-wal"))
        #expect(try exerciseReadOnly(test, "read", "alice").lines.first == "in the WAL")
    }

    @Test func vault_withWALAndNoIndex_saysWhatToDo() throws {
        let test = try TestVault()
        _ = try test.exercise("add", "alice", "in the WAL")
        try FileManager.default.removeItem(atPath: test.databaseFile + "-shm")
        let child = try exerciseReadOnly(test, "read", "alice")
        #expect(child.output.hasPrefix("failed unavailable"))
        #expect(child.output.contains("copy the folder to a writable place"))
    }

    @Test(
        .enabled(if: ChildProcess.canRunAsOwner, "the user who takes root's place cannot run what was built"),
        arguments: ["add", "read"])
    func vault_thatItsOwnerMayNotWrite_isReadAndNotWritten(_ verb: String) throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        try test.vault.close()
        try test.giveAway()
        for path in try test.files().keys { #expect(chmod(path, 0o400) == 0) }
        #expect(chmod(test.location.folder, 0o500) == 0)
        defer { chmod(test.location.folder, 0o700) }
        let child = try ChildProcess.runAsOwner(of: test, verb == "add" ? ["add", "bob", "w"] : ["read", "alice"])
        #expect(child.output.hasPrefix(verb == "add" ? "failed readOnly" : "v\n"), "\(child.output) \(child.errors)")
    }

    /// SQLite gives what it makes beside a database the permissions of the database: then nothing could be written any more.
    @Test(.enabled(if: ChildProcess.canRunAsOwner, "the user who takes root's place cannot run what was built"))
    func restoration_overADatabaseThatMayNotBeWritten_isRefusedAndLeavesNothingBesideIt() throws {
        let test = try TestVault()
        let file = test.root + "/copy"
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        try test.vault.backup(to: file)
        try test.vault.close()
        try test.giveAway()
        let before = try test.files().keys.sorted()
        #expect(chmod(test.databaseFile, 0o400) == 0)
        let child = try ChildProcess.runAsOwner(of: test, ["restore", file])
        #expect(child.output.hasPrefix("failed readOnly"), "\(child.output) \(child.errors)")
        #expect(try test.files().keys.sorted() == before)
    }

    @Test(
        .enabled(if: ChildProcess.canRunAsOwner, "the user who takes root's place cannot run what was built"),
        arguments: VaultLocation.companionNames)
    func vault_ofWhichOneFileMayNotBeWritten_namesIt(_ name: String) throws {
        let test = try TestVault()
        _ = try test.exercise("add", "alice", "in the WAL")
        try test.giveAway()
        #expect(chmod(test.location.folder + "/" + name, 0o400) == 0)
        let child = try ChildProcess.runAsOwner(of: test, ["add", "bob", "w"])
        #expect(child.output.hasPrefix("failed readOnly"), "\(child.output) \(child.errors)")
        #expect(child.output.contains("/\(name)'"), "\(child.output)")
    }

    /// Not as if too many files were open.
    @Test(.enabled(if: geteuid() != 0, "root may read every file"))
    func backup_thatMayNotBeRead_isNamedAsThat() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        let file = test.root + "/copy"
        try test.vault.backup(to: file)
        #expect(chmod(file, 0) == 0)
        let error = #expect(throws: KeychainError.self) { try test.vault.restore(from: file) }
        #expect(error?.reason == .unavailable)
        #expect(error?.message.contains("Permission denied") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [["add", "bob", "w"], ["delete", "alice"]])
    func vault_readOnly_refusesToBeWritten(_ command: [String]) throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        try test.vault.close()
        let words = try readOnly(test)
        let child = try ChildProcess.run(
            words[0], Array(words.dropFirst()) + [Exerciser.path] + test.exerciserArguments(command))
        #expect(child.output.hasPrefix("failed readOnly"), "\(child.output)")
        #expect(try test.state() == ["alice": "v"])
    }

    #if DEBUG
        /// The pages that a reader without coordination has read may be of two states.
        @Test func item_changedDuringAReadWithoutCoordination_isReadAgain() throws {
            let test = try TestVault()
            try test.engine.add(.genericPassword("exerciser", "alice", value: "old"))
            try test.vault.close()
            let reader = try test.running("read-paused", "alice", under: readOnly(test))
            try #require(reader.line() == "rowsRead")
            try test.engine.update(.genericPassword("exerciser", "alice"), value: "new")
            try test.vault.close()
            try reader.send("go")
            #expect(try reader.finish().lines == ["new", "done"])
        }

        /// What it finds then may be of two states, like damage that is not there.
        @Test(arguments: [1, 3])
        func examination_disturbedWithoutCoordination_isMadeAgainAndEndsAsBusy(_ disturbances: Int) throws {
            let test = try TestVault()
            try test.engine.add(.genericPassword("exerciser", "alice", value: "0"))
            try test.vault.close()
            let examination = try test.running("examine-paused", under: readOnly(test))
            for attempt in 1...min(disturbances + 1, 3) {
                try #require(examination.line() == "rowsRead")
                if attempt <= disturbances {
                    try test.engine.update(.genericPassword("exerciser", "alice"), value: "\(attempt)")
                    try test.vault.close()
                }
                try examination.send("go")
            }
            let lines = try examination.finish().lines
            let isBusy = lines.first?.contains("Other processes kept writing") == true
            #expect(isBusy == (disturbances == 3), "\(lines)")
            #expect(isBusy || lines == ["no problem", "done"])
        }

        @Test func backup_duringWhichAVaultWithoutCoordinationIsWritten_isMadeAgain() throws {
            let test = try TestVault()
            try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
            try test.vault.close()
            let copier = try test.running("backup-paused", test.root + "/copy", under: readOnly(test))
            try #require(copier.line() == "backupCopied")
            try test.engine.add(.genericPassword("exerciser", "bob", value: "v"))
            try test.vault.close()
            try copier.send("go")
            #expect(try copier.finish().lines == ["done"])
            #expect(try test.vault.examineBackup(test.root + "/copy").itemCount == 2)
        }
    #endif
}

/// What a process sees that opened a vault which it could not write, while others could.
@Suite(
    .enabled(if: ChildProcess.canRunAsOwner, "the user who takes root's place cannot run what was built"))
struct ReadOnlyStateTests {
    @Test func state_ofAVaultThatCanBeWritten_isNone() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        #expect(!FilesState.isReadOnly(test.location))
    }

    @Test func restoration_intoAFolderThatItsOwnerMayNotWrite_isReadOnly() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        try test.vault.backup(to: test.root + "/copy")
        try test.vault.close()
        try test.giveAway()
        #expect(chmod(test.location.folder, 0o500) == 0)
        defer { chmod(test.location.folder, 0o700) }
        let child = try ChildProcess.runAsOwner(of: test, ["restore", test.root + "/copy"])
        #expect(child.output.hasPrefix("failed readOnly"), "\(child.output) \(child.errors)")
        #expect(child.output.contains("folder '\(test.location.folder)' cannot be written"), "\(child.output)")
    }

    @Test(.enabled(if: geteuid() != 0, "root may write in every folder"))
    func vault_thatHasBecomeWritable_isWrittenByWhoHasItOpen() throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try test.vault.close()
        let engine = test.reopened()
        #expect(chmod(test.location.folder, 0o500) == 0)
        defer { chmod(test.location.folder, 0o700) }
        #expect(try engine.text(.genericPassword("s", "a")) == "v")
        #expect(reason { try engine.add(.genericPassword("s", "b", value: "v")) } == .readOnly)
        #expect(chmod(test.location.folder, 0o700) == 0)
        try engine.add(.genericPassword("s", "b", value: "v"))
    }

    /// Deletes under a process that has the vault open read-only, and asks it again.
    @Test func item_deletedUnderAReadOnlyVault_isNotShownAnyMore() throws {
        let test = try TestVault()
        for account in ["a", "b"] { try test.engine.add(.genericPassword("exerciser", account, value: "v")) }
        try test.vault.close()
        try test.giveAway()
        #expect(chmod(test.location.folder, 0o500) == 0)
        defer { chmod(test.location.folder, 0o700) }
        // A reader that has ended would never give the sign.
        let script = """
            signal=${1%/*}/signal
            "$0" read-twice "$@" a "$signal" & reader=$!
            while [ ! -e "$signal.first" ]; do kill -0 $reader || exit 1; sleep 0.01; done
            chmod 700 "$1" && "$0" delete "$@" a; : > "$signal.go"; wait $reader
            """
        let child = try ChildProcess.runAsOwner(of: test, script: script, [])
        #expect(child.lines.first == "v", "\(child.output) \(child.errors)")
        #expect(child.lines.last?.hasPrefix("failed itemNotFound") == true, "\(child.output)")
    }
}
