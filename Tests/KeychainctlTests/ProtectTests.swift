// SPDX-License-Identifier: Apache-2.0
// What opens a vault: made, listed, added, changed, removed.

import Foundation
import Testing

@Suite("protect")
struct ProtectTests {
    private let vault: LockableTool
    private var tool: Tool { vault.tool }

    init() throws { vault = try LockableTool() }

    private func keyFile(_ name: String = "key", bytes: Int = 32, mode: Int = 0o600) throws -> String {
        let path = tool.home.appendingPathComponent(name).path
        _ = FileManager.default.createFile(
            atPath: path, contents: Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0) }),
            attributes: [.posixPermissions: mode])
        return path
    }

    // MARK: - Making a vault

    @Test func init_again_changesNothing() throws {
        let before = try tool.protectors().compactMap { $0["id"] as? String }
        let run = try tool.run("init")
        #expect(run.status == 0)
        #expect(run.errors.contains("already"))
        #expect(try tool.protectors().compactMap { $0["id"] as? String } == before)
    }

    @Test func init_ofAVaultThatOpensOtherwise_isRefused() throws {
        #expect(try tool.shell("echo x | \"$CTL\" init --passphrase-fd 0").status == 4)
    }

    @Test func init_withoutAnythingThatOpens_isUsage() throws {
        #expect(try tool.run("init", "--no-device-key").status == 64)
    }

    @Test func init_withoutOptions_makesAVaultThatOpensByItself() throws {
        let other = try Tool()
        #expect(try other.run("init").status == 0)
        #expect(try other.words() == ["device-key"])
        #expect(try other.status()["openedBy"] as? String == "device-key")
    }

    @Test func init_withARecoveryKey_printsItAlone() throws {
        let text = String(decoding: vault.recoveryKey, as: UTF8.self)
        #expect(text.wholeMatch(of: /([0-9A-Z]{4}-){13}[0-9A-Z]{4}\n/) != nil)
    }

    @Test(arguments: ["status", "protect", "doctor", "list", "init"])
    func recoveryKey_isShownByNoOtherVerb(verb: String) throws {
        let key = String(decoding: vault.recoveryKey.prefix(30), as: UTF8.self)
        #expect(try !tool.run(verb).everything.contains(key))
    }

    // MARK: - Listing

    @Test func list_showsWordAndIdentity() throws {
        let id = try #require(try tool.protectors().first?["id"] as? String)
        let text = try tool.run("protect").text
        #expect(text.contains("recovery-key"))
        #expect(text.contains(id))
    }

    @Test func json_hasTheDocumentedKeys() throws {
        #expect(
            try tool.protectors().first?.keys.sorted() == [
                "created", "doesNotProtectFrom", "id", "kind", "protectsFrom", "word",
            ])
    }

    @Test func list_withoutAVault_isEmpty() throws {
        #expect(try Tool().run("protect", "list").output.isEmpty)
    }

    // MARK: - Adding and removing

    @Test func remove_ofTheLast_isRefused() throws {
        #expect(try vault.withKey("protect remove recovery-key").status == 14)
        #expect(try tool.words() == ["recovery-key"])
    }

    @Test func remove_withoutASecretOrATerminal_isRefused() throws {
        #expect(try tool.shell("setsid --wait \"$CTL\" protect remove recovery-key").status == 5)
    }

    @Test func remove_ofWhatIsNotThere_isNotFound() throws {
        #expect(try vault.withKey("protect remove credential").status == 3)
        #expect(try vault.withKey("protect remove \(UUID().uuidString)").status == 3)
    }

    @Test func remove_ofSeveralOfAKind_takesAnIdentity() throws {
        #expect(try vault.withKey("protect add recovery-key").status == 0)
        #expect(try vault.withKey("protect remove recovery-key").status == 4)
        let id = try #require(try tool.protectors().last?["id"] as? String)
        #expect(try vault.withKey("protect remove \(id)").status == 0)
        #expect(try tool.words() == ["recovery-key"])
    }

    @Test func deviceKey_addedAgain_opensTheVault() throws {
        try vault.store()
        let run = try vault.withKey("protect add device-key")
        #expect(run.status == 0)
        #expect(run.errors.contains("without asking anybody"))
        #expect(try vault.get().output == secret)
    }

    @Test func deviceKey_removed_locksTheVault() throws {
        try vault.withKey("protect add device-key")
        try vault.store()
        let run = try vault.withKey("protect remove device-key")
        #expect(run.status == 0)
        #expect(run.errors.contains("locked now"))
        #expect(try vault.get().status == 5)
    }

    /// New keys have to be wrapped for the recovery key too, so it has to be here.
    @Test func deviceKey_removedWithoutTheRecoveryKey_isRefusedAndSaysWhatIsMissing() throws {
        try vault.withKey("protect add device-key")
        try vault.store()
        let run = try tool.run("protect", "remove", "device-key")
        #expect(run.status == 7)
        #expect(run.errors.contains("give the passphrase or recovery key"), "\(run.errors)")
        #expect(try tool.words() == ["recovery-key", "device-key"])
        #expect(try vault.get().output == secret)
    }

    @Test func deviceKey_removedKeepingTheKeys_saysThatAnOlderCopyStillOpensTheVault() throws {
        try vault.withKey("protect add device-key")
        let run = try tool.run("protect", "remove", "device-key", "--keep-keys")
        #expect(run.status == 0)
        #expect(run.errors.contains("still opens"), "\(run.errors)")
        #expect(try tool.words() == ["recovery-key"])
    }

    @Test func recoveryKey_added_opensTheVaultAndIsNotTheFirst() throws {
        let run = try vault.withKey("protect add recovery-key")
        #expect(run.output != vault.recoveryKey)
        try run.output.write(to: vault.keyOnPaper)
        #expect(try vault.withKey("list").status == 0)
    }

    @Test func recoveryKey_vouchedForByTheDeviceKeyAlone_isRefused() throws {
        try vault.withKey("protect add device-key")
        #expect(try tool.shell("setsid --wait \"$CTL\" protect add recovery-key").status == 5)
    }

    @Test func recoveryKey_changed_opensNoLonger() throws {
        let run = try vault.withKey("protect change recovery-key")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try vault.withKey("list").status == 7)
        try run.output.write(to: vault.keyOnPaper)
        #expect(try vault.withKey("list").status == 0)
    }

    /// The key would be lost, and with it the vault.
    @Test(arguments: [">/dev/full", ">&-"])
    func recoveryKey_thatCannotBeShown_isNotChanged(output: String) throws {
        let run = try tool.shell(
            "\"$CTL\" protect change recovery-key --recovery-key-fd 3 3< paper \(output)")
        #expect(run.status == 17)
        #expect(try vault.withKey("unlock").status == 0)
    }

    @Test(arguments: [">/dev/full", ">&-"])
    func recoveryKey_thatCannotBeShown_isNotAdded(output: String) throws {
        #expect(try tool.shell("\"$CTL\" protect add recovery-key --recovery-key-fd 3 3< paper \(output)").status == 17)
        #expect(try tool.words() == ["recovery-key"])
    }

    @Test(arguments: [">/dev/full", ">&-"])
    func init_withARecoveryKeyThatCannotBeShown_makesNoVault(output: String) throws {
        let other = try Tool()
        #expect(try other.shell("\"$CTL\" init --recovery-key --no-device-key \(output)").status == 17)
        #expect(try other.status()["exists"] as? Bool == false)
    }

    @Test func recoveryKey_thatWasShownAndIsRefused_isToThrowAway() throws {
        let run = try vault.withOtherKey("protect add recovery-key")
        #expect(run.status == 7)
        #expect(!run.text.isEmpty)
        #expect(run.errors.contains("Throw it away"))
    }

    @Test func credential_opensTheVaultForTheService() throws {
        try vault.store()
        try FileManager.default.createDirectory(
            at: tool.home.appendingPathComponent("credentials"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        _ = try keyFile("credentials/swift-keychain.key")
        let script = "export CREDENTIALS_DIRECTORY=\"$HOME/credentials\"; \"$CTL\" "
        let added = try tool.shell(script + "protect add credential --recovery-key-fd 3 3< paper")
        #expect(added.status == 0, "\(added.errors)")
        #expect(try tool.shell(script + "get -s example.com").output == secret)
        #expect(try vault.get().status == 5)
    }

    @Test func adopt_afterALostDeviceKey_bindsTheVaultToANewOne() throws {
        try vault.store()
        try FileManager.default.removeItem(at: tool.deviceKey)
        #expect(try tool.status()["deviceKeyFits"] as? Bool == false)
        #expect(try vault.withKey("protect adopt").status == 0)
        #expect(try tool.status()["deviceKeyFits"] as? Bool == true)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }

    @Test func adopt_ofAVaultWithItemsForAnotherDevice_saysHowManyItKeeps() throws {
        try vault.store("--accessibility when-unlocked-this-device-only")
        let aside = tool.deviceKey.appendingPathExtension("aside")
        try FileManager.default.moveItem(at: tool.deviceKey, to: aside)
        let run = try vault.withKey("protect adopt")
        #expect(run.status == 0)
        #expect(run.errors.contains("kept until its device key is back: 1"), "\(run.errors)")
        try FileManager.default.removeItem(at: tool.deviceKey)
        try FileManager.default.moveItem(at: aside, to: tool.deviceKey)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }

    @Test func rotate_withoutTheDeviceKey_failsAndSaysWhatStaysUnderTheOldKeys() throws {
        try vault.store("--accessibility when-unlocked-this-device-only")
        let aside = tool.deviceKey.appendingPathExtension("aside")
        try FileManager.default.moveItem(at: tool.deviceKey, to: aside)
        let run = try vault.withKey("rotate")
        #expect(run.status == 13)
        #expect(run.errors.contains("1 item for its device alone keeps"), "\(run.errors)")
        try FileManager.default.moveItem(at: aside, to: tool.deviceKey)
        #expect(try vault.withKey("rotate").status == 0)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }

    @Test func rotate_keepsTheItems() throws {
        try vault.store()
        let run = try vault.withKey("rotate")
        #expect(run.status == 0)
        #expect(run.everything.isEmpty)
        #expect(try vault.withKey("get -s example.com").output == secret)
        #expect(try tool.status()["rotationPending"] as? Bool == false)
    }

    @Test(.enabled(if: Tool.hasStrace, "strace is not installed"))
    func rotate_brokenOff_isToldAndGoesOn() throws {
        try vault.store()
        var isPending = false
        // Which of its writes to disk is the one between the new keys and the end of the old ones, SQLite decides.
        for write in 1...12 where !isPending {
            _ = try tool.shell(
                "strace -f -o /dev/null -e inject=fdatasync,fsync:signal=SIGKILL:when=\(write) "
                    + "\"$CTL\" rotate --recovery-key-fd 3 3< paper")
            isPending = try tool.status()["rotationPending"] as? Bool == true
        }
        try #require(isPending)
        #expect(try tool.run("doctor").text.contains("warning  rotation: "))
        #expect(try vault.withKey("rotate").status == 0)
        #expect(try tool.status()["rotationPending"] as? Bool == false)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }

    // MARK: - Key files

    private func addKeyFile(_ path: String) throws -> Tool.Run {
        try vault.withKey("protect add key-file --new-key-file '\(path)'")
    }

    @Test func keyFile_added_opensTheVault() throws {
        try vault.store()
        let path = try keyFile()
        #expect(try addKeyFile(path).status == 0)
        #expect(try tool.run("get", "-s", "example.com", "--key-file", path).output == secret)
        #expect(try tool.shell("\"$CTL\" get -s example.com --key-fd 3 3< key").output == secret)
    }

    @Test func keyFile_openToOthers_isUnsafe() throws {
        #expect(try addKeyFile(keyFile(mode: 0o640)).status == 15)
        #expect(try addKeyFile(keyFile("other", mode: 0o604)).status == 15)
    }

    @Test func keyFile_insideTheVaultFolder_isUnsafe() throws {
        let path = vault.tool.vaultFolder.appendingPathComponent("key").path
        _ = FileManager.default.createFile(
            atPath: path, contents: Data(repeating: 7, count: 32), attributes: [.posixPermissions: 0o600])
        let run = try addKeyFile(path)
        #expect(run.status == 15)
        #expect(run.errors.contains("inside the vault folder"))
    }

    @Test func keyFile_thatIsAPipe_isUnsafeAndDoesNotHang() throws {
        #expect(try tool.shell("mkfifo -m 600 pipe; timeout 20 \"$CTL\" unlock --key-file pipe").status == 15)
    }

    @Test func keyFile_thatIsALink_isUnsafe() throws {
        _ = try keyFile()
        #expect(try tool.shell("ln -s key link; \"$CTL\" unlock --key-file link").status == 15)
    }

    @Test func keyFile_thatIsMissing_isUnavailable() throws {
        #expect(try tool.run("unlock", "--key-file", "nowhere").status == 13)
    }

    @Test(arguments: [0, 31, 4097])
    func keyFile_ofTheWrongLength_isRefused(bytes: Int) throws {
        let run = try addKeyFile(keyFile(bytes: bytes))
        #expect(run.status == 64)
        #expect(run.errors.contains("32 to 4096"))
    }

    @Test func keyFile_withoutANewOne_isUsage() throws {
        #expect(try vault.withKey("protect add key-file").status == 64)
        #expect(try vault.withKey("protect add recovery-key --new-key-file key").status == 64)
    }
}
