// SPDX-License-Identifier: Apache-2.0
// What is kept of items that commands replace and delete, and what is not.

import Foundation
import Testing

@Suite("history")
struct HistoryTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let gitInput = "protocol=https\\nhost=h\\nusername=a\\n"

    /// A state, a change of it, and how the history names the change.
    struct Change: CustomTestStringConvertible, Sendable {
        let before: String
        let script: String
        let line: String

        var testDescription: String { script }
    }

    private static let setOne = "printf one | \"$CTL\" set -s s -a a"
    private static let git = "printf '\(gitInput)password=one\\n\\n' | \"$CTL\" git-credential store"
    private static let docker =
        "printf '{\"ServerURL\":\"https://h\",\"Username\":\"a\",\"Secret\":\"one\"}' | \"$CTL\" docker-credential store"

    private static let kept = [
        Change(before: setOne, script: "printf two | \"$CTL\" set -s s -a a", line: "set: value"),
        Change(before: setOne, script: "\"$CTL\" set -s s -a a --keep-value --label l", line: "set: label"),
        Change(
            before: setOne, script: "\"$CTL\" set -s s -a a --keep-value --comment c --kind k",
            line: "set: comment,kind"),
        Change(
            before: setOne, script: "\"$CTL\" set -s s -a a --keep-value --accessibility always",
            line: "set: protection"),
        Change(before: setOne, script: "\"$CTL\" generate -s s -a a --replace", line: "generate: value"),
        Change(before: setOne, script: "\"$CTL\" delete -s s -a a", line: "delete: deleted"),
        Change(before: setOne, script: "\"$CTL\" delete -s s --all", line: "delete: deleted"),
        Change(before: setOne, script: "\"$CTL\" move -s s -a a --to-account b", line: "move: moved"),
        Change(before: setOne, script: "\"$CTL\" expire -s s -a a 90d", line: "expire: expiry"),
        Change(
            before: setOne, script: "VISUAL='sh -c \"printf two >\\\"\\$0\\\"\"' \"$CTL\" edit -s s -a a",
            line: "edit: value"),
        Change(
            before: setOne, script: "\"$CTL\" security add-generic-password -s s -a a -w two -U 2>/dev/null",
            line: "security: value"),
        Change(before: setOne, script: "\"$CTL\" security delete-generic-password -s s", line: "security: deleted"),
        Change(before: setOne, script: "\"$CTL\" delete -s s -a a && \"$CTL\" undo -s s -a a", line: "undo: added"),
        Change(
            before: "printf one | \"$CTL\" set -s s -a A",
            script: "printf 'A=two\\n' | \"$CTL\" import env - --service s --replace", line: "import: value"),
        Change(
            before: "\(setOne); \"$CTL\" export f --clear-text json; printf two | \"$CTL\" set -s s -a a",
            script: "\"$CTL\" import-archive f --replace --yes", line: "import-archive: value"),
        Change(
            before: git, script: "printf '\(gitInput)password=two\\n\\n' | \"$CTL\" git-credential store",
            line: "git-credential: value"),
        Change(
            before: git, script: "printf '\(gitInput)password=one\\n\\n' | \"$CTL\" git-credential erase",
            line: "git-credential: deleted"),
        Change(before: docker, script: docker.replacing("one", with: "two"), line: "docker-credential: value"),
        Change(
            before: docker, script: "printf https://h | \"$CTL\" docker-credential erase",
            line: "docker-credential: deleted"),
    ]

    @Test(arguments: kept)
    func item_thatACommandChanges_isKept(change: Change) throws {
        try tool.must(change.before)
        try tool.must(change.script)
        #expect(try tool.changes().first == change.line)
    }

    @Test(arguments: kept)
    func history_ofAChange_showsNoValue(change: Change) throws {
        try tool.must(change.before.replacing("one", with: "needle1"))
        try tool.must(change.script.replacing("one", with: "needle1").replacing("two", with: "needle2"))
        let shown = try tool.must("\"$CTL\" history && \"$CTL\" history --json && \"$CTL\" history --wide").everything
        #expect(!shown.contains("needle"))
        #expect(!shown.isEmpty)
    }

    @Test(arguments: [
        setOne, "\(setOne); \(setOne)", git, "\(git); \(git)",
        "printf 'otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1' | \"$CTL\" set -s s -a a; \"$CTL\" otp -s s",
        "\(setOne); \"$CTL\" delete -s s -a a --forget",
    ])
    func change_thatIsNone_isNotKept(script: String) throws {
        try tool.must(script)
        #expect(try tool.changes().isEmpty)
    }

    @Test func version_ofAnItem_isReadWithGet() throws {
        try tool.store(secret)
        try tool.store(otherSecret)
        try tool.store(thirdSecret)
        for (version, value) in [("1", secret), ("2", otherSecret)] {
            #expect(try tool.run("get", "-s", "example.com", "-a", "alice", "--history", version).output == value)
        }
    }

    @Test func version_ofADeletedItem_isReadWithGet() throws {
        try tool.store()
        try tool.run("delete", "-s", "example.com", "-a", "alice")
        #expect(try tool.run("get", "-s", "example.com", "--history", "1").output == secret)
    }

    private static let move = "\"$CTL\" move -s s -a a --to-account b && \"$CTL\" move -s s -a b --to-account c"

    @Test(arguments: [("true", "a"), (move, "c")])
    func version_ofAnItemThatBeginsToRequireTheUser_opensToNobodyElse(script: String, account: String) throws {
        try tool.must("echo several words > words; \"$CTL\" init --passphrase-fd 3 3< words")
        try tool.must("\(Self.setOne); \"$CTL\" set -s s -a a --keep-value --label l; \(script)")
        try tool.must("\"$CTL\" set -s s -a \(account) --keep-value --require user-presence")
        let run = try tool.shell("KEYCHAIN_AUTHENTICATOR=none \"$CTL\" get -s s -a a --history 1 < /dev/null")
        #expect(run.status == 5 && run.output.isEmpty, "\(run.errors)")
    }

    /// What led from one name to the next is not kept any more: another item has changed too often under the name in between, or the item
    /// was deleted there and brought back.
    @Test(arguments: [
        (move, "c"),
        ("\"$CTL\" move -s s -a a --to-account b; \"$CTL\" delete -s s -a b; \"$CTL\" undo -s s -a b", "b"),
    ])
    func version_whoseWayToTheItemIsNoLongerKept_opensToNobodyElse(script: String, account: String) throws {
        let changes = "for n in 1 2 3 4 5 6 7 8 9 10 11; do printf $n | \"$CTL\" set -s s -a b; done"
        try tool.must("echo several words > words; \"$CTL\" init --passphrase-fd 3 3< words")
        try tool.must("\(Self.setOne); printf two | \"$CTL\" set -s s -a a; \(script); \(changes)")
        try tool.must("\"$CTL\" set -s s -a \(account) --keep-value --require user-presence")
        let run = try tool.shell("KEYCHAIN_AUTHENTICATOR=none \"$CTL\" get -s s -a a --history 1 < /dev/null")
        #expect(run.status == 5 && run.output.isEmpty, "\(run.everything)")
        try tool.must("\"$CTL\" delete -s s -a \(account) --all --forget")
        #expect(try tool.shell("\"$CTL\" get -s s -a a --history 1 < /dev/null").status == 3)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func version_underAFormerName_getsABetterAccessibilityToo() throws {
        try tool.must("\(Self.setOne) --accessibility always; \(Self.move)")
        try tool.must("\"$CTL\" set -s s -a c --keep-value --accessibility when-unlocked")
        // No command lists the keychain's own items. The class is not sealed: 6 is `whenUnlocked`, 8 `always`.
        let program = """
            import sqlite3, sys
            rows = sqlite3.connect(sys.argv[1]).execute("SELECT class, count(*) FROM item GROUP BY class ORDER BY class")
            print(rows.fetchall())
            """
        let run = try tool.must("python3 - '\(tool.database.path)'", input: Data(program.utf8))
        // The item and its three versions; and the settings of the history.
        #expect(String(decoding: run.output, as: UTF8.self) == "[(6, 4), (8, 1)]\n")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func version_underAFormerNameThatRequiresTheUser_isListedWhenTheItemNoLongerDoes() throws {
        try tool.must("echo several words > words; \"$CTL\" init --passphrase-fd 3 3< words")
        try tool.must("\(Self.setOne); \(Self.move); \"$CTL\" set -s s -a c --keep-value --require user-presence")
        let changed = try tool.dialogue(
            "set", "-s", "s", "-a", "c", "--keep-value", "--require", "none",
            steps: [("assphrase", .type("several words\n"))])
        try #require(changed.status == 0, "\(changed.screen)")
        #expect(try tool.changes("-s s -a c").contains("move: moved"))
    }

    @Test func version_thatThereIsNot_isNotFound() throws {
        try tool.store()
        try tool.store(otherSecret)
        #expect(try tool.run("get", "-s", "example.com", "-a", "alice", "--history", "2").status == 3)
    }

    @Test func history_ofOneItem_leavesOutTheOthers() throws {
        for account in ["alice", "bob"] {
            try tool.store(account: account)
            try tool.store(otherSecret, account: account)
        }
        #expect(try tool.history("-s example.com -a bob").map { $0["account"] as? String } == ["bob"])
        #expect(try tool.history("").count == 2)
    }

    @Test func history_ofAMovedItem_isThatOfBothNames() throws {
        try tool.store()
        try tool.run("move", "-s", "example.com", "-a", "alice", "--to-service", "other")
        for service in ["example.com", "other"] { #expect(try tool.changes("-s \(service)") == ["move: moved"]) }
    }

    @Test func history_withoutAVault_isEmptyAndMakesNone() throws {
        #expect(try tool.history("").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: tool.vaultFolder.path))
    }

    @Test(arguments: [
        "list", "list --json", "search e", "export f --clear-text json && cat f", "security dump-keychain",
        "---completion get -- --service 2 0 keychainctl get --service ''",
        "---completion get -- --account 2 0 keychainctl get --account ''",
    ])
    func keptVersion_ofADeletedItem_isInNoOtherOutput(line: String) throws {
        try tool.store(service: "needle", account: "needle")
        try tool.store(service: "other", account: "e")
        try tool.run("delete", "-s", "needle", "--all")
        let run = try tool.must("\"$CTL\" \(line)")
        for text in ["needle", "swift-keychain.history"] { #expect(!run.text.contains(text), "\(run.text)") }
    }

    @Test func keptVersion_ofADeletedItem_completesForUndo() throws {
        try tool.store(service: "gone")
        try tool.run("delete", "-s", "gone", "--all")
        for verb in ["undo", "history"] {
            let line = "---completion \(verb) -- --service 2 0 keychainctl \(verb) --service ''"
            #expect(try tool.must("\"$CTL\" \(line)").text == "gone\n")
        }
    }

    @Test func status_countsNoKeptVersions() throws {
        for value in [secret, otherSecret, thirdSecret] { try tool.store(value) }
        let items = try tool.status()["items"] as? [String: Int]
        #expect(items?["generic-password"] == 1)
    }

    @Test func keptVersion_whenAllItemsAreDeleted_stays() throws {
        try tool.store()
        try tool.must("\"$CTL\" security delete-keychain 2>/dev/null; \"$CTL\" delete -s example.com --all; true")
        #expect(try !tool.changes().isEmpty)
    }

    @Test func sets_atOnce_loseNoVersion() throws {
        try tool.store(Data("0".utf8))
        try tool.must(
            "for i in 1 2 3 4; do printf $i | \"$CTL\" set -s example.com -a alice & done; wait; for v in 1 2 3 4; do "
                + "\"$CTL\" get -s example.com -a alice --history $v >>found; done; \"$CTL\" get -s example.com >>found"
        )
        let found = try tool.must("cat found").text
        #expect(found.sorted() == ["0", "1", "2", "3", "4"])
    }

    @Test func history_ofALockedVault_isLocked() throws {
        let vault = try LockableTool()
        try vault.store()
        #expect(try vault.withKey("set -s example.com -a alice", input: otherSecret).status == 0)
        #expect(try vault.tool.run("history").status == 5)
        #expect(try vault.withKey("history --json").text.contains("\"set\""))
    }

    @Test func deletion_whileTheVaultIsLocked_saysThatNothingIsKept() throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.tool.run("delete", "-s", "example.com", "--all")
        #expect(run.status == 0 && run.errors.contains("cannot be undone"), "\(run.errors)")
    }

    @Test(arguments: [
        "printf new | \"$CTL\" set -s s -a b", "\"$CTL\" expire 1d -s s -a b", "\"$CTL\" move -s s -a b --to-account c",
        "\"$CTL\" delete -s s -a b",
    ])
    func itemWhoseVersionWouldBeTooLarge_isChanged_andIsSaidNotToBeKept(script: String) throws {
        // A version has the attributes as text, where such a character takes six bytes.
        let comment = String(repeating: "\\u0001", count: 3_000_000)
        let item = ExportedItems.item(
            "\"svce\":{\"text\":\"s\"},\"acct\":{\"text\":\"b\"},\"icmt\":{\"text\":\"\(comment)\"},")
        let taken = try tool.take(ExportedItems.document([item]), "--yes")
        try #require(taken.status == 0, "\(taken.errors)")
        #expect(try tool.must(script).errors.contains("too large for a version"))
        #expect(try tool.changes().isEmpty)
    }

    @Test func itemThatRequiresTheUser_deleted_asksNobody_andIsSaidNotToBeKept() throws {
        let vault = try LockableTool()
        try vault.tool.must("echo long passphrase > new")
        #expect(try vault.withKey("protect add passphrase --new-passphrase-fd 4 4< new").status == 0)
        let item = ExportedItems.login("user", control: "[\"userPresence\"]")
        let taken = try vault.tool.take(ExportedItems.document([item]), "--yes --recovery-key-fd 3 3< paper")
        #expect(taken.status == 0, "\(taken.errors)")
        let run = try vault.tool.shell(
            "KEYCHAIN_AUTHENTICATOR=none \"$CTL\" delete -s s -a user --recovery-key-fd 3 3< paper")
        #expect(run.status == 0 && run.errors.contains("cannot be undone"), "\(run.errors)")
        #expect(try vault.withKey("history --json").text == "[]\n")
    }

    @Test(arguments: [
        "history --clear", "history --all", "history --clear --all -s s", "history --keep 0", "history --keep 1001",
        "history --days 0", "history --days 3651", "history --days 2h", "history --days 3651d",
        "history --days d", "history --days 9999999999999999999",
        "history --size 0", "history --size 65537", "history --size x",
        "history --on --off", "history --keep 2 -s s",
        "history --clear --all --off", "history --clear --all --settings", "history --settings --keep 5",
        "history --clear --all --json", "history --keep 2 --json",
        "history --settings --wide",
        "undo", "undo -s s --to x", "expire -s s", "expire -s s 90d --never",
        "expire 90d", "expire -s s 90", "expire -s s 2027-13-01", "list --expires-within x",
        "get -s s --history 1 --label l",
    ])
    func commandLine_thatIsWrong_isUsage(line: String) throws {
        #expect(try tool.shell("\"$CTL\" \(line)").status == 64)
    }
}
