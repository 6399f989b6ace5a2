// SPDX-License-Identifier: Apache-2.0
// Listing: the table, the JSON, the filters, and names that would drive a terminal.

import Foundation
import KeychainTestSupport
import Testing

@Suite("list")
struct ListTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func table_ofNothing_isEmpty() throws {
        let run = try tool.run("list")
        #expect(run.status == 0)
        #expect(run.everything.isEmpty)
    }

    @Test func json_ofNothing_isAnEmptyArray() throws {
        #expect(try tool.run("list", "--json").text == "[]\n")
    }

    @Test func table_ofAnItem_showsItsAttributes() throws {
        try tool.store(secret, "--label", "my label", "--access-group", "team")
        let lines = try tool.run("list").text.split(separator: "\n")
        #expect(lines.count == 2)
        for part in ["generic-password", "example.com", "alice", "my label", "team"] {
            #expect(lines.last?.contains(part) == true)
        }
    }

    @Test func table_ofAnInternetPassword_showsWhatTellsItFromOthers() throws {
        try tool.run(
            "set", "--server", "h", "-a", "a", "--protocol", "https", "--port", "8443", "--path", "/git", input: secret)
        #expect(try tool.run("list").text.contains("https://h:8443/git"))
    }

    @Test func json_ofAnItem_hasTheDocumentedKeys() throws {
        try tool.store()
        let keys = try #require(try tool.listed().first).keys.sorted()
        #expect(
            keys == [
                "accessGroup", "accessibility", "account", "class", "comment", "created", "expires", "kind", "label",
                "modified",
                "path", "port", "protocol", "requiresAuthentication", "securityDomain", "server", "service",
                "synchronizable",
            ])
    }

    @Test func json_ofAnItem_hasItsAttributes() throws {
        try tool.store(secret, "--label", "my label")
        let item = try #require(try tool.listed().first)
        #expect(item["class"] as? String == "generic-password")
        #expect(item["service"] as? String == "example.com")
        #expect(item["account"] as? String == "alice")
        #expect(item["label"] as? String == "my label")
        #expect(item["accessGroup"] as? String == "default")
        #expect(item["accessibility"] as? String == "whenUnlocked")
        #expect(item["synchronizable"] as? Bool == false)
    }

    @Test func json_ofAnInternetPassword_hasItsAttributes() throws {
        try tool.run(
            "set", "--server", "h", "-a", "a", "--protocol", "ssh", "--port", "22", "--path", "/p", input: secret)
        let item = try #require(try tool.listed().first)
        #expect(item["server"] as? String == "h")
        #expect(item["protocol"] as? String == "ssh")
        #expect(item["port"] as? Int == 22)
        #expect(item["path"] as? String == "/p")
    }

    @Test(arguments: ["label", "protocol", "port", "path", "server"])
    func json_ofWhatAnItemLacks_isNull(key: String) throws {
        try tool.store()
        #expect(try tool.listed().first?[key] is NSNull)
    }

    @Test(arguments: ["created", "modified"])
    func json_ofADate_isISO8601WithFraction(key: String) throws {
        try tool.store()
        let date = try #require(try tool.listed().first?[key] as? String)
        #expect(date.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(date)")
    }

    @Test(arguments: [[], ["--json"]])
    func list_ofAnItem_neverShowsItsValue(options: [String]) throws {
        try tool.store()
        let words = options.first ?? "--no-synchronizable"
        #expect(try !tool.run("list", words).everything.contains("correct horse"))
    }

    // MARK: - Filters

    @Test(arguments: [
        (["--service", "one"], 1), (["--account", "a"], 2), (["--server", "one"], 1), (["--port", "22"], 1),
        (["--label", "red"], 1), (["--access-group", "team"], 1), (["--access-group", "none"], 0), ([], 3),
        (["--service", "one", "--account", "b"], 0), (["--synchronizable"], 0),
    ])
    func filter_ofAnyKind_narrowsTheList(options: [String], count: Int) throws {
        try tool.store(service: "one", account: "a", "--label", "red")
        try tool.store(service: "two", account: "b", "--access-group", "team")
        try tool.run("set", "--server", "one", "-a", "a", "--port", "22", input: secret)
        let padded = options + Array(repeating: "--json", count: 4 - options.count)
        #expect(try tool.listed(padded[0], padded[1], padded[2], padded[3]).count == count)
    }

    // MARK: - Names

    @Test func table_ofANameWithAnEscapeSequence_doesNotPrintItRaw() throws {
        try tool.store(account: "\u{1b}[2Jalice\u{7}")
        let text = try tool.run("list").text
        #expect(!text.contains("\u{1b}"))
        #expect(text.contains("\\u{1b}[2Jalice\\u{7}"))
    }

    @Test(arguments: ["a\nb", "a\u{9b}2Jb", "a\u{202e}b", "a\u{2028}b", "a\u{7f}b"])
    func table_ofANameWithInvisibleCharacters_spellsThemOut(name: String) throws {
        try tool.store(account: name)
        let text = try tool.run("list").text
        #expect(!text.contains(name))
        #expect(text.split(separator: "\n").count == 2)
    }

    @Test(arguments: ["\u{1b}[2J", "\u{9b}2J", "\u{202e}", "\u{7f}", "\u{e0041}"])
    func json_ofANameWithInvisibleCharacters_keepsTheNameAndHidesTheBytes(name: String) throws {
        try tool.store(account: name)
        #expect(try tool.listed().first?["account"] as? String == name)
        #expect(try !tool.run("list", "--json").text.contains(name))
    }

    // MARK: - Columns

    @Test func table_withWideCharacters_aligns() throws {
        for (service, account) in [("日本語", "a"), ("e\u{301}", "b"), ("👩‍👩‍👧", "c"), ("❤\u{FE0F}", "d"), ("plain", "e")] {
            try tool.store(service: service, account: account)
        }
        let text = try tool.run("list").text
        // The title of the column takes fourteen columns.
        for line in [
            "日本語          a", "e\u{301}               b", "👩‍👩‍👧              c", "❤\u{FE0F}              d",
            "plain           e",
        ] {
            #expect(text.contains("generic-password  \(line)"), "\(text)")
        }
    }

    @Test(arguments: ["a\u{200D}b", "\u{200D}👧", "👩\u{200D}", "1\u{200D}👧"])
    func joiner_outsideAnEmoji_isSpelledOut(name: String) throws {
        try tool.store(account: name)
        #expect(try tool.run("list").text.contains("\\u{200d}"))
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func table_onATerminal_isCutToItsWidth() throws {
        try tool.store(service: String(repeating: "long", count: 30), account: "日本語日本語日本語日本語日本語")
        let lines = try tool.dialogue("list").screen.split(separator: "\r\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.last?.contains("…  ") == true)
        #expect(lines.last?.hasSuffix("Z") == true)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func table_onATerminal_showsWholeNamesIfAsked() throws {
        let name = String(repeating: "long", count: 30)
        try tool.store(service: name)
        #expect(try tool.dialogue("list", "--wide").screen.contains(name))
        #expect(try tool.run("list").text.contains(name))
    }

    @Test func message_withAnEscapeSequence_doesNotPrintItRaw() throws {
        #expect(try !tool.run("\u{1b}[2J").errors.contains("\u{1b}"))
    }

    // MARK: - Items that require the user

    @Test func list_withAnItemThatAsksForTheUser_namesItAndAsksNobody() throws {
        try tool.store()
        let prepared = try tool.shell(
            """
            echo tell nobody | "$CTL" protect add passphrase --new-passphrase-fd 0 &&
            KEYCHAIN_VAULT=~/.local/share/swift-keychain KEYCHAIN_AUTHENTICATOR=none '\(Programs.built("asking-app"))' add
            """)
        try #require(prepared.text.hasSuffix("0\n"), "\(prepared.everything)")
        let run = try tool.shell("KEYCHAIN_AUTHENTICATOR=none \"$CTL\" list")
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.text.split(separator: "\n")
        #expect(lines.first?.hasSuffix("PROTECTED") == true)
        #expect(lines.contains { $0.contains("com.example.asking  alice") && $0.hasSuffix("asks") })
        #expect(lines.contains { $0.contains("example.com         alice") && $0.hasSuffix("-") })
        let marks = try tool.listed().map {
            [
                $0["service"] as? String, "\($0["requiresAuthentication"] as? Bool == true)",
                "\($0["modified"] is NSNull)",
            ]
        }
        #expect(marks == [["com.example.asking", "true", "true"], ["example.com", "false", "false"]])
    }

    // MARK: - Damage

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed")) func table_besideADamagedItem_warnsAndShowsTheRest()
        throws
    {
        try tool.store()
        try tool.damageItems()
        try tool.run("accept", "--yes")
        try tool.store(service: "whole", account: "a")
        let run = try tool.run("list")
        #expect(run.status == 0)
        #expect(run.text.contains("whole"))
        #expect(run.errors.contains("1 damaged item"))
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func table_ofOneService_warnsOfItsDamagedItemsOnly() throws {
        try tool.store(service: "broken", account: "a")
        try tool.damageItems()
        try tool.run("accept", "--yes")
        try tool.store(service: "broken", account: "b")
        try tool.store(service: "whole", account: "a")
        let (broken, whole) = (try tool.run("list", "-s", "broken"), try tool.run("list", "-s", "whole"))
        #expect(broken.status == 0 && broken.errors.contains("1 damaged item"))
        #expect(whole.status == 0 && whole.errors == "")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed")) func list_ofNothingButDamage_isAnError() throws {
        try tool.store()
        try tool.damageItems()
        #expect(try tool.run("list").status == 8)
    }
}
