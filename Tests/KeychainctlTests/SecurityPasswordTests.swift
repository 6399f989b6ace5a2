// SPDX-License-Identifier: Apache-2.0
// security: adding, finding and deleting passwords, with macOS's flags, streams, texts and exit codes.

import Foundation
import Testing

@Suite("security: passwords")
struct SecurityPasswordTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let notFound =
        "security: SecKeychainSearchCopyNext: The specified item could not be found in the keychain.\n"
    private static let duplicate =
        "security: SecKeychainItemCreateFromContent (<default>): The specified item already exists in the keychain.\n"
    private static let code =
        "Error: four-character types must be exactly 4 characters long.\nTry adding spaces to the end of the code, in quotes.\n"

    // MARK: - Finding

    static let found: [SecurityRow] = [
        SecurityRow("find-generic-password -s ex.com -a alice -w", out: "hunter2\n"),
        SecurityRow("find-generic-password -wsex.com", out: "hunter2\n"),
        SecurityRow("find-generic-password -w -- ", out: "hunter2\n"),
        SecurityRow("find-generic-password -a alice -w login.keychain", out: "hunter2\n"),
        SecurityRow("find-generic-password -l label -w /x/y/login.keychain-db", out: "hunter2\n"),
        SecurityRow("find-generic-password -c crea -w", out: "hunter2\n"),
        SecurityRow("find-generic-password -C 'typ ' -w", out: "hunter2\n"),
        SecurityRow("find-generic-password -D kind -w", out: "hunter2\n"),
        SecurityRow("find-generic-password -G gena -w", out: "hunter2\n"),
        SecurityRow("find-generic-password -j comment -w", out: "hunter2\n"),
        SecurityRow("find-generic-password -s ex.com -a alice -l other -w", out: "hunter2\n"),
        SecurityRow("find-generic-password -s ex.com -l other -w", err: notFound, 44),
        SecurityRow("find-generic-password -s ex -w", err: notFound, 44),
        SecurityRow("find-generic-password -s EX.COM", err: notFound, 44),
        SecurityRow("-q find-generic-password -s none", 44),
        SecurityRow("find-g -s ex.com -w", out: "hunter2\n"),
        SecurityRow("find-generic-password -s bytes -w", out: "c3bc0a\n"),
        SecurityRow("find-generic-password -s bytes -w0", out: "\u{fc}\n\0"),
        SecurityRow("find-generic-password -s ex.com none.keychain", err: notFound, 44),
        SecurityRow("find-generic-password -w -s ex.com none.keychain login.keychain", out: "hunter2\n"),
        SecurityRow("find-generic-password -c abc", err: code, 1),
        SecurityRow("find-internet-password -s git.ex -w", out: "pw\n"),
        SecurityRow("find-internet-password -a al -d realm -p /x -P 8443 -r htps -s git.ex -t dflt -w", out: "pw\n"),
        SecurityRow(
            "find-internet-password -a al -d realm -p /x -P 8443 -r htps -s git.ex -t form -w", err: notFound, 44),
        SecurityRow("find-internet-password -P 80", err: notFound, 44),
        SecurityRow("find-internet-password -r htp", err: code, 1),
        SecurityRow("find-internet-password -l lab -w", out: "pw\n"),
    ]

    /// One vault for all rows, since they only read.
    @Test func find_byEachFlag_writesWhatMacOSWrites() throws {
        try tool.prepare(
            "add-generic-password -a alice -s ex.com -w hunter2 -c crea -C 'typ ' -D kind -G gena -j comment -l label",
            "add-generic-password -a bob -s bytes -X c3bc0a",
            "add-internet-password -a al -d realm -p /x -P 8443 -r htps -s git.ex -w pw -l lab")
        for row in Self.found { try row.check(tool) }
    }

    @Test func find_ofAGenericPassword_writesTheBlockInOrder() throws {
        try tool.prepare("add-generic-password -a 'a\\b' -s ex.com -c crea -j ü -w x")
        let lines = try tool.security("find-generic-password").text.split(separator: "\n").map(String.init)
        #expect(lines[0] == "keychain: \"\(tool.home.path)/Library/Keychains/login.keychain-db\"")
        #expect(lines[1...3] == ["version: 512", "class: \"genp\"", "attributes:"])
        let attributes = lines[4...].filter { !$0.contains("<timedate>") }
        #expect(
            attributes == [
                "    0x00000007 <blob>=\"ex.com\"", "    0x00000008 <blob>=<NULL>",
                "    \"acct\"<blob>=0x615C62  \"a\\134b\"", "    \"crtr\"<uint32>=\"crea\"",
                "    \"cusi\"<sint32>=<NULL>", "    \"desc\"<blob>=<NULL>", "    \"gena\"<blob>=<NULL>",
                "    \"icmt\"<blob>=0xC3BC ", "    \"invi\"<sint32>=<NULL>", "    \"nega\"<sint32>=<NULL>",
                "    \"prot\"<blob>=<NULL>", "    \"scrp\"<sint32>=<NULL>", "    \"svce\"<blob>=\"ex.com\"",
                "    \"type\"<uint32>=<NULL>",
            ])
    }

    @Test func find_ofAnInternetPassword_writesTheBlockInOrder() throws {
        try tool.prepare("add-internet-password -a al -s git.ex -r htps -w x")
        let lines = try tool.security("find-internet-password").text.split(separator: "\n").map(String.init)
        #expect(lines[2] == "class: \"inet\"")
        #expect(
            lines[4...].filter { !$0.contains("<timedate>") } == [
                "    0x00000007 <blob>=\"git.ex\"", "    0x00000008 <blob>=<NULL>", "    \"acct\"<blob>=\"al\"",
                "    \"atyp\"<blob>=\"dflt\"", "    \"crtr\"<uint32>=<NULL>", "    \"cusi\"<sint32>=<NULL>",
                "    \"desc\"<blob>=<NULL>", "    \"icmt\"<blob>=<NULL>", "    \"invi\"<sint32>=<NULL>",
                "    \"nega\"<sint32>=<NULL>", "    \"path\"<blob>=<NULL>", "    \"port\"<uint32>=0x00000000 ",
                "    \"prot\"<blob>=<NULL>", "    \"ptcl\"<uint32>=\"htps\"", "    \"scrp\"<sint32>=<NULL>",
                "    \"sdmn\"<blob>=<NULL>", "    \"srvr\"<blob>=\"git.ex\"", "    \"type\"<uint32>=<NULL>",
            ])
    }

    @Test func dates_inABlock_endWithANUL() throws {
        try tool.prepare("add-generic-password -a a -s s -w x")
        let text = try tool.security("find-generic-password").text
        let line = try #require(text.split(separator: "\n").first { $0.contains("\"cdat\"<timedate>=0x32") })
        #expect(line.hasSuffix("Z\\000\""))
    }

    @Test(arguments: [
        ("hunter2", "password: \"hunter2\"\n"), ("ü", "password: 0xC3BC \n"),
        ("a\nb", "password: 0x610A62  \"a\\012b\"\n"),
        ("", "password: \n"),
    ])
    func find_withG_writesTheQuotedValueToStandardError(value: String, errors: String) throws {
        try tool.store(Data(value.utf8), service: "s", account: "a", "--allow-empty")
        let run = try tool.security("find-generic-password -g -s s")
        #expect(run.errors == errors)
        #expect(run.text.hasPrefix("keychain: "))
    }

    @Test func find_withJSON_writesOneObject() throws {
        try tool.prepare("add-generic-password -a alice -s ex.com -w hunter2")
        let run = try tool.security("find-generic-password --json -w")
        let object = try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
        #expect(object["service"] as? String == "ex.com")
        #expect(object["password"] as? String == "hunter2")
    }

    @Test func find_withJSONAlone_hasNoPassword() throws {
        try tool.prepare("add-generic-password -a alice -s ex.com -w hunter2")
        #expect(try !tool.security("find-generic-password --json").everything.contains("hunter2"))
    }

    // MARK: - Adding

    static let added: [SecurityRow] = [
        SecurityRow("add-generic-password -a alice -s new -w x"),
        SecurityRow("add-generic-password -a alice -s new -p x -A -T /bin/ls -T ''"),
        SecurityRow("add-generic-password -a alice -s new"),
        SecurityRow("add-generic-password -a alice -s ex.com -w y", err: duplicate, 45),
        SecurityRow("add-generic-password -a alice -s ex.com -w y -U"),
        SecurityRow("add-generic-password -a alice -s new -c crea1 -w x", err: code, 1),
        SecurityRow(
            "add-generic-password -a a -s s -w x none.keychain",
            err:
                "security: SecKeychainItemCreateFromContent (none.keychain): The specified keychain could not be found.\n",
            50),
        SecurityRow("add-internet-password -a alice -s new -r htps -P 80 -p /p -d d -t form -w x"),
    ]

    @Test(arguments: added)
    func add_withEachFlag_writesWhatMacOSWrites(row: SecurityRow) throws {
        try tool.prepare("add-generic-password -a alice -s ex.com -w hunter2")
        try row.check(tool)
    }

    @Test(arguments: [
        "add-generic-password -a a", "add-generic-password -s s", "add-internet-password -a a",
        "add-generic-password -a a -s s -X xy", "add-internet-password -a a -s s -P 65536", "delete-generic-password",
        "delete-internet-password", "find-generic-password -Q", "find-generic-password -s", "find-generic-password -h",
        "set-keychain-settings -t x", "list-keychains -d nobody", "delete-keychain", "error", "import", "export x",
    ])
    func commandLine_thatIsWrong_showsTheUsageOfTheCommand(line: String) throws {
        let run = try tool.security(line)
        #expect(run.status == 2)
        #expect(run.text.isEmpty)
        #expect(run.errors.contains("Usage: \(line.split(separator: " ")[0]) "))
    }

    @Test func value_asAnArgument_isWarnedOf() throws {
        let run = try tool.security("add-generic-password -a a -s s -w hunter2")
        #expect(run.errors.hasPrefix("security: Warning: the password is an argument"))
        #expect(!run.everything.contains("hunter2"))
    }

    @Test func value_fromTheLastWord_isReadTwiceFromStandardInput() throws {
        let run = try tool.security("add-generic-password -a a -s s -w", input: "two words \ntwo words \n")
        #expect(run.errors == "password data for new item: retype password for new item: ")
        #expect(try tool.get(service: "s", account: "a") == Data("two words ".utf8))
    }

    @Test(arguments: [("x\ny\nx\ny\nx\ny\n", 1), ("x\n", 1), ("", 36)])
    func value_notEnteredTwice_storesNothing(input: String, status: Int32) throws {
        #expect(try tool.security("add-generic-password -a a -s s -w", input: input).status == status)
        #expect(try tool.listed().isEmpty)
    }

    @Test func value_withoutItsSecondEntry_isNotCalledDifferent() throws {
        let run = try tool.security("add-generic-password -a a -s s -w", input: "pw\n")
        #expect(run.errors.contains("Standard input ended before the second entry."), "\(run.errors)")
    }

    @Test(arguments: [("616", Data([6, 0x16])), ("DEADbeef", Data([0xDE, 0xAD, 0xBE, 0xEF])), ("", Data())])
    func hexadecimalDigits_areBytes(digits: String, value: Data) throws {
        try tool.prepare("add-generic-password -a a -s s -X '\(digits)'")
        #expect(try tool.get(service: "s", account: "a") == value)
    }

    @Test func update_withoutAValue_keepsItAndChangesTheRest() throws {
        try tool.prepare(
            "add-generic-password -a a -s s -w old -l label", "add-generic-password -a a -s s -j comment -U")
        #expect(try tool.security("find-generic-password -j comment -l label -w").text == "old\n")
    }

    /// Which item `-U` changes if an item has a longer name than is given. The values that there are then, in all keychains.
    static let updates: [(first: String, update: String, values: String)] = [
        ("internet-password -a a -s h -r htps -P 443 -p /x -w old", "internet-password -a a -s h -w new -U", "new"),
        ("internet-password -a a -s h -r htps -w old", "internet-password -a a -s h -r http -w new -U", "new old"),
        ("internet-password -a a -s h -t form -w old", "internet-password -a a -s h -w new -U", "new old"),
        ("internet-password -a a -s h -w old", "internet-password -a b -s h -w new -U", "new old"),
        ("generic-password -a a -s s -w old other.keychain", "generic-password -a a -s s -w new -U", "new"),
        (
            "generic-password -a a -s s -w old other.keychain",
            "generic-password -a a -s s -w new -U login.keychain", "new old"
        ),
    ]

    @Test(arguments: updates)
    func update_ofWhatMatches_changesTheFirstAsOnMacOS(row: (first: String, update: String, values: String)) throws {
        try tool.prepare(
            "create-keychain -P other.keychain", "list-keychains -s login.keychain other.keychain", "add-\(row.first)",
            "add-\(row.update)")
        let dump = try tool.shell(
            "\"$CTL\" export all --clear-text json && grep -o '\"value\":\"[^\"]*' all | cut -d '\"' -f 4")
        let values = dump.text.split(separator: "\n").compactMap { Data(base64Encoded: String($0)) }
        #expect(values.map { String(decoding: $0, as: UTF8.self) }.sorted().joined(separator: " ") == row.values)
    }

    @Test func item_withoutAnAuthenticationType_isThatOfOtherPrograms() throws {
        try tool.prepare("add-internet-password -a a -s host -r htps -t dflt -w one")
        try tool.run("set", "--server", "host", "-a", "a", "--protocol", "https", input: Data("two".utf8))
        #expect(try tool.security("find-internet-password -s host -t dflt -w").text == "two\n")
    }

    // MARK: - Deleting

    @Test func delete_ofAnItem_writesItsBlockAndSaysSo() throws {
        try tool.prepare("add-generic-password -a a -s s -w x")
        let run = try tool.security("delete-generic-password -s s")
        #expect(run.errors == "password has been deleted.\n")
        #expect(run.text.hasPrefix("keychain: "))
        #expect(try tool.listed().isEmpty)
    }

    @Test func delete_withJSON_writesOneObjectWithoutTheValue() throws {
        try tool.prepare("add-generic-password -a a -s s -w hunter2")
        let run = try tool.security("delete-generic-password -s s --json")
        let object = try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
        #expect(object["service"] as? String == "s" && !run.everything.contains("hunter2"))
        #expect(try tool.listed().isEmpty)
    }

    @Test func delete_withSeveralMatches_removesTheFirst() throws {
        try tool.prepare("add-generic-password -a a -s s -w x", "add-generic-password -a b -s s -w x")
        try tool.security("delete-generic-password -s s")
        #expect(try tool.listed().count == 1)
    }

    @Test(arguments: ["delete-generic-password -s none", "delete-internet-password -s none"])
    func delete_ofNothing_isNotFound(line: String) throws {
        try SecurityRow(line, err: Self.notFound, 44).check(tool)
    }

    @Test func partitionList_isAcceptedAndSaysThatItHasNoEffect() throws {
        try tool.prepare("add-generic-password -a a -s s -w x", "add-generic-password -a b -s s -w x")
        let run = try tool.security("set-generic-password-partition-list -S apple: -s s -k x")
        #expect(run.status == 0)
        #expect(run.text.components(separatedBy: "keychain: ").count == 3)
        #expect(run.errors.contains("has no effect here"))
    }

    /// With `-k` as the last word, macOS asks for the password.
    @Test(arguments: ["generic-password-partition-list -S a: -k", "key-partition-list -S a: -dersuvw -t private -k"])
    func partitionList_withEachFlagOfMacOS_isNoWrongCommandLine(line: String) throws {
        #expect(try tool.security("set-\(line)").status == 1)
    }

    @Test(arguments: ["generic-password", "internet-password", "key"])
    func partitionList_withoutMatches_fails(kind: String) throws {
        #expect(try tool.security("set-\(kind)-partition-list -S apple:").status == 1)
    }
}
