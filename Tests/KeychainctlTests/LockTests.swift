// SPDX-License-Identifier: Apache-2.0
// Locking and unlocking, from one process to the next.

import Foundation
import Testing

@Suite("lock", .enabled(if: Tool.hasKeyring, "the kernel keeps no keys for this process"))
struct LockTests {
    private let vault: LockableTool
    private var tool: Tool { vault.tool }

    init() throws { vault = try LockableTool() }

    @Test func vault_madeWithoutADeviceKey_startsLocked() throws {
        #expect(try vault.lockState == "beforeFirstUnlock")
    }

    @Test func get_fromALockedVault_saysHowToUnlock() throws {
        try vault.store()
        let run = try vault.get()
        #expect(run.status == 5)
        #expect(run.errors.contains("keychainctl unlock"))
    }

    @Test func set_intoALockedVault_storesNothing() throws {
        #expect(try tool.run("set", "-s", "s", "-a", "a", input: secret).status == 5)
        try vault.unlock()
        #expect(try tool.listed().isEmpty)
    }

    @Test func unlock_inOneProcess_servesAnother() throws {
        try vault.store()
        try vault.unlock()
        #expect(try vault.get().output == secret)
    }

    @Test(arguments: ["300", "90s", "10m", "8h", "2d"])
    func unlock_withATimeout_servesAnotherProcess(timeout: String) throws {
        try vault.store()
        #expect(try vault.withKey("unlock --timeout \(timeout)").status == 0)
        #expect(try vault.get().output == secret)
    }

    @Test(arguments: ["0s", "0", "m", "-1m", "1.5h", "99999999h", "4294967296", "49711d", "15minutes"])
    func unlock_withATimeoutThatIsNone_isUsage(timeout: String) throws {
        #expect(try vault.withKey("unlock --timeout=\(timeout)").status == 64)
    }

    @Test func lock_afterUnlock_closesTheVaultForTheNextProcess() throws {
        try vault.store()
        try vault.unlock()
        #expect(try tool.run("lock").status == 0)
        #expect(try vault.get().status == 5)
        #expect(try vault.lockState == "locked")
    }

    @Test func lock_leavesOpenWhatIsOpenAfterTheFirstUnlock() throws {
        try vault.store("--accessibility after-first-unlock")
        try vault.unlock()
        try tool.run("lock")
        #expect(try vault.get().output == secret)
    }

    /// It is kept, and could be put back.
    @Test func restorationOfAnotherVault_locksTheOneThatItReplaces() throws {
        let other = try LockableTool()
        try other.store()
        let backup = other.tool.home.appendingPathComponent("backup").path
        #expect(try other.tool.run("backup", backup).status == 0)
        try vault.store()
        try vault.unlock()
        let restore = "\"$CTL\" restore --yes"
        let key = "--recovery-key-fd 3 3< '\(other.keyOnPaper.path)'"
        #expect(try tool.shell("\(restore) '\(backup)' \(key)").status == 0)
        _ = try tool.shell("\(restore) '\(tool.vaultFolder.path)'/vault.db.replaced-*")
        #expect(try vault.get().status == 5)
        #expect(try vault.withKey("get -s example.com -a alice").output == secret)
    }

    /// Which keys are the vault's, only its files tell.
    @Test func lock_ofAFolderThatIsOpenToOthers_saysThatNothingIsLocked() throws {
        try vault.store()
        try vault.unlock()
        let folder = tool.vaultFolder.path
        let run = try tool.shell(
            "chmod 755 '\(folder)'; \"$CTL\" lock --all; code=$?; chmod 700 '\(folder)'; exit $code")
        #expect(run.status == 15 && run.errors.contains("Nothing was locked"), "\(run.everything)")
        #expect(try vault.get().output == secret)
    }

    @Test(arguments: ["protect adopt", "protect remove key-file"])
    func change_thatLocksTheVault_saysSo(line: String) throws {
        _ = FileManager.default.createFile(
            atPath: tool.home.appendingPathComponent("key").path, contents: Data(repeating: 7, count: 32),
            attributes: [.posixPermissions: 0o600])
        #expect(try vault.withKey("protect add key-file --new-key-file key").status == 0)
        try vault.unlock()
        let run = try vault.withKey(line)
        #expect(run.status == 0 && run.errors.contains("The vault is locked now."), "\(run.everything)")
        #expect(try vault.lockState != "unlocked")
    }

    @Test func lockAll_closesThatToo() throws {
        try vault.store("--accessibility after-first-unlock")
        try vault.unlock()
        try tool.run("lock", "--all")
        #expect(try vault.get().status == 5)
        #expect(try vault.lockState == "beforeFirstUnlock")
    }

    /// Certificates are public: a closed password does not close them.
    @Test(.enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
    func certificateList_besideALockedItem_showsWhatIsOpenAndCountsTheRest() throws {
        let new = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -out c.pem"
        let made = try tool.shell("openssl req -x509 \(new) -subj '/CN=Open One' -days 30 2>&1")
        try #require(made.status == 0, "\(made.text)")
        try #require(try vault.withKey("certificate import c.pem").status == 0)
        try vault.store()
        try vault.unlock()
        #expect(try tool.run("certificate", "list").errors.isEmpty)
        try tool.run("lock")
        for options in ["", "--json", "--access-group default"] {
            let run = try tool.shell("\"$CTL\" certificate list \(options) < /dev/null")
            #expect(run.status == 0 && run.text.contains("Open One"), "\(options): \(run.everything)")
            #expect(run.errors.contains(" 1 locked item(s) cannot be shown"), "\(options): \(run.errors)")
        }
        // These have to look at the locked item itself.
        for words in ["list", "key list", "identity list"] {
            #expect(try tool.shell("\"$CTL\" \(words) < /dev/null").status == 5, "\(words)")
        }
        #expect(try vault.withKey("certificate list").errors.isEmpty)
    }

    @Test func certificateList_ofLockedItemsOnly_saysHowToUnlock() throws {
        try vault.store()
        try vault.unlock()
        try tool.run("lock")
        let run = try tool.shell("\"$CTL\" certificate list < /dev/null")
        #expect(run.status == 5 && run.errors.contains("keychainctl unlock"), "\(run.errors)")
    }

    @Test func delete_fromALockedVault_works() throws {
        try vault.store()
        #expect(try tool.run("delete", "-s", "example.com", "-a", "alice", "--all").status == 0)
    }

    @Test func get_withTheSecret_unlocksForItselfAlone() throws {
        try vault.store()
        #expect(try vault.withKey("get -s example.com").output == secret)
        #expect(try vault.get().status == 5)
        #expect(try vault.lockState == "beforeFirstUnlock")
    }

    @Test(arguments: ["list", "get -s example.com -a alice", "delete -s example.com -a alice"])
    func verb_withTheSecret_works(line: String) throws {
        try vault.store()
        #expect(try vault.withKey(line).status == 0)
    }

    @Test func unlock_withTheKeyOfAnotherVault_isDenied() throws {
        try LockableTool().recoveryKey.write(to: vault.keyOnPaper)
        #expect(try vault.withKey("unlock").status == 7)
        #expect(try vault.lockState == "beforeFirstUnlock")
    }

    @Test func unlock_withAMistypedKey_saysSoWithoutShowingIt() throws {
        let key = String(decoding: vault.recoveryKey, as: UTF8.self).trimmingCharacters(in: .newlines)
        let mistyped = (key.hasPrefix("0") ? "1" : "0") + key.dropFirst()
        try Data(mistyped.utf8).write(to: vault.keyOnPaper)
        let run = try vault.withKey("unlock")
        #expect(run.status == 64)
        #expect(run.errors.contains("typing mistake"))
        #expect(!run.everything.contains(mistyped.suffix(20)))
    }

    @Test func unlock_withAKindThatTheVaultLacks_isDenied() throws {
        #expect(try tool.shell("echo x | \"$CTL\" unlock --passphrase-fd 0").status == 7)
    }

    @Test func unlock_withTwoSecrets_isUsage() throws {
        #expect(try vault.withKey("unlock --passphrase-fd 3").status == 64)
    }

    @Test func unlock_withNothingOnTheDescriptor_isUsage() throws {
        #expect(try tool.shell("\"$CTL\" unlock --recovery-key-fd 3 3< /dev/null").status == 64)
    }

    @Test func unlock_withAnEndlessSecret_isTooLarge() throws {
        #expect(try tool.shell("\"$CTL\" unlock --recovery-key-fd 3 3< /dev/zero").status == 18)
    }

    @Test func unlock_withoutATerminal_saysHowElse() throws {
        let run = try tool.shell("setsid --wait \"$CTL\" unlock")
        #expect(run.status == 5)
        // The vault has no passphrase.
        #expect(run.errors.contains("--recovery-key-fd 3") && !run.errors.contains("--passphrase-fd"), "\(run.errors)")
    }

    @Test func unlock_withoutAVault_saysHowToMakeOne() throws {
        let run = try Tool().shell("echo x | \"$CTL\" unlock --passphrase-fd 0")
        #expect(run.status == 13)
        #expect(run.errors.contains("keychainctl init"))
    }

    @Test(arguments: [
        "lock", "lock --all", "unlock", "rotate", "protect adopt", "protect change passphrase",
        "protect remove device-key",
    ])
    func verb_withoutAVault_saysHowToMakeOne(line: String) throws {
        let run = try Tool().shell("setsid --wait \"$CTL\" \(line)")
        #expect(run.status == 13)
        #expect(run.errors.contains("keychainctl init"), "\(run.errors)")
    }

    @Test func vault_thatOpensByItself_cannotBeLocked() throws {
        let other = try Tool()
        try other.store()
        #expect(try other.run("lock").status == 14)
        #expect(try other.get() == secret)
    }

    @Test func vault_thatOpensByItself_hasNothingToUnlock() throws {
        let other = try Tool()
        try other.store()
        let run = try other.run("unlock")
        #expect(run.status == 0)
        #expect(run.errors.contains("nothing to unlock"))
    }

    @Test func set_withValueAndSecretThroughOneDescriptor_isUsage() throws {
        #expect(try tool.run("set", "-s", "s", "-a", "a", "--recovery-key-fd", "0", input: secret).status == 64)
    }

    @Test func accessibility_ofAnItemThatIsThere_isChanged() throws {
        try vault.store()
        try vault.store("--accessibility ck")
        try vault.unlock()
        #expect(try tool.listed().first?["accessibility"] as? String == "afterFirstUnlock")
    }

    @Test func accessibility_thatDoesNotExist_isUsage() throws {
        #expect(try tool.run("set", "-s", "s", "-a", "a", "--accessibility", "sometimes", input: secret).status == 64)
    }
}

@Suite("without the kernel's keyring")
struct WithoutKeyringTests {
    private let vault: LockableTool
    private var tool: Tool { vault.tool }

    init() throws { vault = try LockableTool() }

    /// As a container refuses: with strace, or by asking for it.
    private static let ways = ["KEYCHAIN_UNLOCK_CACHE=process"] + (Tool.hasStrace ? [refusing] : [])
    private static let refusing = "strace -f -o /dev/null -e inject=keyctl,add_key:error=EPERM"

    @Test(arguments: ways)
    func unlock_saysWhyItIsOfNoUseAndWhatElse(way: String) throws {
        let run = try tool.shell("\(way) \"$CTL\" unlock --recovery-key-fd 3 3< paper")
        #expect(run.status == 13)
        #expect(run.errors.contains("keychainctl get --recovery-key-fd 3"), "\(run.errors)")
        #expect(!run.errors.contains("--passphrase-fd"), "\(run.errors)")
    }

    @Test(arguments: ways)
    func get_withTheSecret_works(way: String) throws {
        try vault.store()
        let run = try tool.shell("\(way) \"$CTL\" get -s example.com --recovery-key-fd 3 3< paper")
        #expect(run.output == secret, "\(run.errors)")
    }

    @Test(arguments: ways)
    func get_withoutIt_saysToGiveItThere(way: String) throws {
        try vault.store()
        let run = try tool.shell("\(way) \"$CTL\" get -s example.com")
        #expect(run.status == 5)
        // The vault has no passphrase.
        #expect(run.errors.contains("with --recovery-key-fd") && !run.errors.contains("--passphrase-fd"))
    }

    @Test(arguments: ways)
    func status_saysThatUnlockingServesOneCommand(way: String) throws {
        #expect(try tool.shell("\(way) \"$CTL\" status").text.contains("in each process"))
    }

    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"))
    func doctor_saysWhatToChange() throws {
        let run = try tool.shell("\(Self.refusing) \"$CTL\" doctor")
        #expect(run.status == 0)
        #expect(run.text.contains("warning  kernel-keyring"))
    }

    /// `unlock` would be of no use.
    @Test(arguments: ways)
    func advice_forALockedVault_isAnother(way: String) throws {
        #expect(try !tool.shell("\(way) \"$CTL\" doctor").text.contains("keychainctl unlock"))
        let made = try Tool().shell("\(way) \"$CTL\" init --recovery-key --no-device-key")
        #expect(made.status == 0)
        #expect(!made.errors.contains("keychainctl unlock"), "\(made.errors)")
    }
}
