// SPDX-License-Identifier: Apache-2.0
// The folders that the first write makes are on disk when it is acknowledged.

import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainVault

@Suite(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
struct FolderDurabilityTests {
    @Test func firstWrite_thatMakesFolders_syncsTheParentOfEachBeforeItIsAcknowledged() throws {
        let strace = try #require(Programs.strace)
        let test = try TestVault()
        let trace = test.root + "/trace"
        let (vault, key) = (test.root + "/data/share/vault", test.root + "/config/app/device.key")
        let child = try ChildProcess.run(
            strace,
            ["-f", "-qq", "-y", "-o", trace, "-e", "trace=mkdir,mkdirat,fsync,write"]
                + [Exerciser.path, "add", vault, key, "a", "v"])
        #expect(child.lines == ["done"], "\(child.errors)")
        let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").map(String.init)
        let acknowledged = try #require(calls.firstIndex { $0.contains("write(1<") && $0.contains("done") })
        let made = calls.indices.filter { calls[$0].contains("mkdir") && calls[$0].hasSuffix("= 0") }
        // Two above the vault and it, two above the device key, and the anchor's beside that.
        #expect(made.count == 6)
        for index in made {
            let folder = try #require(calls[index].split(separator: "\"").dropFirst().first.map(String.init))
            let parent = FileSafety.parent(of: folder)
            let isSynced = calls[index..<acknowledged].contains { $0.contains("fsync(") && $0.contains("<\(parent)>") }
            #expect(isSynced, "\(parent)")
        }
    }

    /// The file of the device key is among them: a key that a crash could take back must not wrap anything.
    @Test func firstWrite_ofWhichAnythingCannotBeSynced_isNotAcknowledged() throws {
        let strace = try #require(Programs.strace)
        for occurrence in 1...6 {
            let test = try TestVault()
            let child = try test.exercise(
                ["script", "1"], injecting: "fsync:error=EIO:when=\(occurrence)", strace: strace)
            #expect(child.failureReasons == ["inputOutput"], "fsync \(occurrence): \(child.output)")
        }
    }

    /// A process may have been killed before the names were durable, and a later write must not rely on them.
    @Test func firstWrite_withADeviceKeyThatIsThere_syncsItsFolder() throws {
        let test = try TestVault()
        _ = try test.exercise("add", "a", "v")
        try FileManager.default.removeItem(atPath: test.location.folder)
        let synced = try Self.foldersSynced(test)
        #expect(synced.contains(FileSafety.parent(of: test.location.deviceKeyFile)), "\(synced)")
    }

    @Test func write_toAVaultWhoseMakingHasNotEnded_syncsItsFolder() throws {
        let test = try TestVault()
        _ = try test.exercise("add", "a", "v")
        #expect(truncate(test.location.lockFile, 0) == 0)
        let synced = try Self.foldersSynced(test)
        #expect(synced.contains(test.location.folder), "\(synced)")
    }

    /// The folders that one addition makes durable.
    private static func foldersSynced(_ test: TestVault) throws -> [String] {
        let strace = try #require(Programs.strace)
        let trace = test.root + "/trace"
        let child = try ChildProcess.run(
            strace,
            ["-f", "-qq", "-y", "-o", trace, "-e", "trace=fsync", Exerciser.path]
                + test.exerciserArguments(["add", "b", "v"]))
        #expect(child.lines == ["done"], "\(child.errors)")
        let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        let names = calls.compactMap { $0.split(separator: "<").dropFirst().first?.split(separator: ">").first }
        return names.map(String.init)
    }
}
