// SPDX-License-Identifier: Apache-2.0
// What opens a vault: made, listed, added, changed, removed.

import Foundation
import Testing

@Suite("protect")
struct ProtectTests {
    let vault: LockableTool
    var tool: Tool { vault.tool }

    init() throws { vault = try LockableTool() }

    func keyFile(_ name: String = "key", bytes: Int = 32, mode: Int = 0o600) throws -> String {
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

    @Test(arguments: [("first words", 0), ("other words", 4)])
    func init_ofAVaultWithAPassphrase_comparesTheGivenOne(passphrase: String, status: Int32) throws {
        let other = try Tool()
        #expect(try other.shell("echo first words | \"$CTL\" init --passphrase-fd 0").status == 0)
        #expect(try other.shell("echo \(passphrase) | \"$CTL\" init --passphrase-fd 0").status == status)
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

    /// `UUID()` of Foundation would be the same each time.
    @Test(.enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"))
    func identities_madeWithoutTheFolderOfDevices_differ() throws {
        let other = try Tool()
        let run = try other.shellWithOwnMounts(
            """
            mount -t tmpfs none /dev; printf 'open sesame' > new
            "$CTL" init; "$CTL" protect add passphrase --new-passphrase-fd 3 3< new
            """)
        try #require(run.status == 0, "\(run.everything)")
        #expect(Set(try other.protectors().compactMap { $0["id"] as? String }).count == 2)
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

    @Test func remove_thatIsRefused_leavesTheVaultUnlocked() throws {
        try vault.store()
        try vault.unlock()
        let run = try vault.withKey("protect remove recovery-key")
        #expect(run.status == 14 && !run.errors.contains("locked now"), "\(run.errors)")
        #expect(try vault.get().output == secret)
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
        #expect(run.errors.contains("without a prompt"))
        #expect(try vault.get().output == secret)
    }

    @Test func deviceKey_thatOpensTheVault_isNotAddedTwice() throws {
        try vault.withKey("protect add device-key")
        let run = try tool.run("protect", "add", "device-key")
        #expect(run.status == 4 && run.errors.contains("already"), "\(run.errors)")
        #expect(try tool.words() == ["recovery-key", "device-key"])
    }

    @Test func deviceKey_addedWhereThereIsNoVault_isThatOfTheNewOne() throws {
        let other = try Tool()
        #expect(try other.run("protect", "add", "device-key").status == 0)
        #expect(try other.words() == ["device-key"])
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
}
