// SPDX-License-Identifier: Apache-2.0
// Importing the XML of KeePassXC: what it writes itself, and documents that it would not write.

import Foundation
import Testing

@Suite("import from KeePassXC's XML")
struct ImportKeePassTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// A document with these elements in its outermost group, and these before it.
    private static func document(_ group: String, meta: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <KeePassFile><Meta><Generator>KeePassXC</Generator>\(meta)</Meta>
        <Root><Group><UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>Passwords</Name>
        \(group)
        </Group><DeletedObjects/></Root></KeePassFile>
        """
    }

    private static func entry(_ attributes: KeyValuePairs<String, String>, _ more: String = "") -> String {
        "<Entry>"
            + attributes.map { "<String><Key>\($0)</Key><Value ProtectInMemory=\"True\">\($1)</Value></String>" }
            .joined()
            + more + "</Entry>"
    }

    private static let bob = entry(["Title": "Wi-Fi", "UserName": "bob", "Password": "s3cret"])

    // MARK: - Files of KeePassXC itself

    private static let hasProgram = Tool.has("keepassxc-cli")

    /// A database that KeePassXC makes of a document, and exports again.
    private func exported(_ document: String, _ script: String) throws -> Tool.Run {
        try Data(document.utf8).write(to: tool.home.appendingPathComponent("in.xml"))
        return try tool.shell(
            """
            set -e; printf 'pw\\npw\\n' | keepassxc-cli import -q -p in.xml d.kdbx > made
            edit() { verb=$1; shift; printf 'pw\\nnew\\n' | keepassxc-cli $verb -q "$@" > made; }
            \(script)
            printf 'pw\\n' | keepassxc-cli export -q -f xml d.kdbx > out.xml
            "$CTL" import keepassxc out.xml && echo "status 0" || echo "status $?"
            """)
    }

    private static let git = document(
        "<Group><UUID>AAAAAAAAAAAAAAAAAAAAAg==</UUID><Name>Web</Name><Group><UUID>AAAAAAAAAAAAAAAAAAAAAw==</UUID>"
            + "<Name>Team</Name>"
            + entry([
                "Title": "git", "UserName": "alice", "Password": "s\"e,c&lt;&amp;\u{2713}&#x1F511;",
                "URL": "https://git.example.com:8443/team", "Notes": "two\nlines", "PIN": "1234",
                "otp": "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP", "KP2A_URL_1": "https://other.example.com",
            ]) + "</Group></Group>")

    private static let address = "https://git.example.com:8443/team"
    private static let expected: [([String], String)] = [
        (["--server", address, "-a", "alice"], "s\"e,c<&\u{2713}\u{1F511}"),
        (["-s", address, "-a", "alice (notes)"], "two\nlines"), (["-s", address, "-a", "alice (field PIN)"], "1234"),
        (["-s", address, "-a", "alice (one-time password)"], "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"),
    ]

    @Test(.enabled(if: hasProgram, "keepassxc-cli is not installed"))
    func attributes_exportedByKeePassXC_becomeItems() throws {
        let run = try exported(Self.git, "")
        #expect(run.text.hasSuffix("status 0\n"), "\(run.everything)")
        for (item, value) in Self.expected {
            let quoted = item.map { "'\($0)'" }.joined(separator: " ")
            #expect(try tool.shell("\"$CTL\" get \(quoted)").text == value)
        }
    }

    @Test(.enabled(if: hasProgram, "keepassxc-cli is not installed"))
    func formerValuesAndTheRecycleBin_areLeftOutWithoutAnError() throws {
        let run = try exported(
            Self.document(Self.bob + Self.entry(["Title": "old", "Password": "gone"])),
            "edit edit -p d.kdbx Wi-Fi; edit rm d.kdbx old")
        #expect(run.text.hasSuffix("status 0\n"), "\(run.everything)")
        #expect(run.text.contains("left out       Wi-Fi (entry 1): its 1 former value(s)"), "\(run.text)")
        #expect(run.text.contains("left out       old (entry 2): it is in the recycle bin"), "\(run.text)")
        #expect(try tool.get(service: "Wi-Fi", account: "bob") == Data("new".utf8))
        #expect(try tool.listed().count == 1)
    }

    @Test(.enabled(if: hasProgram, "keepassxc-cli is not installed"))
    func attachment_isReportedAsSkipped() throws {
        let run = try exported(
            Self.document(Self.bob), "echo file > file; edit attachment-import d.kdbx Wi-Fi name file")
        #expect(run.text.contains("its 1 attachment(s) are not imported"), "\(run.text)")
        #expect(run.text.hasSuffix("status 1\n"))
    }

    // MARK: - Groups and references

    @Test func groupsAndFurtherAddresses_areTheComment() throws {
        #expect(try tool.importText("keepassxc", Self.git).status == 0)
        let comments = try tool.listed().map { $0["comment"] as? String }
        #expect(comments.contains("Group: Web/Team; Other addresses: https://other.example.com"), "\(comments)")
    }

    @Test(arguments: [
        (["Title": "a", "UserName": "b", "Password": "{REF:P@I:0}"], "a value that refers to another entry"),
        (["Title": "a", "UserName": "{ref:U@I:0}", "Password": "p"], "its name refers to another entry"),
    ])
    func referenceToAnotherEntry_isReportedAsSkipped(attributes: [String: String], reason: String) throws {
        let strings = attributes.map { "<String><Key>\($0)</Key><Value>\($1)</Value></String>" }.joined()
        let run = try tool.importText("keepassxc", Self.document("<Entry>\(strings)</Entry>"))
        #expect(run.status == 1 && run.text.contains(reason), "\(run.everything)")
        #expect(!run.everything.contains("REF"))
    }

    // MARK: - Documents that are refused

    /// Each has the word 's3cret', which must not be shown.
    static let bad: [(String, String)] = [
        ("<!DOCTYPE x [<!ENTITY a \"s3cret\">]><KeePassFile/>", "a document type"),
        (document(entry(["Password": "&s3cret;"])), "an entity that XML does not define"),
        (document(entry(["Password": "<![CDATA[s3cret]]>"])), "inside a text"),
        (document(entry(["Password": "s3cret&#0;"])), "a character that XML does not allow"),
        (document(entry(["Password": "s3cret\u{1}"])), "a character that XML does not allow"),
        (document(entry(["Password": "s3cret"]).replacing("ProtectInMemory", with: "Protected")), "are encrypted"),
        (document("<Entry><String><Key>s3cret</Key></String></Entry>"), "no key or no value"),
        (document(entry(["PIN": "s3cret", "PIN": "2"])), "Line 4: An entry has an attribute twice"),
        (
            document(entry(["PIN": "s3cret"]).replacing("</Key>", with: "</Key><Key>b</Key>")),
            "more than a key and a value"
        ),
        (
            document(entry(["PIN": "s3cret"]).replacing("</String>", with: "<Value/></String>")),
            "more than a key and a value"
        ),
        (document("<Group><Name>s3cret</Name><Name>b</Name></Group>"), "Line 4: A group has a second name"),
        (document("s3cret"), "text between two elements"), (document("<s3cret></Entry>"), "not closed"),
        (document("<Entry s3cret></Entry>"), "has no value"),
        (document("<Entry a=\"s3cret\" a=\"\"/>"), "exists twice"),
        (document("<Entry a=\"s3cret"), "does not end"), (document("<0s3cret/>"), "malformed"),
        (document(bob) + "<s3cret/>", "Something follows"), (String(document(bob).dropLast(3)), "ends early"),
        ("<KeePassFile><Root><Group><Name>s3cret", "ends early"), ("<html>s3cret</html>", "not 'KeePassFile'"),
        ("<KeePassFile><s3cret/></KeePassFile>", "no element 'Root'"),
        ("<?xml version=\"1.0\" encoding=\"latin1\"?><s3cret/>", "not encoded as UTF-8"),
        (document(String(repeating: "<Group>", count: 100) + "s3cret"), "levels deep"),
        (document("<Group><Name>\(String(repeating: "n", count: 5000))</Name>\(bob)</Group>"), "The path of a group"),
    ]

    @Test(arguments: bad)
    func document_thatIsBad_isAnErrorThatShowsNothingOfIt(text: String, words: String) throws {
        let run = try tool.importText("keepassxc", text)
        #expect(run.status == 64 && run.text.isEmpty, "\(run.everything)")
        #expect(run.errors.contains(words) && !run.everything.contains("s3cret"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: tool.database.path))
    }

    @Test func field_thatIsVeryLong_isTooLarge() throws {
        let run = try tool.importText(
            "keepassxc", Self.document(Self.entry(["Notes": String(repeating: "&lt;", count: 1 << 20 | 1)])))
        #expect(run.status == 18 && run.errors.contains("longer than 1 MiB"), "\(run.errors)")
    }

    /// What is passed over has no limit but that of the file.
    @Test func attachments_thatAreLarge_arePassedOver() throws {
        let large = "<Binaries><Binary ID=\"0\">\(String(repeating: "A", count: 3 << 20))</Binary></Binaries>"
        let run = try tool.importText("keepassxc", Self.document(Self.bob, meta: large))
        #expect(run.status == 0, "\(run.everything)")
    }
}
