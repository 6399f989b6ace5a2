// SPDX-License-Identifier: Apache-2.0
// Which file holds a program's entitlements, and that a program is unrestricted only if there is certainly none.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

@testable import KeychainVault

@Suite("Entitlements files")
struct EntitlementsFileTests {
    private let folder: TemporaryFolder
    private let list: Data

    init() throws {
        folder = try TemporaryFolder("keychain-entitlements")
        list = try propertyList(["keychain-access-groups": ["$(AppIdentifierPrefix)a", "b"]])
    }

    private func accessGroups(_ environment: [String: String] = [:]) throws -> AccessGroups {
        try AccessGroups.ofEnvironment(environment, executable: folder.program)
    }

    /// A binary list may name an entry twice, of which Foundation takes now one and now the other.
    @Test func file_withTwoEntriesOfOneName_isRefused() throws {
        let identifier = Data([0x5F, 0x10, 0x16]) + Data("application-identifier".utf8)
        let objects: [Data] = [Data([0xD2, 1, 1, 2, 3]), identifier, Data([0x51, 0x61]), Data([0x51, 0x62])]
        var (bytes, offsets) = (Data("bplist00".utf8), Data())
        for object in objects {
            offsets.append(UInt8(bytes.count))
            bytes += object
        }
        let table = UInt8(bytes.count)
        bytes += offsets
        bytes += Data([0, 0, 0, 0, 0, 0, 1, 1])
        for number in [4, 0, table] { bytes += Data(count: 7) + Data([number]) }
        try folder.write(bytes)
        let failure = try #require(folder.refusal([:]))
        #expect(failure.reason == .unavailable)
        #expect(failure.message.contains("two entries"))
    }

    // MARK: Where they lie

    @Test func program_withoutAFile_isUnrestricted() throws {
        #expect(try accessGroups() == .unrestricted)
    }

    @Test func file_besideTheProgram_isUsed() throws {
        try folder.write(list)
        #expect(try accessGroups(["KEYCHAIN_TEAM_ID": "T"]).names == ["T.a", "b"])
    }

    @Test func file_thatTheEnvironmentNames_isUsedInsteadOfTheOneBesideTheProgram() throws {
        try folder.write(Data("broken".utf8))
        try folder.write(list, to: "other")
        let environment = ["KEYCHAIN_TEAM_ID": "T", "KEYCHAIN_ENTITLEMENTS": folder.path + "/other"]
        #expect(try accessGroups(environment).names == ["T.a", "b"])
    }

    @Test(arguments: ["", "other", "./other", "/missing\0", "/missing/\(UUID().uuidString)"])
    func variable_thatNamesNoFile_isRefused(path: String) throws {
        try folder.write(list, to: "other")
        let failure = try #require(folder.refusal(["KEYCHAIN_ENTITLEMENTS": path]))
        #expect(failure.reason == .unavailable)
        #expect(failure.message.contains("KEYCHAIN_ENTITLEMENTS"))
    }

    @Test func file_behindALink_isUsed() throws {
        try folder.write(try propertyList(["application-identifier": "x"]), to: "other")
        try FileManager.default.createSymbolicLink(
            atPath: folder.entitlements, withDestinationPath: folder.path + "/other")
        #expect(try accessGroups().names == ["x"])
    }

    // MARK: What cannot be used

    private func expectRefusal() throws {
        for environment in [[:], ["KEYCHAIN_ENTITLEMENTS": folder.entitlements]] {
            let failure = try #require(folder.refusal(environment), "not refused: \(environment)")
            #expect(failure.reason == .unavailable)
            #expect(failure.message.contains(folder.entitlements))
        }
    }

    @Test(arguments: ["", "<plist><dict>", "<plist><array/></plist>", "word"])
    func file_thatIsBroken_isRefused(text: String) throws {
        try folder.write(Data(text.utf8))
        try expectRefusal()
    }

    @Test func file_withAVariableAndNoTeam_isRefused() throws {
        try folder.write(list)
        try expectRefusal()
    }

    /// A file without end, but for its holes.
    @Test func file_ofATerabyte_isRefused() throws {
        try folder.write(list)
        #expect(truncate(folder.entitlements, 1 << 40) == 0)
        try expectRefusal()
    }

    @Test func pipe_isRefusedWithoutHanging() throws {
        #expect(mkfifo(folder.entitlements, 0o600) == 0)
        try expectRefusal()
    }

    @Test func folder_inTheFilesPlace_isRefused() throws {
        #expect(mkdir(folder.entitlements, 0o700) == 0)
        try expectRefusal()
    }

    @Test(arguments: ["app.entitlements", "missing", "/dev/null", "/dev/zero", "app.entitlements/x"])
    func link_thatLeadsToNoFile_isRefused(target: String) throws {
        #expect(symlink(target, folder.entitlements) == 0)
        try expectRefusal()
    }

    @Test func name_thatIsTooLong_isRefused() {
        let program = folder.path + "/" + String(repeating: "a", count: 250)
        #expect(throws: KeychainError.self) { try AccessGroups.ofEnvironment([:], executable: program) }
    }

    @Test(.enabled(if: geteuid() != 0, "root may read every file"))
    func file_thatMayNotBeRead_isRefused() throws {
        try folder.write(list)
        #expect(chmod(folder.entitlements, 0) == 0)
        try expectRefusal()
    }

    @Test(.enabled(if: geteuid() != 0, "root may enter every folder"))
    func folder_thatMayNotBeEntered_isRefused() throws {
        #expect(chmod(folder.path, 0o600) == 0)
        defer { chmod(folder.path, 0o700) }
        try expectRefusal()
    }

    // MARK: What a refused program gets

    @Test(arguments: Call.allCases)
    func call_ofAProgramWithABrokenFile_isNotAvailable(call: Call) throws {
        try folder.write(Data("broken".utf8))
        let environment = ["KEYCHAIN_VAULT": folder.path + "/vault", "KEYCHAIN_DEVICE_KEY": folder.path + "/key"]
        let keychain = DefaultKeychain.ofEnvironment(environment, executable: folder.program)
        let services = Services(engine: Engine(store: keychain.store), accessGroups: keychain.accessGroups)
        for entries in [genp(), genp(["agrp": "b"]), genp(["agrp": "default"])] {
            #expect(call.status(services, entries) == errSecNotAvailable)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/vault"))
    }

    // MARK: Which program runs

    @Test func runningProgram_isTheFileOfTheTests() throws {
        let path = try RunningProgram.path()
        #expect(path.hasPrefix("/") && FileManager.default.isExecutableFile(atPath: path))
    }

    @Test func program_thatWasReplacedWhileItRan_keepsItsPath() throws {
        try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: folder.program)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: folder.program)
        process.arguments = ["60"]
        try process.run(limitedTo: .testLimit)
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try FileManager.default.removeItem(atPath: folder.program)
        let target = try RunningProgram.linkTarget("/proc/\(process.processIdentifier)/exe")
        #expect(target != folder.program)
        #expect(try RunningProgram.withoutDeletionMark(target) == folder.program)
    }

    @Test func program_whoseNameEndsInTheMark_keepsItsName() throws {
        try folder.write(Data(), to: "app (deleted)")
        let path = folder.path + "/app (deleted)"
        #expect(try RunningProgram.withoutDeletionMark(path) == path)
    }

    @Test(arguments: ["/missing/link", "/proc/self/status"])
    func program_thatCannotBeTold_isUnavailable(link: String) {
        let failure = #expect(throws: KeychainError.self) { try RunningProgram.linkTarget(link) }
        #expect(failure?.reason == .unavailable)
    }

    @Test func program_atAPathThatIsNoUTF8_isUnavailable() throws {
        let link = folder.path + "/link"
        #expect(symlink([0x2f, -1, 0x61, 0], link) == 0)
        let failure = #expect(throws: KeychainError.self) { try RunningProgram.linkTarget(link) }
        #expect(failure?.reason == .unavailable)
    }
}
