// SPDX-License-Identifier: Apache-2.0
// Bad input, a full disk, a locked vault: nothing is imported half without a report, and nothing secret is shown.

import Foundation
import Testing

@Suite("import that fails")
struct ImportFailureTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Each is cut, or is not what it should be. The word 's3cret' must not be shown.
    @Test(arguments: [
        ("netrc", "machine a login b password c\nmachine x login s3cret password", "Line 2"),
        ("netrc", "machine a s3cret", "Line 1"), ("netrc", "password s3cret", "Line 1"),
        ("netrc", "machine a password \"s3cret", "Line 1"), ("netrc", "machine a\0password s3cret", "zero byte"),
        ("git-credentials", "https://a:b@c\nhttps://a:s3cret%4", "Line 2"),
        ("git-credentials", "s3cret\n", "Line 1"), ("docker", #"{"auths": {"a": {"auth": "s3cret"#, "ends early"),
        ("docker", #"{"auths": ["s3cret"]}"#, "not docker's config.json"), ("docker", "{}", "no 'auths'"),
        ("env", "A=1\ns3cret\n", "Line 2"), ("env", "A=1\nB=\"s3cret\n", "Line 2"), ("env", "A='b's3cret\n", "Line 1"),
        ("env", "A=\"b\\\nc\"\ns3cret\n", "Line 3"),
        ("keepassxc", "Group,Title,Username,Password,URL\na,b,c,s3cret\n", "Line 2"),
        ("keepassxc", "Group,Title,Username,Password,URL\na,b,c,\"s3cret", "Line 2"),
        ("keepassxc", "Group,Title,Username,Password,URL\na,b,c,\"x\"s3cret,e\n", "Line 2"),
        ("firefox", "url,username,password\na,b,s3cret\n", "'httprealm'"),
        ("chrome", "name,url,username,password\rn,a,b,s3cret\r", "Line 1"),
        ("chrome", "name,url,username,password\nn,a,s3\rcret,c\n", "Line 2"),
        ("chrome", "name,url,username,password,password\na,b,c,s3cret,e\n", "twice"), ("chrome", "", "is empty"),
        ("bitwarden", #"{"encrypted": true, "data": "s3cret"}"#, "it is encrypted"),
        ("bitwarden", #"{"items": [{"type": "s3cret"}]}"#, "entry 1"), ("bitwarden", "[]]", "Line 1"),
        ("1password", "PK\u{3}\u{4}s3cret", "directory is missing"),
        ("1password", #"{"s3cret": 1}"#, "no 'accounts'"),
        ("bitwarden", #"{"items": [{"type": 1, "name": "s3cret", "name": "b"}]}"#, "Line 1: An object has a key twice"),
        ("bitwarden", "{\"items\": [],\n\"items\": [\"s3cret\"]}", "Line 2: An object has a key twice"),
        ("bitwarden", #"{"items": [{"a": {"s3cret": 1, "s3cr\u0065t": 2}}]}"#, "Line 1: An object has a key twice"),
        ("docker", #"{"auths": {"s3cret\/": {}, "s3cret/": {}}}"#, "Line 1: An object has a key twice"),
        ("keychain-dump", "s3cret\n", "line 1"),
        (
            "keychain-dump",
            "keychain: \"x\"\nclass: \"genp\"\n    \"svce\"<blob>=\"s3cret\"\n    \"svce\"<blob>=\"b\"\n",
            "Line 4: The item has an attribute twice"
        ),
        (
            "keychain-dump",
            "keychain: \"x\"\nclass: \"genp\"\n    \"svce\"<blob>=<NULL>\n    \"svce\"<blob>=\"s3cret\"\n",
            "Line 4: The item has an attribute twice"
        ),
        ("keychain-dump", "keychain: \"x\"\nclass: \"genp\"\ndata:\n0x0\n", "Line 4"),
        ("keychain-dump", "keychain: \"x\"\nclass: \"genp\"\ndata:\n", "cut"),
    ])
    func input_thatIsBad_isAnErrorThatShowsNothingOfIt(format: String, text: String, words: String) throws {
        let run = try tool.importText(format, text)
        #expect(run.status == 64 || run.status == 14, "\(run.everything)")
        #expect(run.errors.contains(words) && run.text.isEmpty, "\(run.everything)")
        #expect(!run.everything.contains("s3cret"))
        #expect(!FileManager.default.fileExists(atPath: tool.database.path))
    }

    /// A key may be that of the object around it, the text of a value, or in the next object.
    @Test func json_withAKeyInSeveralObjects_isRead() throws {
        let text =
            #"{"items": [{"type": 1, "name": "name", "login": {"name": "\"name\":", "password": "p"}}, {"type": 5}]}"#
        #expect(try tool.importText("bitwarden", text).text.hasPrefix("added "))
    }

    /// The file was cut between the two characters of its last line end.
    @Test func csv_cutWithinItsLastLineEnd_hasValuesWithoutCarriageReturns() throws {
        let run = try tool.importText("chrome", "name,url,username,password\r\nX,https://a.example,u,pw\r")
        #expect(run.status == 0, "\(run.everything)")
        #expect(try tool.shell("\"$CTL\" get --server a.example -a u").text == "pw")
    }

    @Test func databaseOfKeePassXC_isToldApartFromAnExport() throws {
        let run = try tool.importBytes("keepassxc", Data([0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5, 0x00]))
        #expect(run.status == 64 && run.errors.contains("keepassxc-cli export --format csv"), "\(run.everything)")
    }

    @Test(arguments: ["keepassxc", "bitwarden", "1password", "firefox", "chrome", "docker", "keychain-dump"])
    func export_thatIsEmpty_isCalledEmpty(format: String) throws {
        let run = try tool.importText(format, "")
        #expect(run.status == 64 && run.errors.contains("is empty"), "\(run.everything)")
        #expect(!run.errors.contains("This is not"), "\(run.everything)")
    }

    @Test(arguments: [
        "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n",
        "name,login_username,login_password\r\nexample,alice,s3cret\r\n", "login_password,name\ns3cret,example\n",
        "\"name\",\"login_username\",\"login_password\"\n",
    ])
    func csvOfBitwarden_isToldApartFromJSON(text: String) throws {
        let run = try tool.importText("bitwarden", text)
        #expect(run.status == 64 && run.errors.contains("it is the CSV export"), "\(run.everything)")
        #expect(run.errors.contains("'.json'") && !run.everything.contains("s3cret"))
    }

    @Test(arguments: ["netrc", "git-credentials", "docker", "env", "chrome", "bitwarden", "1password", "keychain-dump"])
    func input_thatIsNotUTF8_isAnError(format: String) throws {
        let run = try tool.importBytes(format, Data([0x7B, 0xFF, 0xFE, 0x0A]))
        #expect(run.status == 64 && run.errors.contains("UTF-8"), "\(run.everything)")
    }

    @Test func json_nestedDeeply_isAnError() throws {
        let nested = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        let run = try tool.importText("bitwarden", #"{"items": \#(nested)}"#)
        #expect(run.status == 64 && run.errors.contains("levels deep"), "\(run.everything)")
    }

    @Test(arguments: ["netrc", "git-credentials", "env", "chrome", "keychain-dump"])
    func line_withoutEnd_isTooLarge(format: String) throws {
        let run = try tool.importText(format, String(repeating: "x", count: 1 << 21))
        #expect(run.status == 18 && run.errors.contains("Line 1 is longer"), "\(run.everything)")
    }

    @Test func input_withoutEnd_isTooLarge() throws {
        let run = try tool.shell("\"$CTL\" import bitwarden - < /dev/zero")
        #expect(run.status == 18 && run.errors.contains("64 MiB"), "\(run.everything)")
    }

    @Test(arguments: [("missing", 13), (".", 64)])
    func source_thatCannotBeRead_isAnErrorWithItsName(path: String, status: Int) throws {
        let run = try tool.shell("\"$CTL\" import netrc \(path)")
        #expect(run.status == Int32(status) && run.errors.contains("'\(path)'"), "\(run.everything)")
    }

    @Test func standardInput_thatIsClosed_isAnError() throws {
        let run = try tool.shell("\"$CTL\" import netrc - <&-")
        #expect(run.status == 17 && run.errors.contains("standard input"), "\(run.everything)")
    }

    @Test func report_toAFullDevice_saysHowMuchWasStored() throws {
        let run = try tool.shell("echo machine a login b password c | \"$CTL\" import netrc - > /dev/full")
        #expect(run.status == 17 && run.errors.contains("stopped after 1 of 1 entries; 1 were stored"), "\(run.errors)")
    }

    @Test(.enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"))
    func disk_thatIsFullInTheMiddle_isReportedWithWhatWasStored() throws {
        let run = try tool.shellWithOwnMounts(
            "mount -t tmpfs -o size=1200k,mode=700 none \"$HOME\"; cd \"$HOME\"; "
                + "for n in $(seq 3000); do echo machine h$n login a password p; done > source; "
                + "\"$CTL\" import netrc source > report && exit 1; r=$?; "
                + "[ $(grep -c ^added report) = $(\"$CTL\" list | tail -n +2 | wc -l) ] && [ -s source ] && exit $r")
        #expect(run.status == 9 && run.errors.contains("The source was not changed"), "\(run.everything)")
    }

    @Test func vault_thatIsLocked_importsNothing() throws {
        let vault = try LockableTool()
        let run = try vault.tool.importText("netrc", "machine a login b password c")
        #expect(run.status == 5 && run.text.isEmpty, "\(run.everything)")
    }

    @Test func vault_openedForTheImport_getsTheEntries() throws {
        let vault = try LockableTool()
        let run = try vault.withKey("import netrc -", input: Data("machine a login b password c".utf8))
        #expect(run.status == 0, "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func prompt_interrupted_importsNothing() throws {
        let vault = try LockableTool()
        try Data("machine a login b password c".utf8).write(to: vault.tool.home.appendingPathComponent("source"))
        let dialogue = try vault.tool.dialogue(
            "import", "netrc", "source", steps: [("Recovery key", .type("\u{3}"))])
        #expect(dialogue.status == -SIGINT)
        #expect(try vault.withKey("list --json").text == "[]\n")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func prompt_answered_importsEachEntryOnce() throws {
        let vault = try LockableTool()
        try Data("machine a login b password c".utf8).write(to: vault.tool.home.appendingPathComponent("source"))
        let key = String(decoding: vault.recoveryKey, as: UTF8.self)
        let dialogue = try vault.tool.dialogue(
            "import", "netrc", "source", steps: [("Recovery key", .type(key))])
        #expect(dialogue.status == 0 && dialogue.screen.contains("1 added"), "\(dialogue.screen)")
    }
}
