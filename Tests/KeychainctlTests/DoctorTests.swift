// SPDX-License-Identifier: Apache-2.0
// What `doctor` finds in spoiled vaults, and that it changes nothing.

import Foundation
import Testing

@Suite("doctor")
struct DoctorTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private struct Finding: Decodable {
        let check: String
        let severity: String
        let message: String
    }

    private struct Report: Decodable {
        let problems: Int
        let warnings: Int
        let findings: [Finding]
    }

    private func report(_ before: String = "") throws -> (status: Int32, report: Report) {
        let run = try tool.shell(before + " \"$CTL\" doctor --json")
        return (run.status, try JSONDecoder().decode(Report.self, from: run.output))
    }

    private func finding(_ check: String, _ severity: String, after spoiling: String) throws -> String {
        let (status, report) = try report(spoiling)
        #expect(status == (report.problems == 0 ? 0 : 1))
        #expect((severity == "problem") == (status == 1), "\(report.findings.filter { $0.severity == "problem" })")
        let found = report.findings.first { $0.check == check && $0.severity == severity }
        return try #require(found, "\(report.findings)").message
    }

    @Test(
        .enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"),
        arguments: ["vault.db", "vault.lock"])
    func file_thatCannotBeWritten_isFoundOutAlsoByStatus(name: String) throws {
        try tool.store()
        let script = """
            F="$HOME/.local/share/swift-keychain/\(name)"
            mount --bind "$F" "$F"; mount -o remount,bind,ro "$F"
            "$CTL" doctor; "$CTL" status; echo x | "$CTL" set -s s -a a
            """
        let run = try tool.shellWithOwnMounts(script)
        #expect(run.status == 10, "\(run.errors)")
        #expect(run.text.contains("/\(name)' cannot be written"), "\(run.text)")
        #expect(run.text.contains("read-only: this user cannot write the vault"), "\(run.text)")
    }

    /// What is done to a vault with one item, what is found, and what the advice speaks of.
    @Test(arguments: [
        ("chmod 755 $V", "vault-folder", "problem", "chmod 700"),
        ("mv $V elsewhere; ln -s ~/elsewhere $V", "vault-folder", "problem", "symbolic link"),
        ("chmod 644 $V/vault.db", "vault-files", "problem", "chmod 600"),
        ("ln $V/vault.db other", "vault-files", "problem", "hard links"),
        ("rm $V/vault.db; mkfifo -m 600 $V/vault.db", "vault-files", "problem", "a pipe"),
        ("chmod 777 ~/.local", "parent-folders", "problem", "chmod o-w"),
        ("chmod 775 ~/.local", "parent-folders", "warning", "chmod g-w"),
        ("chmod 644 $D", "device-key", "problem", "chmod 600"),
        ("echo junk > $D", "device-key", "problem", "damaged"),
        ("chmod 777 ~/.config", "device-key", "problem", "chmod o-w"),
        (
            "mkdir -m 777 open; cp /bin/true open/askpass; KEYCHAIN_ASKPASS=~/open/askpass; export KEYCHAIN_ASKPASS;",
            "environment", "problem", "chmod o-w"
        ),
        ("rm $D", "opening", "problem", "missing"),
        ("KEYCHAIN_DEVICE_KEY=$V/device.key; export KEYCHAIN_DEVICE_KEY;", "location", "problem", "inside the vault"),
        ("touch $V/vault.db.new", "residue", "warning", "vault.db.new"),
        ("ln -s nowhere $V/vault.db.restoring", "residue", "warning", "vault.db.restoring"),
        ("touch $D.new", "residue", "warning", "device.key.new"),
        (": > $V/vault.lock", "lock-file", "warning", "next write"),
        ("rm $V/vault.db", "database", "problem", "there was a vault"),
        ("echo junk > $V/vault.db", "database", "problem", "damaged"),
        ("exec flock $V/vault.lock", "writer", "warning", "Process"),
        ("KEYCHAIN_UNLOCK_CACHE=never", "environment", "problem", "KEYCHAIN_UNLOCK_CACHE"),
        ("KEYCHAIN_ENTITLEMENTS=/nowhere", "entitlements", "problem", "/nowhere"),
        ("KEYCHAIN_AUTHENTICATOR=crystal-ball", "environment", "problem", "KEYCHAIN_AUTHENTICATOR"),
        ("KEYCHAIN_AUTHENTICATOR=pinentry KEYCHAIN_PINENTRY=pinentry", "environment", "problem", "full path"),
        ("unset HOME;", "location", "problem", "HOME"),
        ("true;", "set-up", "warning", "keychainctl protect remove device-key"),
    ])
    func vault_spoiled_isFoundOut(spoiling: String, check: String, severity: String, advice: String) throws {
        try tool.store()
        let places = "V=~/.local/share/swift-keychain; D=~/.config/swift-keychain/device.key; "
        let isPrefix = spoiling.hasPrefix("exec") || spoiling.hasPrefix("KEYCHAIN") || spoiling.hasSuffix(";")
        let message = try finding(check, severity, after: places + spoiling + (isPrefix ? "" : ";"))
        #expect(message.contains(advice))
    }

    @Test(
        .enabled(if: Tool.hasPython, "python3 is not installed"),
        arguments: [
            ("UPDATE keybag_copy SET bytes = zeroblob(length(bytes))", "keybag", "warning"),
            ("UPDATE keybag SET bytes = x'00'; UPDATE keybag_copy SET bytes = x'00'", "keybag", "problem"),
            ("UPDATE item SET metadata = zeroblob(length(metadata))", "items", "problem"),
            ("UPDATE item SET value = zeroblob(length(value))", "items", "problem"),
            ("INSERT INTO lookup VALUES (zeroblob(16), 1)", "index", "problem"),
            ("UPDATE item SET scope = zeroblob(16)", "index", "problem"),
            ("INSERT INTO quarantine SELECT *, 0 FROM item", "quarantine", "warning"),
            ("PRAGMA user_version = 99", "database", "problem"),
            ("PRAGMA application_id = 1", "database", "problem"),
            ("CREATE TABLE foreigner (id)", "database", "problem"),
        ])
    func database_spoiled_isFoundOut(statements: String, check: String, severity: String) throws {
        try tool.store()
        try tool.python(
            "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).executescript(sys.argv[2])",
            statements)
        // So that nothing is a problem beside what this is about.
        if severity == "warning" { try tool.run("accept", "--yes") }
        _ = try finding(check, severity, after: "")
    }

    private func spoil(_ statements: String) throws {
        try tool.python(
            "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).executescript(sys.argv[2])",
            statements)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func index_spoiled_isRepairedOnlyWhenAskedFor() throws {
        try tool.store()
        try spoil("INSERT INTO lookup VALUES (zeroblob(16), 1); UPDATE item SET scope = zeroblob(16)")
        #expect(try tool.run("doctor").status == 1)
        #expect(try tool.status()["indexForeign"] as? Int == 1)
        #expect(try tool.status()["wronglyIndexed"] as? Int == 1)
        let run = try tool.run("doctor", "--repair")
        #expect(run.status == 0, "\(run.text)")
        #expect(run.text.contains("1 wrong entries removed; 1 items indexed under their own key again."))
        #expect(try tool.run("doctor").status == 0)
        #expect(try tool.get() == secret)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func repair_thatCannotRepairEverything_fails() throws {
        try tool.store()
        try spoil("INSERT INTO lookup VALUES (zeroblob(16), 99); UPDATE item SET value = zeroblob(152)")
        let run = try tool.run("doctor", "--repair", "--json")
        #expect(run.status == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
        let repair = try #require(object["repair"] as? [String: Int])
        #expect(repair == ["added": 0, "removed": 1, "reindexed": 0, "blocked": 0, "closed": 0])
    }

    @Test func repair_withoutAVault_fails() throws {
        #expect(try tool.run("doctor", "--repair").status == 1)
        #expect(!FileManager.default.fileExists(atPath: tool.vaultFolder.path))
    }

    @Test func repair_ofALockedVault_takesItsSecret() throws {
        let vault = try LockableTool()
        try vault.store()
        #expect(try vault.withKey("doctor --repair").text.contains("1 item opens."))
    }

    @Test func vault_thatIsMissing_isNoProblem() throws {
        let (status, report) = try report()
        #expect(status == 0)
        #expect(report.problems == 0)
        #expect(!FileManager.default.fileExists(atPath: tool.vaultFolder.path))
    }

    @Test func vault_thatIsLocked_isExaminedAsFarAsItGoes() throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.tool.run("doctor")
        #expect(run.status == 0)
        #expect(run.text.contains("ok       opening: The vault is locked."))
        #expect(
            run.text.contains(
                "0 items open. 1 is locked and not checked. "
                    + "To check what is locked, unlock the vault and run keychainctl doctor again."))
    }

    @Test func item_thatRequiresTheUser_isSaidToBeCheckedInPart() throws {
        try tool.store()
        let script = """
            echo tell nobody | "$CTL" protect add passphrase --new-passphrase-fd 0 &&
            echo s3cret | "$CTL" set -s app -a bob --require user-presence;
            """
        let items = try finding("items", "ok", after: script)
        #expect(items.hasPrefix("2 items open. 1 value requires authentication and was checked only in part."))
    }

    @Test func vault_withAPassphraseAndNoRecoveryKey_isWarnedOf() throws {
        #expect(try tool.shell("echo correct horse | \"$CTL\" init --passphrase-fd 0").status == 0)
        #expect(try finding("recovery", "warning", after: "").contains("protect add recovery-key"))
    }

    @Test func vault_boundToAnotherDevice_isWarnedOf() throws {
        let vault = try LockableTool()
        try FileManager.default.removeItem(at: vault.tool.deviceKey)
        let run = try vault.tool.run("doctor")
        #expect(run.status == 0)
        #expect(run.text.contains("warning  device-binding"))
    }

    /// There is nothing with which the vault could be bound to this device.
    @Test func vault_whoseOnlyProtectorIsLost_isAProblemWithoutVainAdvice() throws {
        try tool.store()
        try FileManager.default.removeItem(at: tool.deviceKey)
        let run = try tool.run("doctor")
        #expect(run.status != 0 && run.text.contains("problem  device-binding"), "\(run.everything)")
        #expect(!run.text.contains("protect adopt"))
    }

    @Test func vault_whoseOnlyProtectorIsReplacedByAnotherDeviceKey_isAProblemWithoutVainAdvice() throws {
        try tool.store()
        let other = try Tool()
        try other.store()
        try FileManager.default.removeItem(at: tool.deviceKey)
        try FileManager.default.moveItem(at: other.deviceKey, to: tool.deviceKey)
        let run = try tool.run("doctor")
        #expect(run.status != 0 && run.text.contains("problem  device-binding"), "\(run.everything)")
        #expect(!run.text.contains("protect adopt") && !run.text.contains("set-up"), "\(run.text)")
    }

    @Test func items_ofAnotherDevice_areCounted() throws {
        let vault = try LockableTool()
        try vault.store("--accessibility when-unlocked-this-device-only")
        try FileManager.default.removeItem(at: vault.tool.deviceKey)
        try vault.unlock()
        #expect(try vault.tool.run("doctor").text.contains("1 is bound to another device."))
        #expect(try vault.tool.run("status").text.contains("items         1 bound to another device"))
        #expect(try vault.tool.status()["ofAnotherDevice"] as? Int == 1)
    }

    /// With a WAL whose index readers share and keep, and with a WAL alone: what a copy, or a crash of the system, leaves.
    @Test(arguments: ["", "cp -a $V copy; rm -f copy/vault.db-shm; KEYCHAIN_VAULT=~/copy; export KEYCHAIN_VAULT;"])
    func doctor_changesNothing(preparing: String) throws {
        try tool.store()
        let run = try tool.shell(
            """
            V=~/.local/share/swift-keychain
            list() { find ~ -mindepth 1 -path '*/run-*' -prune -o ! -name before ! -name after -printf "$1" | sort; }
            all() { list '%p\\n'; list '%p %m %i %s %T@\\n' | grep -v shm; }
            python3 -c 'import os, sqlite3, sys
            database = sqlite3.connect(sys.argv[1]); database.execute("PRAGMA user_version = 4"); database.commit()
            os.kill(os.getpid(), 9)' $V/vault.db
            test -s $V/vault.db-wal || echo 'there is no WAL' >&2
            \(preparing)
            all > before
            "$CTL" doctor >&2
            all > after
            diff before after
            """)
        #expect(run.status == 0, "\(run.everything)")
        #expect(!run.errors.contains("there is no WAL"))
        #expect(run.errors.contains("problems: 0"))
    }

    @Test func doctor_showsNeitherNamesNorValues() throws {
        try tool.store(service: "service-name", account: "account-name")
        let text = try tool.run("doctor").everything
        #expect(!text.contains("service-name") && !text.contains("account-name") && !text.contains("correct horse"))
    }

    @Test func report_countsWhatItShows() throws {
        try tool.store()
        let (_, report) = try report("touch ~/.local/share/swift-keychain/vault.db.new;")
        #expect(report.warnings == report.findings.filter { $0.severity == "warning" }.count)
        #expect(report.warnings >= 2)
    }
}
