// SPDX-License-Identifier: Apache-2.0
// The credential helper of git: its protocol, and which items it reads and writes.

import Foundation
import KeychainTestSupport
import Testing

@Suite("git-credential")
struct GitCredentialTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func git(_ operation: String, _ lines: String...) throws -> Tool.Run {
        try tool.run("git-credential", operation, input: Data((lines.joined(separator: "\n") + "\n").utf8))
    }

    /// What `get` prints, which has to work.
    private func get(_ lines: String...) throws -> [String] {
        let input = Data((["protocol=https"] + lines + ["", ""]).joined(separator: "\n").utf8)
        let run = try tool.run("git-credential", "get", input: input)
        try #require(run.status == 0, "\(run.errors)")
        return run.text.split(separator: "\n").map(String.init)
    }

    private func store(_ lines: String...) throws {
        let input = Data((["protocol=https"] + lines).joined(separator: "\n").utf8)
        let run = try tool.run("git-credential", "store", input: input)
        try #require(run.status == 0 && run.everything.isEmpty, "\(run.everything)")
    }

    private func erase(_ lines: String...) throws {
        let input = Data((["protocol=https"] + lines).joined(separator: "\n").utf8)
        let run = try tool.run("git-credential", "erase", input: input)
        try #require(run.status == 0 && run.everything.isEmpty, "\(run.everything)")
    }

    private func storeAlice() throws { try store("host=h", "username=alice", "password=secret") }

    // MARK: - Which item

    private static let requests: [([String], Bool)] = [
        (["host=h"], true), (["host=h", "username=alice"], true), (["host=h", "username=bob"], false),
        (["host=h:443"], false), (["host=other"], false), (["host=h", "protocol=http"], false),
        (["host=h", "path=team/a.git"], false), (["host=h", "protocol=htps"], false),
    ]

    @Test(arguments: requests)
    func get_ofAStoredCredential_isFoundByWhatGitGives(_ request: [String], isFound: Bool) throws {
        try storeAlice()
        let input = Data((["protocol=https"] + request).joined(separator: "\n").utf8)
        let found = try tool.run("git-credential", "get", input: input).text
        #expect(found == (isFound ? "username=alice\npassword=secret\n" : ""))
    }

    private func get(_ protocolName: String, _ host: String) throws -> String {
        let request = Data("protocol=\(protocolName)\nhost=\(host)\n\n".utf8)
        return try tool.run("git-credential", "get", input: request).text
    }

    @Test(arguments: [
        ("https", true), ("ssh", true), ("ftps", true), ("imaps", true), ("ldaps", true), ("pop3s", true),
        ("ircs", true), ("nntps", true), ("telnets", true), ("http", false), ("ftp", false), ("imap", false),
        ("smtp", false), ("ldap", false), ("pop3", false), ("irc", false), ("telnet", false), ("smb", false),
        ("abcd", false),
    ])
    func get_ofAnItemWithoutProtocol_findsItForEncryptedProtocolsOnly(name: String, isFound: Bool) throws {
        try tool.run("set", "--server", "h", "-a", "alice", input: Data("plain".utf8))
        #expect(try get(name, "h") == (isFound ? "username=alice\npassword=plain\n" : ""))
    }

    @Test func get_ofAnItemWithoutProtocol_findsItExceptForHTTP() throws {
        try tool.run("set", "--server", "h:8443", "-a", "alice", input: Data("plain".utf8))
        #expect(try get("https", "H:8443") == "username=alice\npassword=plain\n")
        #expect(try get("ssh", "h:8443") == "username=alice\npassword=plain\n")
        #expect(try get("http", "h:8443") == "" && get("https", "h") == "")
        try tool.run("set", "--server", "https://h:8443", "-a", "bob", input: Data("exact".utf8))
        #expect(try get("https", "h:8443") == "username=bob\npassword=exact\n")
    }

    @Test func storeAndErase_ofAnItemWithoutProtocol_changeThatItem() throws {
        try tool.run("set", "--server", "h", "-a", "alice", input: Data("old".utf8))
        let new = "protocol=https\nhost=h\nusername=alice\npassword=new\n"
        #expect(try tool.run("git-credential", "store", input: Data(new.utf8)).status == 0)
        #expect(try tool.listed().count == 1)
        #expect(try tool.run("get", "--server", "h", "-a", "alice").text == "new")
        #expect(try tool.run("git-credential", "erase", input: Data("protocol=https\nhost=h\n".utf8)).status == 0)
        #expect(try tool.listed().count == 1)
        #expect(try tool.run("git-credential", "erase", input: Data(new.utf8)).status == 0)
        #expect(try tool.listed().isEmpty)
    }

    /// Programs such as `security` keep capitals.
    @Test func get_ofAnItemWithCapitals_findsItByThem() throws {
        try tool.run("security", "add-internet-password", "-s", "H.ex", "-r", "htps", "-a", "a", "-w", "old")
        #expect(try get("https", "H.ex") == "username=a\npassword=old\n")
    }

    @Test func get_ofAHostInTwoSpellings_takesTheGivenOneFirst() throws {
        try tool.run("security", "add-internet-password", "-s", "H.ex", "-r", "htps", "-a", "a", "-w", "older")
        try tool.run("set", "--server", "https://h.ex", "-a", "b", input: Data("newer".utf8))
        #expect(try get("https", "H.ex") == "username=a\npassword=older\n")
        #expect(try get("https", "h.ex") == "username=b\npassword=newer\n")
    }

    private static let addresses: [(String, String?)] = [
        ("https://h", "alice"), ("https://h/team/a.git?x", "alice"), ("https://alice@h/", "alice"),
        ("https://h:443", ""), ("https://bob:x@h", ""), ("HTTPS://h/", "alice"), ("https://%68", "alice"),
        ("ssh://h/", ""), ("h/team", nil), ("https:///team", nil), ("https://h%0Aquit=1", nil), ("https://%zz", nil),
    ]

    /// - Parameter account: Whose password is found; `nil`: an error.
    @Test(arguments: addresses)
    func get_ofAnAddress_isThatOfItsParts(_ address: String, account: String?) throws {
        try storeAlice()
        let run = try tool.run("git-credential", "get", input: Data("url=\(address)\n\n".utf8))
        #expect(run.text == (account == "alice" ? "username=alice\npassword=secret\n" : ""))
        #expect(run.status == (account == nil ? 64 : 0), "\(run.errors)")
    }

    private static let paths: [([String], Bool)] = [
        (["path=a.git"], true), (["path=/a.git"], true), (["path=b.git"], false), ([], true),
    ]

    @Test(arguments: paths)
    func get_ofACredentialWithAPath_needsThePathOnlyIfGitGivesOne(_ request: [String], isFound: Bool) throws {
        try store("host=h", "path=a.git", "username=alice", "password=secret")
        let input = Data((["protocol=https", "host=h"] + request).joined(separator: "\n").utf8)
        #expect(try tool.run("git-credential", "get", input: input).text.isEmpty != isFound)
    }

    @Test(arguments: ["h:8443", "[::1]", "[::1]:8443"])
    func store_ofAHostWithAPortOrAnAddress_comesBack(_ host: String) throws {
        try store("host=\(host)", "username=alice", "password=secret")
        #expect(try get("host=\(host)") == ["username=alice", "password=secret"])
    }

    @Test func get_ofSeveralAccounts_isTheNewest() throws {
        try storeAlice()
        try store("host=h", "username=bob", "password=other")
        #expect(try get("host=h") == ["username=bob", "password=other"])
    }

    @Test func get_ofAnItemOfSet_isFound() throws {
        try tool.run("set", "--server", "https://h:8443/team", "-a", "alice", input: secret)
        #expect(try get("host=h:8443", "path=team") == ["username=alice", "password=correct horse"])
    }

    @Test func store_isReadByGet() throws {
        try store("host=h:8443", "path=team", "username=alice", "password=secret")
        #expect(try tool.run("get", "--server", "https://h:8443/team").text == "secret")
    }

    @Test(arguments: ["two\nlines", "zero\0byte"])
    func get_ofAValueThatGitCannotTake_isNothing(_ value: String) throws {
        try tool.run("set", "--server", "https://h", "-a", "alice", input: Data(value.utf8))
        #expect(try get("host=h").isEmpty)
    }

    @Test func get_ofAnAccountWithALineBreak_addsNoLine() throws {
        try tool.run("set", "--server", "https://h", "-a", "alice\nquit=1", input: secret)
        #expect(try get("host=h").isEmpty)
    }

    @Test func get_ofAnItemOfDocker_isNothing() throws {
        let json = #"{"ServerURL":"https://h","Username":"alice","Secret":"x"}"#
        try #require(try tool.run("docker-credential", "store", input: Data(json.utf8)).status == 0)
        #expect(try get("host=h").isEmpty)
    }

    // MARK: - What comes with a password

    private let rest = ["password_expiry_utc=99999999999", "oauth_refresh_token=refresh"]

    @Test func store_withExpiryAndRefreshToken_comesBack() throws {
        try store("host=h", "username=alice", "password=secret", rest[0], rest[1])
        #expect(try get("host=h") == ["username=alice", "password=secret"] + rest)
    }

    /// Git before 2.41 does not know these keys, and stores a password after each use.
    @Test func store_ofTheSamePasswordAlone_keepsTheRest() throws {
        try store("host=h", "username=alice", "password=secret", rest[0], rest[1])
        try storeAlice()
        #expect(try get("host=h") == ["username=alice", "password=secret"] + rest)
    }

    /// git stores what a server has accepted.
    @Test func store_ofThePasswordAfterItsExpiry_makesItUsable() throws {
        try store("host=h", "username=alice", "password=secret", "password_expiry_utc=1")
        try storeAlice()
        #expect(try get("host=h") == ["username=alice", "password=secret"])
    }

    @Test func store_ofThePasswordOfAnExpiredItem_makesItUsable() throws {
        try storeAlice()
        #expect(try tool.run("expire", "2020-01-01", "--server", "https://h", "-a", "alice").status == 0)
        #expect(try get("host=h").isEmpty)
        try storeAlice()
        #expect(try get("host=h") == ["username=alice", "password=secret"])
    }

    @Test func store_ofThePasswordOfAnItemThatExpiresLater_keepsTheDate() throws {
        try storeAlice()
        #expect(try tool.run("expire", "2099-01-01", "--server", "https://h", "-a", "alice").status == 0)
        try storeAlice()
        #expect((try tool.listed().first?["expires"] as? String)?.hasPrefix("2099-01-01T") == true)
    }

    @Test func store_overLinesOfOtherPrograms_keepsThem() throws {
        for password in ["pw1", "pw2"] {
            let value = Data("pw1\notp_url=x\nuser=y".utf8)
            try tool.run("set", "--server", "https://h", "-a", "alice", input: value)
            try store("host=h", "username=alice", "password=\(password)")
            let run = try tool.run("get", "--server", "https://h", "-a", "alice")
            #expect(run.text == "\(password)\notp_url=x\nuser=y")
        }
    }

    @Test func store_overAValueThatIsNotOfGit_keepsItAndFails() throws {
        let value = Data("pw1\nnotes line".utf8)
        try tool.run("set", "--server", "https://h", "-a", "alice", input: value)
        let run = try tool.run(
            "git-credential", "store", input: Data("protocol=https\nhost=h\nusername=alice\npassword=typed\n".utf8))
        #expect(run.status != 0 && !run.everything.contains("typed"))
        #expect(try tool.run("get", "--server", "https://h", "-a", "alice").output == value)
    }

    @Test func store_ofAnotherPassword_dropsTheRest() throws {
        try store("host=h", "username=alice", "password=old", rest[0], rest[1])
        try storeAlice()
        #expect(try get("host=h") == ["username=alice", "password=secret"])
    }

    @Test func get_ofAnExpiredPassword_isNothing() throws {
        try store("host=h", "username=alice", "password=secret", "password_expiry_utc=1")
        #expect(try get("host=h").isEmpty)
    }

    @Test func get_ofAnExpiredPasswordWithARefreshToken_isTheToken() throws {
        try store("host=h", "username=alice", "password=secret", "password_expiry_utc=1", rest[1])
        #expect(try get("host=h") == ["username=alice", rest[1]])
    }

    @Test func authtype_forAGitThatKnowsIt_comesBack() throws {
        try store("host=h", "authtype=Bearer", "credential=token")
        #expect(
            try get("capability[]=authtype", "host=h") == [
                "capability[]=authtype", "authtype=Bearer", "credential=token",
            ])
    }

    @Test func authtype_forAGitThatDoesNotKnowIt_isNothing() throws {
        try store("host=h", "authtype=Bearer", "credential=token")
        #expect(try get("host=h").isEmpty)
    }

    @Test func store_ofAnEphemeralCredential_storesNothing() throws {
        try store("host=h", "authtype=Bearer", "credential=token", "ephemeral=1")
        #expect(try tool.listed().isEmpty)
    }

    @Test func store_ofAnUnchangedPassword_doesNotWrite() throws {
        try storeAlice()
        let before = try tool.listed().first?["modified"] as? String
        try storeAlice()
        #expect(try tool.listed().first?["modified"] as? String == before)
    }

    @Test func store_ofASynchronizableItem_changesIt() throws {
        try tool.run("set", "--server", "https://h", "-a", "alice", "--synchronizable", input: otherSecret)
        try storeAlice()
        #expect(try tool.listed().count == 1)
    }

    // MARK: - Erase

    private static let patterns: [([String], Bool)] = [
        (["host=h"], true), (["host=h", "username=alice", "password=secret"], true),
        (["host=h", "password=other"], false), (["host=h", "username=bob"], false), (["host=other"], false),
        (["host=h", "authtype=Bearer", "credential=secret"], false),
    ]

    @Test(arguments: patterns)
    func erase_removesOnlyWhatMatchesEverything(_ pattern: [String], isRemoved: Bool) throws {
        try storeAlice()
        let input = Data((["protocol=https"] + pattern).joined(separator: "\n").utf8)
        #expect(try tool.run("git-credential", "erase", input: input).status == 0)
        #expect(try get("host=h").isEmpty == isRemoved)
    }

    @Test func erase_withoutAUser_removesAllOfTheServer() throws {
        try storeAlice()
        try store("host=h", "username=bob", "password=secret")
        try store("host=other", "username=bob", "password=secret")
        try erase("host=h")
        #expect(try tool.listed().map { $0["server"] as? String } == ["other"])
    }

    @Test(arguments: ["", "\n", "username=alice\n", "protocol=https\n", "host=h\n", "protocol=https\nhost=\n"])
    func erase_withoutAServer_isUsageAndRemovesNothing(_ pattern: String) throws {
        try storeAlice()
        #expect(try tool.run("git-credential", "erase", input: Data(pattern.utf8)).status == 64)
        #expect(try tool.listed().count == 1)
    }

    // MARK: - The protocol

    private static let wrongInputs: [(String, Int32)] = [
        ("protocol=https\nhost=h\ngarbage\n", 64), ("protocol=https\nhost=h\nx=\0\n", 64),
        ("protocol=https\nhost=h:99999\n", 64), ("protocol=https\nhost=h:80x\n", 64), ("host=h\n", 64),
        ("protocol=gopher+x\nhost=h\n", 14), ("protocol=https\nhost=h\npassword_expiry_utc=soon\n", 64),
        ("protocol=https\nhost=h\nx=" + String(repeating: "a", count: 70_000) + "\n", 18),
        (String(repeating: "a=\n", count: 400_000), 18),
    ]

    @Test(arguments: wrongInputs)
    func input_thatIsWrong_isAnErrorWithoutOutput(_ input: String, status: Int32) throws {
        try storeAlice()
        let run = try tool.run("git-credential", "get", input: Data(input.utf8))
        #expect(run.status == status && run.output.isEmpty, "\(run.everything)")
    }

    @Test func input_thatIsNotUTF8_isAnErrorWithoutItsContent() throws {
        let run = try tool.run("git-credential", "store", input: Data("password=hunter2\n".utf8) + [0xFF])
        #expect(run.status == 64 && !run.everything.contains("hunter2"))
    }

    @Test func input_afterAnEmptyLine_isNotWaitedFor() throws {
        try storeAlice()
        let run = try tool.shell(
            """
            mkfifo pipe held; (exec 3> pipe; printf 'protocol=https\\nhost=h\\n\\n' >&3; read -r line < held) &
            "$CTL" git-credential get < pipe; echo > held
            """)
        #expect(run.text == "username=alice\npassword=secret\n")
    }

    @Test func unknownKeys_areIgnored() throws {
        try storeAlice()
        #expect(try get("wwwauth[]=Basic realm=x", "state[]=a", "new=thing", "host=h").count == 2)
    }

    @Test func unknownOperation_isIgnored() throws {
        let run = try git("frobnicate", "protocol=https")
        #expect(run.status == 0 && run.everything.isEmpty)
    }

    @Test func capability_isAuthtype() throws {
        #expect(try git("capability").text == "version 0\ncapability authtype\n")
    }

    @Test func linkOfTheHelpersName_isTheHelper() throws {
        let run = try tool.shell("ln -s \"$CTL\" git-credential-keychain; ./git-credential-keychain capability")
        #expect(run.text == "version 0\ncapability authtype\n")
    }

    @Test func lockedVault_withoutATerminal_isAnErrorWithoutOutput() throws {
        let vault = try LockableTool()
        try vault.withKey("set --server https://h -a alice", input: secret)
        let run = try vault.tool.run("git-credential", "get", input: Data("protocol=https\nhost=h\n".utf8))
        #expect(run.status == 5 && run.output.isEmpty)
    }

    @Test func lockedVault_withTheKeyInTheConfiguration_opens() throws {
        let vault = try LockableTool()
        let request = Data("protocol=https\nhost=h\nusername=alice\npassword=secret\n".utf8)
        try #require(try vault.withKey("git-credential store", input: request).status == 0)
        #expect(try vault.withKey("git-credential get", input: request).text == "username=alice\npassword=secret\n")
    }

    @Test func fullDisk_behindTheOutput_isAnError() throws {
        try storeAlice()
        let run = try tool.shell("printf 'protocol=https\\nhost=h\\n' | \"$CTL\" git-credential get > /dev/full")
        #expect(run.status == 17)
    }

    @Test func requests_fromSeveralProcesses_allSucceed() throws {
        let run = try tool.shell(
            """
            for i in 1 2 3 4; do (
              for operation in store get erase; do
                printf 'protocol=https\\nhost=h\\nusername=u\\npassword=p%s\\n' $i | \
                  "$CTL" git-credential $operation > /dev/null || echo failed
              done
            ) & done | cat
            """)
        #expect(run.everything.isEmpty)
    }
}
