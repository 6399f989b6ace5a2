// SPDX-License-Identifier: Apache-2.0
// What remembers a vault outside of it has its newest state after each write, and costs nothing where it is not wanted.

import CTestShims
import Foundation
import KeychainEngine
import KeychainTestSupport
import SecretMemory
import Testing

@testable import KeychainVault

@Suite(.enabled(if: KernelUnlockCache.isUsable, "the kernel keeps no keys for this process"))
struct KernelAnchorTests {
    /// What becomes of the key between two writes.
    enum End: CaseIterable {
        case removed, revoked, unlinked, expired

        func happen(to key: KernelKeyring.Key) throws {
            // The process that asks possesses the key from then on.
            #expect(KernelKeyring.isAlive(key))
            switch self {
            case .removed: try KernelKeyring.remove(key)
            case .revoked: #expect(test_revoke_key(key.serial) == 0)
            case .unlinked: #expect(test_unlink_from_user_keyring(key.serial) == 0)
            case .expired:
                try KernelKeyring.setTimeout(.seconds(1), of: key)
                let end = ContinuousClock.now + .seconds(60)
                while KernelKeyring.isAlive(key), ContinuousClock.now < end { usleep(20_000) }
            }
        }
    }

    private static var settings: VaultSettings {
        var settings = VaultSettings.cheap
        settings.anchors = [.kernel]
        return settings
    }

    private static func key(_ test: TestVault) throws -> KernelKeyring.Key? {
        let id = try test.another(settings).currentSession().keybag.vaultID
        return try KernelKeyring.find("swift-keychain:seen:" + Anchor.Place(test.location, vaultID: id).name)
    }

    private static func forget(_ test: TestVault) {
        do { if let key = try key(test) { try KernelKeyring.remove(key) } } catch { Issue.record(error) }
    }

    private static func isWatched(_ test: TestVault) throws -> Bool? {
        try test.another(settings).status().isRollbackWatched
    }

    @Test(arguments: End.allCases)
    func key_goneSinceTheLastWrite_isThereAgainAfterTheNext(_ end: End) throws {
        let test = try TestVault(Self.settings)
        defer { Self.forget(test) }
        for name in ["a", "b"] { try test.engine.add(.genericPassword("s", name, value: "v")) }
        let key = try #require(try Self.key(test))
        try end.happen(to: key)
        #expect(try Self.key(test) == nil)
        try test.engine.add(.genericPassword("s", "c", value: "v"))
        #expect(try Self.isWatched(test) == true)
        try test.engine.add(.genericPassword("s", "d", value: "v"))
        #expect(try Self.isWatched(test) == true)
    }

    /// A process that comes later changes the key that it found when it looked.
    @Test func key_thatIsThere_isChangedByEveryProcess() throws {
        let test = try TestVault(Self.settings)
        defer { Self.forget(test) }
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let key = try Self.key(test)
        try test.another(Self.settings).engine.add(.genericPassword("s", "b", value: "v"))
        try test.engine.add(.genericPassword("s", "c", value: "v"))
        #expect(try Self.isWatched(test) == true)
        #expect(try Self.key(test) == key)
    }

    /// Each of two processes would make the other one's key again with every write.
    @Test func key_madeAgainByAnotherProcess_isChangedAndNotReplaced() throws {
        let test = try TestVault(Self.settings)
        defer { Self.forget(test) }
        let other = test.another(Self.settings)
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        try other.engine.add(.genericPassword("s", "b", value: "v"))
        try KernelKeyring.remove(#require(try Self.key(test)))
        try other.engine.add(.genericPassword("s", "c", value: "v"))
        let key = try #require(try Self.key(test))
        try test.engine.add(.genericPassword("s", "d", value: "v"))
        #expect(try Self.key(test) == key)
        #expect(try Self.isWatched(test) == true)
    }

    /// The kernel takes no further key, so the record of the first write has to be the one that is changed.
    @Test(.enabled(if: Programs.strace != nil, "strace cannot trace here"))
    func key_thatIsThere_isChangedWhereItIs() throws {
        let strace = try #require(Programs.strace)
        let test = try TestVault(Self.settings)
        defer { Self.forget(test) }
        let options = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=add_key"]
        let words = options + ["-e", "inject=add_key:error=EDQUOT:when=2+", Exerciser.path]
        let child = try ChildProcess(
            strace, words + test.exerciserArguments(["script", "5"]), environment: ["KEYCHAIN_ANCHORS": "kernel"]
        ).start().finish()
        #expect(child.lines == ["0", "1", "2", "3", "4"])
        #expect(try Self.isWatched(test) == true)
    }
}

struct UnkeptAnchorTests {
    private static var settings: VaultSettings {
        var settings = VaultSettings.cheap
        settings.anchors = []
        return settings
    }

    private static func unwanted() -> [UInt8] {
        Issue.record("a record was made that nobody keeps")
        return []
    }

    @Test func record_whereNoneIsKept_isNotMade() throws {
        let test = try TestVault()
        AnchorStore(test.location, Self.settings, vaultID: UUID()).write(Self.unwanted())
    }

    /// What is remembered there would be put back together with the vault.
    @Test func record_whoseFolderLiesInTheVault_isNotMade() throws {
        let test = try TestVault()
        let location = try VaultLocation(
            folder: test.location.folder, deviceKeyFile: test.location.deviceKeyFile,
            stateFolder: test.location.folder + "/state")
        AnchorStore(location, .cheap, vaultID: UUID()).write(Self.unwanted())
    }

    /// As by `chmod -R go+rX` of a home. What others may change is not used.
    @Test(arguments: [(0o755, 0o644, true), (0o777, 0o644, false), (0o755, 0o666, false)])
    func record_whoseFolderIsOpenToOthers_isKeptIfTheyOnlyRead(folder: mode_t, file: mode_t, isKept: Bool) throws {
        var settings = VaultSettings.cheap
        settings.anchors = [.file]
        let test = try TestVault(settings)
        try test.engine.add(.genericPassword("s", "a", value: "v"))
        let state = test.location.stateFolder
        let path = try #require(try test.files().keys.first { $0.hasPrefix(state) })
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(chmod(path, file) == 0 && chmod(state, folder) == 0)
        let other = test.another()
        try Engine(store: other).add(.genericPassword("s", "b", value: "v"))
        #expect(try (Data(contentsOf: URL(fileURLWithPath: path)) != before) == isKept)
        #expect(try (other.currentSession().anchors.writeFailure == nil) == isKept)
    }

    @Test func vault_ofWhichNoneIsKept_leavesNone() throws {
        let test = try TestVault(Self.settings)
        for name in ["a", "b"] { try test.engine.add(.genericPassword("s", name, value: "v")) }
        #expect(!FileManager.default.fileExists(atPath: test.location.stateFolder))
        #expect(try test.another().currentSession().anchors.read().records == [])
    }
}
