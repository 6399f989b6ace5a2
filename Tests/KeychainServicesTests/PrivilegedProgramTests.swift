// SPDX-License-Identifier: Apache-2.0
// Programs with rights that their caller has not: setuid, setgid, file capabilities.

import Foundation
import KeychainTestSupport
import Testing

@Suite(
    "Programs with more rights than their caller",
    .enabled(if: !PrivilegedProgram.rights.isEmpty, "not root, or programs get no more rights here (nosuid)"))
struct PrivilegedProgramTests {
    private let programs: PrivilegedProgram

    init() throws { programs = try PrivilegedProgram() }

    /// Everything that a variable can name, each a place of its own below the caller's folder.
    private var places: [String: String] {
        let names = [
            "KEYCHAIN_VAULT", "KEYCHAIN_DEVICE_KEY", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
            "XDG_RUNTIME_DIR", "CREDENTIALS_DIRECTORY", "TMPDIR", "KEYCHAIN_ENTITLEMENTS",
        ]
        return Dictionary(uniqueKeysWithValues: names.map { ($0, programs.callersFolder + "/" + $0) })
    }

    private func environment(without names: String...) -> [String: String] {
        places.filter { !(names + ["KEYCHAIN_ENTITLEMENTS"]).contains($0.key) }
    }

    private var made: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: programs.callersFolder).sorted() }
    }

    @Test func program_withTheRightsOfItsCaller_heedsItsVariables() throws {
        let app = try programs.install("entitled-app", nil)
        #expect(try programs.run([app, "add"], environment: environment()) == "0\n")
        #expect(try made == ["KEYCHAIN_DEVICE_KEY", "KEYCHAIN_VAULT", "XDG_STATE_HOME"])
    }

    @Test(arguments: PrivilegedProgram.rights)
    func program_withMoreRights_makesNothingWhereItsCallerSays(rights: ExtraRights) throws {
        let app = try programs.install("entitled-app", rights)
        #expect(try programs.run([app, "add"], environment: places) == "-25291\n")
        #expect(try programs.run([app, "add"], environment: environment()) == "-25291\n")
        let xdg = environment(without: "KEYCHAIN_VAULT", "KEYCHAIN_DEVICE_KEY")
        #expect(try programs.run([app, "add"], environment: xdg) == "-25291\n")
        let home = ["HOME": programs.callersFolder + "/HOME"]
        #expect(try programs.run([app, "add"], environment: home) == "-25291\n")
        #expect(try made == [])
    }

    @Test func program_withTheRightsOfItsCaller_runsItsAskpassProgram() throws {
        #expect(try asking(nil).hasPrefix("RESULT answer "))
        #expect(try made == ["asked", "askpass"])
    }

    @Test(arguments: PrivilegedProgram.rights)
    func program_withMoreRights_runsNoAskpassProgramOfItsCaller(rights: ExtraRights) throws {
        let answer = try asking(rights)
        #expect(answer.hasPrefix("RESULT nobody"), "\(answer)")
        #expect(try made == ["askpass"])
    }

    /// What a program that asks by what the environment names says.
    private func asking(_ rights: ExtraRights?) throws -> String {
        let askpass = programs.callersFolder + "/askpass"
        let text = programs.folder + "/text"
        try Data("#!/bin/sh\n: > \"${0%/*}/asked\"\necho secret\n".utf8).write(to: URL(fileURLWithPath: text))
        try Programs.copy(text, to: askpass)
        chmod(askpass, 0o755)
        let exerciser = try programs.install(Exerciser.name, rights)
        return try programs.run([exerciser, "ask", "explicit"], environment: ["KEYCHAIN_ASKPASS": askpass])
    }

    /// The owner of the program gets a home folder.
    ///
    /// - Returns: Its path, and the user database that says so.
    private func makeHome() throws -> (home: String, users: String) {
        try #require(PrivilegedProgram.rights.contains(.setuid))
        let home = programs.folder + "/home"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        try #require(chown(home, PrivilegedProgram.owner, 0) == 0)
        return (home, "owner:x:\(PrivilegedProgram.owner):0::\(home):/bin/sh\n")
    }

    @Test(.enabled(if: PrivilegedProgram.canMount, "nothing can be mounted"))
    func program_thatIsSetuid_hasTheVaultOfItsOwnerByTheUserDatabase() throws {
        let (home, users) = try makeHome()
        let app = try programs.install("entitled-app", .setuid)
        #expect(try programs.run([app, "add"], environment: environment(), users: users) == "0\n")
        #expect(try made == [])
        #expect(FileManager.default.fileExists(atPath: home + "/.local/share/swift-keychain/vault.db"))
        #expect(FileManager.default.fileExists(atPath: home + "/.config/swift-keychain/device.key"))
    }

    @Test(.enabled(if: PrivilegedProgram.canMount, "nothing can be mounted"))
    func program_thatIsSetuid_changesTheVaultOfItsOwner() throws {
        let users = try makeHome().users
        let app = try programs.install("entitled-app", .setuid)
        for verb in ["add", "update", "delete"] {
            #expect(try programs.run([app, verb], environment: [:], users: users) == "0\n")
        }
    }

    /// Its caller could read it there.
    @Test func program_thatIsSetuid_storesNothingInTheKeyringOfItsCaller() throws {
        try #require(PrivilegedProgram.rights.contains(.setuid))
        let exerciser = try programs.install(Exerciser.name, .setuid)
        let key = "swift-keychain-test:" + UUID().uuidString
        #expect(try programs.run([exerciser, "key-store", key, "secret"], environment: [:]) == "failure \(EPERM)\n")
    }
}
