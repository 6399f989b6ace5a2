// SPDX-License-Identifier: Apache-2.0
// security: keychain files as access groups, locking, dumps, help and errors.

import Foundation
import KeychainTestSupport
import Testing

@Suite("security: keychains")
struct SecurityKeychainTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func path(_ name: String) -> String { "    \"\(tool.home.path)/Library/Keychains/\(name)\"\n" }

    private var listFile: URL { tool.home.appendingPathComponent(".config/swift-keychain/security.json") }

    // MARK: - The list

    @Test(arguments: ["list-keychains", "list", "default-keychain", "login-keychain", "list-keychains -d u"])
    func keychain_atFirst_isTheLoginKeychain(line: String) throws {
        #expect(try tool.security(line).text == path("login.keychain-db"))
    }

    @Test(arguments: [("-0", "FOLDER/login.keychain-db\0"), ("--json", "[\"FOLDER/login.keychain-db\"]\n")])
    func paths_inTheFormsForPrograms_areExact(option: String, text: String) throws {
        for command in ["list-keychains", "default-keychain", "login-keychain"] {
            let run = try tool.security("\(command) \(option)")
            #expect(run.text == text.replacingOccurrences(of: "FOLDER", with: tool.home.path + "/Library/Keychains"))
        }
    }

    @Test(arguments: ["system", "common", "d"])
    func otherDomains_haveNoKeychains(domain: String) throws {
        let run = try tool.security("list-keychains -d \(domain)")
        #expect(run.status == 0)
        #expect(run.text.isEmpty)
    }

    @Test func keychain_created_joinsTheSearchList() throws {
        try tool.prepare("create-keychain -p pw build.keychain")
        #expect(try tool.security("list-keychains").text == path("login.keychain-db") + path("build.keychain-db"))
    }

    @Test(arguments: [
        ("build", "$HOME/Library/Keychains/build-db"),
        ("build.keychain", "$HOME/Library/Keychains/build.keychain-db"),
        ("/tmp/build.keychain", "/tmp/build.keychain"), ("/tmp/build.keychain-db", "/tmp/build.keychain-db"),
        ("/Users/u/Library/Keychains/build", "/Users/u/Library/Keychains/build-db"),
        ("/Library/Keychains/System.keychain", "/Library/Keychains/System.keychain"),
        ("/System/Library/Keychains/Other.keychain", "/System/Library/Keychains/Other.keychain"),
    ])
    func keychain_isShownWithThePathOfMacOS(name: String, path: String) throws {
        try tool.prepare("list-keychains -s \(name)")
        let shown = path.replacingOccurrences(of: "$HOME", with: tool.home.path)
        #expect(try tool.security("list-keychains").text == "    \"\(shown)\"\n")
    }

    @Test(arguments: ["build", "build-db", "build.keychain", "/Users/u/Library/Keychains/build-db"])
    func keychain_underAnyOfItsNames_isTheSame(name: String) throws {
        try tool.prepare("create-keychain -p pw build", "add-generic-password -a a -s s -w x \(name)")
        #expect(try tool.listed().map { $0["accessGroup"] as? String } == ["build"])
    }

    @Test func keychain_createdTwice_isADuplicate() throws {
        try tool.prepare("create-keychain -p pw build.keychain")
        #expect(try tool.security("create-keychain -p pw /elsewhere/build.keychain-db").status == 48)
    }

    @Test func keychain_ofAGroupWithItems_isADuplicate() throws {
        try tool.store(secret, account: "alice", "--access-group", "team")
        #expect(try tool.security("create-keychain team.keychain").status == 48)
    }

    @Test func keychain_isAnAccessGroup() throws {
        try tool.prepare("create-keychain build.keychain", "add-generic-password -a a -s s -w x build.keychain")
        #expect(try tool.listed().map { $0["accessGroup"] as? String } == ["build"])
    }

    @Test func search_withoutAKeychain_followsTheSearchList() throws {
        try tool.prepare(
            "create-keychain one.keychain two.keychain", "add-generic-password -a a -s s -w 1 one.keychain",
            "add-generic-password -a a -s s -w 2 two.keychain", "list-keychains -s two.keychain one.keychain")
        #expect(try tool.security("find-generic-password -s s -w").text == "2\n")
    }

    @Test func search_inOtherGroups_findsNothing() throws {
        try tool.store(secret, account: "alice", "--access-group", "team")
        #expect(try tool.security("find-generic-password -s example.com").status == 44)
    }

    @Test func defaultKeychain_whenSet_getsNewItems() throws {
        try tool.prepare(
            "create-keychain build.keychain", "default-keychain -s build.keychain",
            "add-generic-password -a a -s s -w x")
        #expect(try tool.security("default-keychain").text == path("build.keychain-db"))
        #expect(try tool.security("find-generic-password -s s -w build.keychain").text == "x\n")
    }

    @Test func keychain_deleted_takesItsItemsWithIt() throws {
        try tool.store()
        try tool.prepare(
            "create-keychain build.keychain", "add-generic-password -a a -s s -w x build.keychain",
            "default-keychain -s build.keychain", "delete-keychain build.keychain")
        #expect(try tool.listed().count == 1)
        #expect(try tool.security("default-keychain").text == path("login.keychain-db"))
    }

    @Test func keychain_deletedWhileTheListIsLocked_keepsItsItems() throws {
        try tool.prepare("create-keychain build.keychain", "add-generic-password -a a -s s -w x build.keychain")
        let folder = open(listFile.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(folder) }
        try #require(flock(folder, LOCK_EX | LOCK_NB) == 0)
        let run = try tool.security("delete-keychain build.keychain")
        #expect(run.status != 0 && run.errors.contains("The list of keychains was not changed."), "\(run.everything)")
        #expect(try tool.listed().count == 1)
    }

    @Test func loginKeychain_isNeverDeleted() throws {
        try tool.store()
        #expect(try tool.security("delete-keychain login.keychain").status == 252)
        #expect(try tool.listed().count == 1)
    }

    @Test(arguments: ["delete-keychain x.keychain", "lock-keychain x.keychain", "show-keychain-info x.keychain"])
    func keychain_thatIsUnknown_isNotFound(line: String) throws {
        #expect(try tool.security(line).status == 50)
    }

    /// Scripts search the keychains of the system, and their own before they create them.
    @Test(arguments: [
        ("find-generic-password -s s", 44), ("delete-generic-password -s s", 44), ("find-certificate", 44),
        ("find-certificate -a -p", 0), ("find-identity -v", 0), ("dump-keychain", 0),
    ])
    func keychain_thatIsUnknown_isSearchedAsAnEmptyOne(command: String, status: Int32) throws {
        try tool.prepare("add-generic-password -a a -s s -w x")
        let run = try tool.security("\(command) /Library/Keychains/System.keychain")
        #expect(run.status == status)
        #expect(!run.errors.contains("keychain could not be found"))
    }

    @Test func search_inANamedGroup_findsItemsOfOtherPrograms() throws {
        try tool.store(secret, account: "alice", "--access-group", "team")
        #expect(try tool.security("find-generic-password -s example.com -w team.keychain").status == 0)
    }

    @Test(arguments: ["''", ".keychain", "..", "/"])
    func keychain_whoseNameIsNoGroup_isInvalid(name: String) throws {
        #expect(try tool.security("create-keychain \(name)").status == 49)
    }

    /// What the vault stores there for itself is no items of a keychain: the history, and the keys of a ring.
    @Test(arguments: [
        ("create-keychain -p pw", 49), ("default-keychain -s", 49), ("list-keychains -s", 49), ("delete-keychain", 49),
        ("dump-keychain", 1), ("find-generic-password -s s", 49), ("add-generic-password -a a -s s -w x", 49),
    ])
    func groupOfTheKeychainItself_isNoKeychain(command: String, status: Int32) throws {
        for _ in 0..<2 { try tool.store() }
        try tool.store(Data("other".utf8))
        for name in ["swift-keychain.sync", "/x/swift-keychain.sync.keychain-db"] {
            let run = try tool.security("\(command) \(name)")
            #expect(run.status == status && run.output.isEmpty, "\(run.everything)")
        }
        #expect(try !tool.run("history").output.isEmpty)
        #expect(try tool.listed().count == 1)
    }

    /// A version that did not refuse it has stored its name.
    @Test func defaultKeychain_thatIsTheKeychainItself_isLogin() throws {
        try tool.prepare("create-keychain -p pw build.keychain", "default-keychain -s build.keychain")
        let text = try String(contentsOf: listFile, encoding: .utf8)
        try text.replacingOccurrences(of: "build.keychain", with: "swift-keychain.sync.keychain")
            .write(to: listFile, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: listFile.path)
        try tool.prepare("add-generic-password -a a -s s -w x")
        #expect(try tool.listed().map { $0["accessGroup"] as? String } == ["default"])
    }

    @Test func list_ofKeychains_isPrivate() throws {
        try tool.prepare("create-keychain build.keychain")
        let attributes = try FileManager.default.attributesOfItem(atPath: listFile.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func list_madeUnderAStrictUmask_isReadByItsOwner() throws {
        let run = try tool.shell(
            "umask 777; \"$CTL\" security create-keychain work; cd .config; stat -c %a . * */security.json")
        #expect(run.text == "700\n700\n600\n", "\(run.errors)")
    }

    @Test func list_thatIsDamaged_isAnErrorAndStays() throws {
        try tool.prepare("create-keychain build.keychain")
        try Data("{".utf8).write(to: listFile)
        #expect(try tool.security("create-keychain other.keychain").status == 93)
        #expect(try Data(contentsOf: listFile) == Data("{".utf8))
    }

    @Test func list_changedByManyAtOnce_losesNothing() throws {
        // The shell's own `wait` would never return: programs that Foundation starts do not get SIGCHLD.
        let run = try tool.shell(
            "for command in 'list-keychains -s login.keychain' 'default-keychain -s'; do "
                + "seq 6 | xargs -P 6 -I{} \"$CTL\" security $command k{} 2>&1; done")
        #expect(run.text.isEmpty)
        let object = try JSONSerialization.jsonObject(with: try Data(contentsOf: listFile)) as? [String: Any]
        #expect((object?["known"] as? [String])?.count == 6)
    }

    // MARK: - Locking

    /// The order in which scripts for macOS set up a keychain on a new machine.
    @Test func keychain_unlockedBeforeThereIsAVault_isOpen() throws {
        try tool.prepare(
            "create-keychain -p pw build.keychain", "set-keychain-settings -lut 21600 build.keychain",
            "unlock-keychain -p pw build.keychain", "add-generic-password -a a -s s -w x build.keychain")
        #expect(try tool.security("find-generic-password -s s -w build.keychain").text == "x\n")
    }

    @Test func vaultThatOpensByItself_unlocks() throws {
        try tool.store()
        #expect(try tool.security("unlock-keychain -p anything").status == 0)
    }

    @Test func vaultThatOpensByItself_cannotBeLocked() throws {
        try tool.store()
        #expect(try tool.security("lock-keychain").status == 252)
    }

    @Test func settings_ofAKeychain_areShownOnStandardError() throws {
        try tool.prepare("set-keychain-settings -lut 300 login.keychain")
        let run = try tool.security("show-keychain-info login.keychain")
        #expect(run.errors == "Keychain \"login.keychain\" use-lock-interval timeout=300s\n")
        #expect(run.text.isEmpty)
    }

    /// A program that was stopped has the lock.
    @Test func list_thatAnotherProgramHasLocked_isBusyAndNotWaitedForForEver() throws {
        try tool.prepare("set-keychain-settings -t 300")
        let folder = open(listFile.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(folder) }
        try #require(flock(folder, LOCK_EX | LOCK_NB) == 0)
        let run = try tool.security("set-keychain-settings -t 50")
        #expect(run.status != 0 && run.errors.contains("The list of keychains was not changed."), "\(run.everything)")
        #expect(try tool.security("show-keychain-info").errors.contains("timeout=300s"))
    }

    @Test(arguments: ["", " -t 0"])
    func settings_withoutATimeout_haveNone(options: String) throws {
        try tool.prepare("set-keychain-settings -t 300", "set-keychain-settings" + options)
        #expect(try tool.security("show-keychain-info").errors == "Keychain \"<NULL>\" no-timeout\n")
    }

    @Test(arguments: [("-u", true), ("-u -t 300", false), ("-t 300", false), ("", false)])
    func flagU_withoutATime_isSaidToHaveNoEffect(options: String, isSaid: Bool) throws {
        let run = try tool.security("set-keychain-settings \(options)")
        #expect(run.status == 0 && run.errors.contains("-u has no effect without -t") == isSaid, "\(run.everything)")
    }

    @Test(arguments: ["show-keychain-info", "find-generic-password -s example.com -w"])
    func lockedVault_withoutATerminal_allowsNoInteraction(line: String) throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.tool.security(line)
        #expect(run.status == 36)
        #expect(run.errors.contains(": User interaction is not allowed. "))
    }

    /// With the flags, and with lines of standard input for the questions.
    @Test(arguments: [("-o 'first words' -p 'second words'", ""), ("", "first words\nsecond words\nsecond words\n")])
    func password_thatIsSet_opensAndTheOldOneDoesNot(options: String, input: String) throws {
        let run = try tool.shell(
            """
            echo 'first words' > a; "$CTL" init --no-device-key --passphrase-fd 3 3< a || exit 99
            printf '\(input)' | "$CTL" security set-keychain-password \(options) || exit 98
            printf 'unlock-keychain -p "first words"\\nshow-keychain-info\\nunlock-keychain -p "second words"\\n' > lines
            "$CTL" security -i < lines
            """)
        #expect(run.status == 0 && run.errors.contains("unlock-keychain: returned -25293\n"), "\(run.everything)")
        try tool.run("lock", "--all")
    }

    @Test func password_ofAVaultWithSeveral_isNotChanged() throws {
        let run = try tool.shell(
            """
            echo 'first words' > a; echo 'second words' > b
            "$CTL" init --no-device-key --passphrase-fd 3 3< a || exit 99
            "$CTL" protect add passphrase --new-passphrase-fd 3 --passphrase-fd 4 3< b 4< a || exit 97
            "$CTL" security set-keychain-password -o 'second words' -p 'third words' && exit 98
            "$CTL" security unlock-keychain -p 'first words' && "$CTL" security unlock-keychain -p 'second words'
            """)
        #expect(run.status == 0, "\(run.everything)")
        try tool.run("lock", "--all")
    }

    @Test func lockedVault_inOneRunOfCommands_unlocksWithItsPassphrase() throws {
        let made = try tool.shell("echo 'correct horse' | \"$CTL\" init --no-device-key --passphrase-fd 0")
        try #require(made.status == 0, "\(made.errors)")
        let run = try tool.security(
            "-i",
            input: "unlock-keychain -p wrong\nunlock-keychain\ncorrect horse\nadd-generic-password -a a -s s -w x\n"
                + "find-generic-password -s s -w\nlock-keychain\nfind-generic-password -s s -w\n")
        #expect(run.text == "x\n")
        #expect(run.status == 36)
        #expect(run.errors.contains("unlock-keychain: returned -25293\n"))
        #expect(run.errors.contains("password to unlock default: "))
        try tool.run("lock", "--all")
    }

    // MARK: - Dumps

    @Test func dump_writesEveryItemOfTheSearchList() throws {
        try tool.prepare(
            "add-generic-password -a a -s s -w hunter2", "create-keychain k",
            "add-internet-password -a a -s s -w hunter2 k")
        let run = try tool.security("dump-keychain -a")
        #expect(run.text.components(separatedBy: "attributes:").count == 3)
        #expect(run.text.contains("        don't-require-password\n"))
        #expect(!run.text.contains("hunter2"))
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func dump_besideADamagedItem_saysOnStandardErrorThatItIsMissing() throws {
        try tool.prepare("add-generic-password -a a -s s -w hunter2")
        try tool.damageItems()
        try tool.run("accept", "--yes")
        try tool.prepare("add-generic-password -a b -s t -w hunter2")
        let run = try tool.security("dump-keychain")
        #expect(run.status == 0 && run.text.contains("\"svce\"<blob>=\"t\""), "\(run.everything)")
        #expect(run.errors.contains("security: 1 damaged item(s) cannot be shown"), "\(run.errors)")
        #expect(try tool.security("-q dump-keychain").errors.isEmpty)
    }

    @Test func dump_withJSON_writesAnArrayWithoutValues() throws {
        try tool.prepare("add-generic-password -a a -s s -w hunter2", "add-internet-password -a b -s t -w hunter2")
        let run = try tool.security("dump-keychain --json")
        let objects = try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
        #expect(objects.count == 2 && !run.everything.contains("hunter2"))
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"), arguments: [("y\n", 0), ("\n", 1)])
    func dump_withValues_asksFirst(answer: String, status: Int32) throws {
        try tool.prepare("add-generic-password -a a -s s -w hunter2")
        let dialogue = try tool.dialogue(
            "security", "dump-keychain", "-d", steps: [("[y/N]", .type(answer))])
        #expect(dialogue.status == status)
        #expect(dialogue.screen.contains("data:\r\n\"hunter2\"") == (status == 0))
    }

    @Test(arguments: ["dump-keychain -r", "dump-keychain -i"])
    func dump_ofWhatDoesNotExistHere_fails(line: String) throws {
        #expect(try tool.security(line).status == 1)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func value_onATerminal_isAskedForTwiceAndNotShown() throws {
        let dialogue = try tool.dialogue(
            "security", "add-generic-password", "-a", "a", "-s", "s", "-w",
            steps: [
                ("password data for new item: ", .type("hidden\n")),
                ("retype password for new item: ", .type("hidden\n")),
            ])
        #expect(dialogue.status == 0)
        #expect(!dialogue.screen.contains("hidden"))
        #expect(try tool.get(service: "s", account: "a") == Data("hidden".utf8))
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func prompt_withControlC_endsTheToolByTheSignalItself() throws {
        let dialogue = try tool.dialogue(
            "security", "add-generic-password", "-a", "a", "-s", "s", "-w",
            steps: [("password data for new item: ", .type("\u{3}"))])
        #expect(dialogue.status == -SIGINT)
    }
}
