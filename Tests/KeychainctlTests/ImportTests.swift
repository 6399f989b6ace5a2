// SPDX-License-Identifier: Apache-2.0
// Importing files of other programs: what becomes what, in each documented format.

import Foundation
import Testing

@Suite("import")
struct ImportTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// A file, and what an entry of it must have become.
    struct Example: Sendable, CustomTestStringConvertible {
        let format: String
        let text: String
        let item: [String]
        let value: String

        var testDescription: String { "\(format): \(item.joined(separator: " "))" }
    }

    private static let netrc = """
        # machine commented login out password away
        machine git.example.com login alice password s3c#ret
        machine "x.org" login bob
          password "a b\\"c" account acc
        """
    private static let git = "https://alice:p%40ss@git.example.com:8443/team/a%20b.git\n\n# comment\n"
    private static let docker = """
        {"auths": {"https://index.docker.io/v1/": {"auth": "bWU6cHc6eA=="},
        "localhost:5000": {"auth": "Og==", "identitytoken": "tok"}}, "credsStore": "x"}
        """
    private static let env = "export A=1\r\nB=\"x\\ny\" # note\nC='$q ${z}'\nD=a b # note\nE=a#b\nF=\"two\nlines\"\n"
    private static let keepassxc = #"""
        "Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified","Created"
        "Passwords/Web","git","alice","sec""r,et","https://git.example.com:8443/team","line ""one""","","0","",""
        "Passwords","Wi-Fi","","wifi","","","","0","",""
        """#
    private static let bitwarden = """
        {"encrypted": false, "items": [
        {"type": 1, "name": "Git", "notes": "n1", "fields": [{"name": "PIN", "value": "1234", "type": 1}],
        "login": {"uris": [{"uri": "https://git.example.com/login?x=1"}, {"uri": "https://other.example.com"}],
        "username": "alice", "password": "pw\\u2713", "totp": "otpauth://totp/x"}},
        {"type": 2, "name": "Memo", "notes": "a secret note"}]}
        """
    private static let onePassword = """
        {"accounts": [{"vaults": [{"items": [{"details": {"loginFields": [
        {"value": "ivan", "designation": "username"}, {"value": "hunter2", "designation": "password"}],
        "notesPlain": "careful", "sections": [{"fields": [{"title": "one-time", "value": {"totp": "JBSW"}},
        {"title": "expiry", "value": {"monthYear": null}}]}]},
        "overview": {"title": "Example", "url": "https://example.com"}}]}]}]}
        """
    private static let onePasswordCSV = """
        "Title","Url","Username","Password","OTPAuth","Favorite","Archived","Tags","Notes"
        Shop,shop.example.com,sh,"p,w",otpauth://totp/a,false,false,,"two
        lines"
        """
    private static let firefox = """
        "url","username","password","httpRealm","formActionOrigin","guid","timeCreated","timeLastUsed","timePasswordChanged"
        "https://f.example","a","p",,"https://f.example","{g}","1","1","1"
        """
    private static let chrome = "name,url,username,password,note\nx,https://X.example/a?q=1,u,\"p\"\"q\",remember\n"
    private static let dump = #"""
        keychain: "/Users/x/Library/Keychains/login.keychain-db"
        version: 512
        class: "genp"
        attributes:
            0x00000007 <blob>="My "quoted" label"
            0x00000008 <blob>=<NULL>
            "acct"<blob>="alice"
            "svce"<blob>=0x67C3BC  "g\303\274"
        data:
        "pass"word"
        keychain: "/Users/x/Library/Keychains/login.keychain-db"
        version: 512
        class: "inet"
        attributes:
            "acct"<blob>="bob"
            "port"<uint32>=0x000001BB\#u{20}
            "ptcl"<uint32>="htps"
            "srvr"<blob>="git.example.com"
        data:
        0x67C3BC0A  "g\303\274\012"
        """#

    static let examples: [Example] = [
        Example(format: "netrc", text: netrc, item: ["--server", "git.example.com", "-a", "alice"], value: "s3c#ret"),
        Example(format: "netrc", text: netrc, item: ["--server", "x.org", "-a", "bob"], value: "a b\"c"),
        Example(format: "netrc", text: netrc, item: ["-s", "x.org", "-a", "bob (account)"], value: "acc"),
        Example(
            format: "git-credentials", text: git,
            item: ["--server", "https://git.example.com:8443/team/a b.git", "-a", "alice"], value: "p@ss"),
        Example(
            format: "docker", text: docker, item: ["--server", "https://index.docker.io/v1/", "-a", "me"],
            value: "pw:x"),
        Example(
            format: "docker", text: docker, item: ["--server", "localhost", "--port", "5000", "-a", "<token>"],
            value: "tok"),
        Example(format: "env", text: env, item: ["-s", "shop", "-a", "A"], value: "1"),
        Example(format: "env", text: env, item: ["-s", "shop", "-a", "B"], value: "x\ny"),
        Example(format: "env", text: env, item: ["-s", "shop", "-a", "C"], value: "$q ${z}"),
        Example(format: "env", text: env, item: ["-s", "shop", "-a", "D"], value: "a b"),
        Example(format: "env", text: env, item: ["-s", "shop", "-a", "E"], value: "a#b"),
        Example(format: "env", text: env, item: ["-s", "shop", "-a", "F"], value: "two\nlines"),
        Example(
            format: "keepassxc", text: keepassxc,
            item: ["--server", "https://git.example.com:8443/team", "-a", "alice"],
            value: "sec\"r,et"),
        Example(
            format: "keepassxc", text: keepassxc, item: ["-s", "https://git.example.com:8443/team"],
            value: "line \"one\""),
        Example(format: "keepassxc", text: keepassxc, item: ["-s", "Wi-Fi"], value: "wifi"),
        Example(format: "bitwarden", text: bitwarden, item: ["--server", "git.example.com"], value: "pw✓"),
        Example(
            format: "bitwarden", text: bitwarden,
            item: ["-s", "https://git.example.com/login", "-a", "alice (one-time password)"], value: "otpauth://totp/x"),
        Example(
            format: "bitwarden", text: bitwarden,
            item: ["-s", "https://git.example.com/login", "-a", "alice (field PIN)"],
            value: "1234"),
        Example(format: "bitwarden", text: bitwarden, item: ["-s", "Memo", "-a", "(notes)"], value: "a secret note"),
        Example(
            format: "1password", text: onePassword, item: ["--server", "example.com", "-a", "ivan"], value: "hunter2"),
        Example(
            format: "1password", text: onePassword,
            item: ["-s", "https://example.com", "-a", "ivan (one-time password)"],
            value: "JBSW"),
        Example(format: "1password", text: onePasswordCSV, item: ["--server", "shop.example.com"], value: "p,w"),
        Example(
            format: "1password", text: onePasswordCSV, item: ["-s", "shop.example.com", "-a", "sh (notes)"],
            value: "two\nlines"),
        Example(format: "firefox", text: firefox, item: ["--server", "https://f.example", "-a", "a"], value: "p"),
        Example(format: "chrome", text: chrome, item: ["--server", "https://x.example/a", "-a", "u"], value: "p\"q"),
        Example(
            format: "chrome", text: chrome, item: ["-s", "https://x.example/a", "-a", "u (notes)"], value: "remember"),
        Example(format: "keychain-dump", text: dump, item: ["-s", "gü", "-a", "alice"], value: "pass\"word"),
        Example(
            format: "keychain-dump", text: dump, item: ["--server", "https://git.example.com:443", "-a", "bob"],
            value: "gü\n"),
    ]

    @Test(arguments: examples)
    func entry_ofEachFormat_becomesAnItem(example: Example) throws {
        let run = try tool.importText(example.format, example.text)
        #expect(run.status == 0, "\(run.everything)")
        let quoted = example.item.map { "'\($0)'" }.joined(separator: " ")
        #expect(try tool.shell("\"$CTL\" get \(quoted)").text == example.value)
    }

    @Test func loginOfDocker_isFoundByTheCredentialHelper() throws {
        #expect(try tool.importText("docker", Self.docker).status == 0)
        let url = Data("https://index.docker.io/v1/".utf8)
        let run = try tool.run("docker-credential", "get", input: url)
        #expect(run.text.contains("\"Username\":\"me\"") && run.text.contains("pw:x"), "\(run.everything)")
    }

    @Test func variables_withoutAServiceOption_areNamedAfterTheFolder() throws {
        let folder = tool.home.appendingPathComponent("project")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("A=1\n".utf8).write(to: folder.appendingPathComponent(".env"))
        #expect(try tool.shell("cd project && \"$CTL\" import env").status == 0)
        #expect(try tool.get(service: "project", account: "A") == Data("1".utf8))
    }

    /// What an item cannot be made of is reported, and the exit code says so.
    @Test(arguments: [
        ("netrc", "machine a login b", "it has no password"), ("netrc", "macdef x\n y\n\n", "a macro"),
        ("netrc", "default login a password b", "it belongs to no machine"),
        ("netrc", "machine a.ex:x login a password b", "its machine is not a host"),
        ("netrc", "machine a.ex:1 port 2 login a password b", "its machine is not a host"),
        ("docker", #"{"auths": {"ghcr.io": {}}}"#, "a credential helper may have it"),
        ("docker", #"{"auths": {"ghcr.io": {"auth": "!"}}}"#, "in base64"),
        ("env", "A=${B}\n", "it refers to another variable"), ("env", "A=\n", "it is empty"),
        ("git-credentials", "gopher://a:b@c\n", "is not supported"),
        ("bitwarden", #"{"items": [{"type": 3, "name": "Visa"}]}"#, "a payment card is not imported"),
        (
            "keychain-dump", "keychain: \"x\"\nclass: \"genp\"\nattributes:\n    \"svce\"<blob>=\"s\"\n",
            "it has no data"
        ),
    ])
    func entry_withoutAnItem_isReportedAsSkipped(format: String, text: String, reason: String) throws {
        let run = try tool.importText(format, text)
        #expect(run.status == 1)
        #expect(run.text.hasPrefix("skipped") && run.text.contains(reason), "\(run.everything)")
    }

    @Test func report_asJSON_hasAnObjectForEachEntry() throws {
        let run = try tool.importText("netrc", "machine a.example login b password c\nmacdef m\n\n", "--json")
        let lines = try run.text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.map { $0["result"] as? String } == ["added", "skipped"])
        #expect(lines.first?["server"] as? String == "a.example" && lines.first?["origin"] as? String == "line 1")
    }

    /// macOS writes an empty line for an empty value; quotation marks mean the same.
    @Test(arguments: ["", "\"\""])
    func dump_ofAnEmptyValue_isImported(value: String) throws {
        let dump = "keychain: \"x\"\nclass: \"genp\"\nattributes:\n    \"svce\"<blob>=\"s\"\ndata:\n\(value)\n"
        let run = try tool.importText("keychain-dump", dump)
        #expect(run.status == 0 && run.text.hasPrefix("added"), "\(run.everything)")
        let get = try tool.run("get", "-s", "s")
        #expect(get.status == 0 && get.output.isEmpty, "\(get.errors)")
    }

    @Test func netrc_servesGitAndSwiftPM() throws {
        let run = try tool.importText("netrc", "machine G.ex login a password t\nmachine m port 993 password x\n")
        #expect(run.status == 0, "\(run.everything)")
        let git = try tool.run("git-credential", "get", input: Data("protocol=https\nhost=g.ex\n\n".utf8))
        #expect(git.text == "username=a\npassword=t\n")
        let swift = try tool.shell("\"$CTL\" run --swiftpm -- printenv SWIFTPM_NETRC_DATA")
        #expect(swift.text == "machine \"g.ex\" login \"a\" password \"t\"\n\n", "\(swift.errors)")
        #expect(try tool.listed("--server", "m").map { $0["protocol"] is NSNull } == [true])
    }

    @Test(arguments: [("a.ex:8443", "a.ex:8443"), ("A.ex:443", "a.ex"), ("[::1]:8443", "[::1]:8443"), ("::1", "[::1]")])
    func netrc_withAPortAfterTheHost_servesGit(machine: String, host: String) throws {
        let run = try tool.importText("netrc", "machine \(machine) login a password t\n")
        #expect(run.status == 0, "\(run.everything)")
        let git = try tool.run("git-credential", "get", input: Data("protocol=https\nhost=\(host)\n\n".utf8))
        #expect(git.text == "username=a\npassword=t\n", "\(git.everything)")
    }

    /// Browsers would go to the first host, other programs to the second one.
    @Test func address_withABackslash_isOfNoServer() throws {
        let run = try tool.importText(
            "chrome", "name,url,username,password\nx,https://good.example\\@evil.example/,u,p\n")
        #expect(run.status == 0, "\(run.everything)")
        #expect(try tool.listed().map { $0["class"] as? String } == ["generic-password"])
    }

    @Test func netrc_withAProtocol_getsIt() throws {
        _ = try tool.importText("netrc", "machine g.ex login a password t\n", "--protocol", "ftp")
        #expect(try tool.listed().map { $0["protocol"] as? String } == ["ftp"])
        #expect(try tool.importText("env", "A=b", "--protocol", "ftp").status == 64)
    }

    @Test func item_importedIntoAGroup_isInThatGroup() throws {
        _ = try tool.importText("netrc", "machine a login b password c", "--access-group", "work")
        #expect(try tool.listed().map { $0["accessGroup"] as? String } == ["work"])
    }
}

extension Tool {
    /// Imports from standard input. Variables get the service 'shop'.
    func importText(_ format: String, _ text: String, _ others: String...) throws -> Run {
        try importBytes(format, Data(text.utf8), others)
    }

    func importBytes(_ format: String, _ bytes: Data, _ others: [String] = []) throws -> Run {
        let service = format == "env" ? "--service shop " : ""
        return try shell("\"$CTL\" import \(format) - \(service)\(others.joined(separator: " "))", input: bytes)
    }
}
