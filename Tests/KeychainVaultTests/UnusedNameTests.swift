// SPDX-License-Identifier: Apache-2.0
// A new database gets its name, and replaces nothing, also where the file system cannot rename without replacing.

import Foundation
import KeychainEngine
import KeychainTestSupport
import Testing

@testable import KeychainVault

struct UnusedNameTests {
    /// What the system says of a file system that cannot do it, and of a kernel that cannot.
    private static let refusals = [EINVAL, ENOSYS]

    private static func folder() throws -> (folder: TemporaryFolder, file: String, name: String) {
        let folder = try TemporaryFolder("keychain-name")
        try Data("new".utf8).write(to: URL(fileURLWithPath: folder.path + "/file"))
        return (folder, folder.path + "/file", folder.path + "/name")
    }

    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func name_thatNothingHas_isGiven() throws {
        let (folder, file, name) = try Self.folder()
        defer { withExtendedLifetime(folder) {} }
        #expect(try UnusedName.give(name, to: file))
        #expect(try Self.text(name) == "new")
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func name_thatSomethingHas_isLeftToIt() throws {
        let (folder, file, name) = try Self.folder()
        defer { withExtendedLifetime(folder) {} }
        try Data("old".utf8).write(to: URL(fileURLWithPath: name))
        #expect(try !UnusedName.give(name, to: file))
        #expect(try Self.text(name) == "old")
    }

    @Test(arguments: refusals)
    func name_thatNothingHas_isGivenWithoutRenaming(_ refusal: Int32) throws {
        let (folder, file, name) = try Self.folder()
        defer { withExtendedLifetime(folder) {} }
        #expect(try UnusedName.give(name, to: file) { _, _ in refusal })
        #expect(try Self.text(name) == "new")
    }

    @Test(arguments: refusals)
    func name_thatSomethingHas_isLeftToItWithoutRenaming(_ refusal: Int32) throws {
        let (folder, file, name) = try Self.folder()
        defer { withExtendedLifetime(folder) {} }
        try Data("old".utf8).write(to: URL(fileURLWithPath: name))
        #expect(try !UnusedName.give(name, to: file) { _, _ in refusal })
        #expect(try Self.text(name) == "old")
    }

    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func vault_madeWithoutRenaming_hasOneName() throws {
        let strace = try #require(Programs.strace)
        let test = try TestVault()
        let child = try test.exercise(["add", "alice", "v"], injecting: "renameat2:error=EINVAL", strace: strace)
        #expect(child.lines == ["done"], "\(child.output)")
        #expect(!FileManager.default.fileExists(atPath: test.databaseFile + ".new"))
        #expect(try test.reopened().text(.genericPassword("exerciser", "alice")) == "v")
    }

    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func vault_restoredWithoutRenaming_hasOneName() throws {
        let strace = try #require(Programs.strace)
        let test = try TestVault()
        let file = test.root + "/backup"
        try test.engine.add(.genericPassword("exerciser", "alice", value: "v"))
        try test.vault.backup(to: file)
        try test.vault.close()
        try FileManager.default.removeItem(atPath: test.databaseFile)
        let child = try test.exercise(["restore", file], injecting: "renameat2:error=EINVAL", strace: strace)
        #expect(child.lines == ["done"], "\(child.output)")
        #expect(!FileManager.default.fileExists(atPath: test.location.unfinishedRestoration))
        #expect(try test.reopened().text(.genericPassword("exerciser", "alice")) == "v")
    }

    // MARK: - A creation, restoration or backup that was cut short

    /// A backup as this leaves it between the two names.
    private static func backupCutShort() throws -> (test: TestVault, file: String, firstName: String) {
        let test = try TestVault()
        let (file, firstName) = (test.root + "/backup", test.root + "/.backup.unfinished-backup")
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try test.vault.backup(to: file)
        #expect(link(file, firstName) == 0)
        return (test, file, firstName)
    }

    /// As a process has it for a moment that another thread starts.
    private static func copy(ofDescriptorOf path: String) throws -> Int32 {
        let folder = "/proc/self/fd"
        for number in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + number)
            if file == path, let descriptor = Int32(number) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        }
        throw CocoaError(.fileNoSuchFile)
    }

    @Test func file_thatAProcessWhichStartsHasToo_isUnlockedOnceItIsWritten() throws {
        let test = try TestVault()
        var file: UnfinishedFile? = try UnfinishedFile(test.root + "/.unfinished")
        let copy = try Self.copy(ofDescriptorOf: test.root + "/.unfinished")
        #expect(try file?.put(at: test.root + "/file", replacing: false) == true)
        file = nil
        let other = open(test.root + "/file", O_RDWR | O_CLOEXEC)
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        for descriptor in [copy, other] { close(descriptor) }
    }

    @Test func backup_withItsFirstNameBesideTheSecond_isRestored() throws {
        let (test, file, firstName) = try Self.backupCutShort()
        try test.vault.restore(from: file)
        #expect(!FileManager.default.fileExists(atPath: firstName))
    }

    @Test func backup_withItsFirstNameBesideTheSecond_isReplaced() throws {
        let (test, file, firstName) = try Self.backupCutShort()
        try test.vault.backup(to: file, replacing: true)
        #expect(!FileManager.default.fileExists(atPath: firstName))
    }

    @Test func backup_whoseFirstNameARenamedOneHas_isWritten() throws {
        let (test, file, firstName) = try Self.backupCutShort()
        #expect(rename(file, test.root + "/old") == 0)
        try test.vault.backup(to: file)
        #expect(!FileManager.default.fileExists(atPath: firstName))
        try test.vault.restore(from: test.root + "/old")
    }

    @Test func backup_withAnyOtherName_isRefused() throws {
        let (test, file, firstName) = try Self.backupCutShort()
        #expect(rename(firstName, test.root + "/other") == 0)
        #expect(reason { try test.vault.restore(from: file) } == .unsafeLocation)
    }

    /// A vault as this leaves it between the two names and the marker.
    private static func cutShort(_ suffix: String = VaultLocation.newSuffix) throws -> TestVault {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try test.vault.close()
        #expect(truncate(test.location.lockFile, 0) == 0)
        #expect(link(test.databaseFile, test.databaseFile + suffix) == 0)
        return test
    }

    @Test(arguments: VaultLocation.firstSuffixes)
    func vault_withItsFirstNameBesideTheSecond_isRead(_ suffix: String) throws {
        let test = try Self.cutShort(suffix)
        #expect(try test.reopened().text(.genericPassword("s", "a")) == "v")
        #expect(FileManager.default.fileExists(atPath: test.databaseFile + suffix))
    }

    @Test(arguments: VaultLocation.firstSuffixes)
    func vault_withItsFirstNameBesideTheSecond_losesItWithTheNextWrite(_ suffix: String) throws {
        let test = try Self.cutShort(suffix)
        try test.reopened().add(.genericPassword("s", "b", value: "v"))
        #expect(!FileManager.default.fileExists(atPath: test.databaseFile + suffix))
    }

    @Test(arguments: VaultLocation.firstSuffixes)
    func vault_withItsFirstNameBesideTheSecond_isRestored(_ suffix: String) throws {
        let test = try TestVault()
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let file = test.root + "/backup"
        try test.vault.backup(to: file)
        #expect(link(test.databaseFile, test.databaseFile + suffix) == 0)
        try test.vault.restore(from: file)
        #expect(!FileManager.default.fileExists(atPath: test.databaseFile + suffix))
    }

    @Test func vault_withAnyOtherName_isRefused() throws {
        let test = try Self.cutShort()
        #expect(rename(test.databaseFile + ".new", test.root + "/other") == 0)
        #expect(reason { _ = try test.reopened().text(.genericPassword("s", "a")) } == .unsafeLocation)
    }
}
