// SPDX-License-Identifier: Apache-2.0
// What an import leaves out of a source: each part is in the report, and what it says is not.

import Foundation
import Testing

@Suite("import that leaves something out")
struct ImportLossTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Each has the word 's3cret' where the part is that is left out.
    private static let parts: [(format: String, text: String, reason: String)] = [
        (
            "chrome", "name,url,username,password,passkey\nx,https://h,a,p,s3cret\n",
            "x (line 2): 1 column(s) that no item is made of are not imported"
        ),
        (
            "keepassxc", keePass("", group: "<Notes>s3cret</Notes>"),
            "the outermost group: its notes are not imported"
        ),
        (
            "keepassxc", keePass("", group: "<DefaultAutoTypeSequence>s3cret</DefaultAutoTypeSequence>"),
            "the outermost group: its auto-type sequence is not imported"
        ),
        (
            "keepassxc", keePass("", group: customData("s3cret")),
            "the outermost group: its 1 part(s) of custom data are not imported"
        ),
        (
            "keepassxc", keePass("", meta: customData("s3cret")),
            "the database: its 1 part(s) of custom data are not imported"
        ),
        (
            "keepassxc", keePass("", meta: "<DatabaseDescription>s3cret</DatabaseDescription>"),
            "the database: its description is not imported"
        ),
        (
            "keepassxc", keePass("", meta: "<DefaultUserName>s3cret</DefaultUserName>"),
            "the database: its default user name is not imported"
        ),
        (
            "keepassxc", keePass("<AutoType><DefaultSequence>s3cret</DefaultSequence></AutoType>"),
            "t (entry 1): its auto-type sequences are not imported"
        ),
        (
            "keepassxc", keePass("<AutoType><Association><Window>s3cret</Window></Association></AutoType>"),
            "t (entry 1): its auto-type sequences are not imported"
        ),
        (
            "keepassxc", keePass("<OverrideURL>s3cret</OverrideURL>"),
            "t (entry 1): its override URL is not imported"
        ),
        (
            "keepassxc", keePass(customData("s3cret")), "t (entry 1): its 1 part(s) of custom data are not imported"
        ),
        ("keepassxc", keePass("<New>s3cret</New>"), "t (entry 1): parts of an unknown kind are not imported"),
        (
            "keepassxc", keePass("", group: "<New>s3cret</New>"),
            "the outermost group: parts of an unknown kind are not imported"
        ),
        (
            "keepassxc", keePass("<History><Entry><Tags>s3cret</Tags></Entry></History>"),
            "t (entry 1): its 1 former value(s) are not imported"
        ),
        (
            "docker", #"{"auths": {"h.ex": {"auth": "YTpi", "password": "s3cret"}}}"#,
            "h.ex (entry 1): its 'password' beside 'auth', which docker does not read, is not imported"
        ),
        (
            "keychain-dump", dump("\"icmt\"<blob>=0x733363726574FF  \"s3cret\\377\""),
            "s (line 1): its comment is not text, and is not imported"
        ),
        (
            "keychain-dump", dump("\"crtr\"<uint32>=\"s3cret\""),
            "s (line 1): its 1 other attribute(s) are not imported"
        ),
        (
            "bitwarden", bitwarden(#", "passwordHistory": [{"password": "s3cret"}]"#),
            "n (entry 1): its 1 former value(s) are not imported"
        ),
        (
            "bitwarden", bitwarden("", login: #", "fido2Credentials": [{"keyValue": "s3cret"}]"#),
            "n (entry 1): its 1 passkey(s) are not imported"
        ),
        (
            "bitwarden", bitwarden(#", "fields": [{"name": "s3cret", "value": "true", "type": 2}, {"type": 3}]"#),
            "n (entry 1): its 2 field(s) that are switches or links are not imported"
        ),
        (
            "1password", onePassword(#", "passkey": {"privateKey": "s3cret"}"#),
            "t (entry 1): its passkey is not imported"
        ),
        (
            "1password", onePassword(#", "passwordHistory": [{"value": "s3cret"}]"#),
            "t (entry 1): its 1 former value(s) are not imported"
        ),
        (
            "1password", onePassword("", fields: #", {"designation": "", "value": "s3cret"}"#),
            "t (entry 1): 1 other field(s) of the web form are not imported"
        ),
    ]

    @Test(arguments: parts)
    func part_thatNoItemIsMadeOf_isReportedWithoutItsContent(format: String, text: String, reason: String) throws {
        let run = try tool.importText(format, text)
        #expect(run.status == 0 && run.text.contains("added  "), "\(run.everything)")
        #expect(run.text.contains("left out       \(reason)\n"), "\(run.everything)")
        #expect(!run.everything.contains("s3cret"))
    }

    /// The same word is where an address has a user name, a query or a fragment.
    private static let addresses: [(format: String, text: String, reason: String)] = [
        ("chrome", chrome("https://u:s3cret@h.ex/p"), "x (line 2): the user name of an address"),
        ("chrome", chrome("s3cret@h.ex"), "x (line 2): the user name of an address"),
        ("chrome", chrome("https://h.ex?s3cret"), "x (line 2): the query of an address"),
        ("chrome", chrome("https://h.ex/#s3cret"), "x (line 2): the fragment of an address"),
        ("chrome", chrome("otp://h?s3cret"), "x (line 2): the query of an address"),
        ("chrome", chrome("otp://h?s3cret", name: ""), "otp://h (line 2): the query of an address"),
        ("chrome", chrome("https://h.ex/p;id=s3cret"), "x (line 2): the query of an address"),
        (
            "chrome", chrome("jdbc:mysql://u:s3cret@h.ex:3306/db", name: ""),
            "h.ex:3306/db (line 2): the user name of an address"
        ),
        (
            "chrome", chrome("jdbc:sqlserver://h.ex;password=s3cret", name: ""),
            "jdbc:sqlserver://h.ex (line 2): the query of an address"
        ),
        ("chrome", chrome("https://u:s3cret/x@h.ex", name: ""), "https://h.ex (line 2): the user name of an address"),
        (
            "chrome", chrome("android://s3cret==@ex.app/", name: ""),
            "android://ex.app/ (line 2): the user name of an address"
        ),
        (
            "bitwarden",
            bitwarden("", login: #", "uris": [{"uri": "h.ex"}, {"uri": "https://a?s3cret"}, {"uri": "b/?s3cret"}]"#),
            "n (entry 1): the query of 2 addresses"
        ),
    ]

    @Test(arguments: addresses)
    func partOfAnAddress_thatMayBeSecret_isReportedAndShownNowhere(format: String, text: String, reason: String) throws
    {
        let run = try tool.importText(format, text)
        #expect(run.status == 0 && run.text.contains("left out       \(reason) is not imported\n"), "\(run.everything)")
        #expect(!run.everything.contains("s3cret"))
        let list = try tool.run("list", "--json")
        #expect(
            list.status == 0 && list.text.contains("account") && !list.text.contains("s3cret"), "\(list.everything)")
    }

    @Test(arguments: [
        ("androidapp://com.ex", "https://h.ex", "Other addresses: androidapp://com.ex"),
        ("androidapp://com.ex", "my router", "Addresses: androidapp://com.ex my router"),
        ("https://h.ex", "ssh://u@g.ex:22/a?b#c", "Other addresses: ssh://g.ex:22/a"),
    ])
    func address_thatDoesNotNameTheItem_isInTheComment(first: String, second: String, comment: String) throws {
        let uris = #", "uris": [{"uri": "\#(first)"}, {"uri": "\#(second)"}]"#
        #expect(try tool.importText("bitwarden", Self.bitwarden("", login: uris)).status == 0)
        #expect(try tool.listed().map { $0["comment"] as? String } == [comment])
    }

    @Test func addresses_ofAnEntryWithoutAPassword_areInTheComment() throws {
        let entry = #"{"type": 2, "name": "n", "notes": "x", "login": {"uris": [{"uri": "a.ex"}, {"uri": "b.ex"}]}}"#
        #expect(try tool.importText("bitwarden", #"{"items": [\#(entry)]}"#).status == 0)
        #expect(try tool.listed().map { $0["comment"] as? String } == ["Other addresses: b.ex"])
    }

    /// A card is reported as such, but an address is no part of a card.
    @Test func entry_withAnAddressAndNothingToStore_isReportedAsAWhole() throws {
        let entry = #"{"type": 3, "name": "n", "login": {"uris": [{"uri": "a.ex"}]}}"#
        let run = try tool.importText("bitwarden", #"{"items": [\#(entry)]}"#)
        #expect(run.status == 1 && run.text.contains("n (entry 1): it has no password\n"), "\(run.everything)")
    }

    @Test func realm_ofAnAddressOfNoServer_isInTheComment() throws {
        let text = "url,username,password,httpRealm\nchrome://accounts,a,p,My realm\n"
        #expect(try tool.importText("firefox", text).status == 0)
        #expect(try tool.listed().map { $0["comment"] as? String } == ["Realm: My realm"])
    }

    @Test func groupsOfACSV_areInTheComment() throws {
        let text = "Group,Title,Username,Password,URL\nDatabase/Web/Team,t,u,p,\n"
        #expect(try tool.importText("keepassxc", text).status == 0)
        #expect(try tool.listed().map { $0["comment"] as? String } == ["Group: Web/Team"])
    }

    @Test func fieldOfBitwarden_withoutAType_isImportedAsText() throws {
        let text = Self.bitwarden(#", "fields": [{"name": "PIN", "value": "1234"}]"#)
        #expect(try tool.importText("bitwarden", text).status == 0)
        #expect(try tool.get(service: "n", account: "(field PIN)") == Data("1234".utf8))
    }

    @Test func folderOfBitwarden_isInTheComment() throws {
        let entry = #"{"type": 1, "name": "n", "folderId": "2", "login": {"password": "p"}}"#
        let folders = #"{"id": "1", "name": "Home"}, {"id": "2", "name": "Work"}"#
        #expect(try tool.importText("bitwarden", #"{"folders": [\#(folders)], "items": [\#(entry)]}"#).status == 0)
        #expect(try tool.listed().map { $0["comment"] as? String } == ["Group: Work"])
    }

    /// The web form of the entry has an empty password, another one, or the same.
    @Test(arguments: [("", ["own"]), ("form", ["form", "own"]), ("own", ["own"])])
    func passwordOfOnePassword_besideThatOfAWebForm_isImported(form: String, values: [String]) throws {
        let text = Self.onePassword(#", "password": "own""#).replacing(#""value": "p""#, with: #""value": "\#(form)""#)
        #expect(try tool.importText("1password", text).status == 0)
        #expect(try tool.get(service: "t", account: "") == Data(values[0].utf8))
        let other = try tool.run("get", "-s", "t", "-a", "(other password)")
        #expect(other.text == (values.count > 1 ? values[1] : ""), "\(other.everything)")
        #expect(try tool.listed().count == values.count)
    }

    @Test func tokenOfDocker_besideALoginThatCannotBeRead_isImported() throws {
        let run = try tool.importText("docker", #"{"auths": {"h.ex": {"auth": "!", "identitytoken": "tok"}}}"#)
        #expect(run.status == 1 && run.text.contains("in base64"), "\(run.everything)")
        #expect(try tool.run("get", "--server", "h.ex", "-a", "<token>").text == "tok")
    }

    @Test func genericAttributeOfADump_isKept() throws {
        let text = Self.dump("\"gena\"<blob>=0x6162FF  \"ab\\377\"")
        #expect(try tool.importText("keychain-dump", text).text.hasPrefix("added "))
        let run = try tool.security("dump-keychain")
        #expect(run.text.contains("\"gena\"<blob>=0x6162FF"), "\(run.everything)")
    }

    @Test(arguments: [
        "\"path\"<blob>=0xFF", "\"sdmn\"<blob>=0xFF", "\"port\"<uint32>=0x00010050", "\"ptcl\"<uint32>=0x01",
    ])
    func itemOfADump_withANameThatCannotBeKept_isReportedAsSkipped(attribute: String) throws {
        let text = Self.dump("\"srvr\"<blob>=\"h\"\n    " + attribute).replacing("genp", with: "inet")
        let run = try tool.importText("keychain-dump", text)
        #expect(run.status == 1 && run.text.contains("line 1: a part of its name"), "\(run.everything)")
    }

    /// What they do not write themselves may be a password.
    @Test(arguments: [
        ("netrc", "machine u:s3cret@h.ex login a password p\n", "line 1: its machine is not a host"),
        ("netrc", "machine https://h.ex login a password p\n", "line 1: its machine is not a host"),
        ("netrc", "machine \"\" login a password p\n", "line 1: its machine is not a host"),
        (
            "docker", #"{"auths": {"https://u:s3cret@h.ex/?s3cret": {"auth": "YTpi"}}}"#,
            "entry 1: its address has a user"
        ),
    ])
    func name_thatMayHaveAPassword_isReportedAsSkipped(format: String, text: String, reason: String) throws {
        let run = try tool.importText(format, text)
        #expect(run.status == 1 && run.text.contains(reason), "\(run.everything)")
        #expect(!run.everything.contains("s3cret"))
        #expect(try tool.listed().isEmpty)
    }

    /// They are different names to KeePassXC and to the vault.
    @Test func attributesOfKeePass_thatDifferInTheirBytesOnly_areTwo() throws {
        let parts = ["Caf\u{E9}", "Cafe\u{301}"].map { "<String><Key>\($0)</Key><Value>v</Value></String>" }
        #expect(try tool.importText("keepassxc", Self.keePass(parts.joined())).status == 0)
        #expect(try tool.listed().count == 3)
    }

    @Test func unknownParts_ofOneGroup_haveOneLine() throws {
        let run = try tool.importText("keepassxc", Self.keePass("<New/><New/>", group: "<New/><Other/>"))
        #expect(run.status == 0 && run.text.split(separator: "\n").count == 3, "\(run.everything)")
    }

    @Test func entryOfBitwarden_inNoFolder_isNotInOneWithoutAnIdentifier() throws {
        let text = Self.bitwarden("").replacing("{\"items\"", with: #"{"folders": [{"name": "x"}], "items""#)
        #expect(try tool.importText("bitwarden", text).status == 0)
        #expect(try tool.listed().map { $0["comment"] as? String } == [nil])
    }

    /// A shell takes it for a part of the value.
    @Test func textOfAnEnvFile_rightBehindAQuotationMark_isRefused() throws {
        let run = try tool.importText("env", "A=\"x\"#y\n")
        #expect(run.status == 64 && run.errors.contains("followed by other text"), "\(run.everything)")
        #expect(try tool.listed().isEmpty)
    }

    /// For git, the host ends there.
    @Test func urlOfGit_withAQueryInPlaceOfAPath_isReportedAsSkipped() throws {
        let run = try tool.importText("git-credentials", "https://a:b@c.ex?s3cret\n")
        #expect(run.status == 1 && run.text.contains("https://c.ex (line 1): it has a query or a"), "\(run.everything)")
        #expect(!run.everything.contains("s3cret"))
    }

    /// With every column and part that is passed over.
    private static let whole = [
        (
            "keepassxc",
            "Group,Title,Username,Password,URL,Notes,TOTP,Icon,Last Modified,Created\nP/W,t,u,p,https://h,n,o,0,1,2\n"
        ),
        (
            "keepassxc",
            keePass(
                "<Times><Expires>False</Expires></Times><History/><OverrideURL/><Tags>x</Tags><IconID>1</IconID>"
                    + "<AutoType><Enabled>True</Enabled><DefaultSequence/></AutoType>"
                    + customData("", "_LAST_MODIFIED"),
                group: "<Notes/><DefaultAutoTypeSequence/><IsExpanded>True</IsExpanded>",
                meta: "<DatabaseName>x</DatabaseName><Binaries/><DatabaseDescription/>"
                    + customData("x", "KPXC_RANDOM_SLUG"))
        ),
        ("bitwarden", bitwarden(#", "passwordHistory": null"#, login: #", "fido2Credentials": []"#)),
        (
            "1password",
            "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\nt,h.ex,u,p,o,false,false,x,n\n"
        ),
        ("1password", onePassword(#", "passwordHistory": []"#, fields: #", {"designation": "", "value": ""}"#)),
        (
            "firefox",
            "url,username,password,httpRealm,formActionOrigin,guid,timeCreated,timeLastUsed,timePasswordChanged\n"
                + "https://f.example,a,p,,https://f.example,{g},1,1,1\n"
        ),
        ("chrome", "name,url,username,password,note\nx,https://h/,a,p,n\n"),
        (
            "keychain-dump",
            dump("\"cdat\"<timedate>=0x3230  \"20\"\n    \"invi\"<sint32>=<NULL>\n    \"icmt\"<blob>=\"c\"")
        ),
    ]

    @Test(arguments: whole)
    func entry_ofWhichNothingIsMissing_isReportedAsAddedOnly(format: String, text: String) throws {
        let run = try tool.importText(format, text)
        let lines = run.text.split(separator: "\n")
        #expect(run.status == 0 && !lines.isEmpty && lines.allSatisfy { $0.hasPrefix("added ") }, "\(run.everything)")
    }

    // MARK: - Sources

    private static func customData(_ value: String, _ key: String = "key") -> String {
        "<CustomData><Item><Key>\(key)</Key><Value>\(value)</Value></Item></CustomData>"
    }

    private static func keePass(_ parts: String, group: String = "", meta: String = "") -> String {
        "<KeePassFile><Meta>\(meta)</Meta><Root><Group><Name>P</Name>\(group)<Entry>"
            + "<String><Key>Title</Key><Value>t</Value></String><String><Key>Password</Key><Value>p</Value></String>\(parts)</Entry></Group></Root></KeePassFile>"
    }

    private static func dump(_ attribute: String) -> String {
        "keychain: \"k\"\nclass: \"genp\"\nattributes:\n    \"svce\"<blob>=\"s\"\n    \(attribute)\ndata:\n\"p\"\n"
    }

    private static func chrome(_ address: String, name: String = "x") -> String {
        "name,url,username,password\n\(name),\(address),a,p\n"
    }

    private static func bitwarden(_ parts: String, login: String = "") -> String {
        #"{"items": [{"type": 1, "name": "n", "login": {"password": "p"\#(login)}\#(parts)}]}"#
    }

    private static func onePassword(_ details: String, fields: String = "") -> String {
        #"{"accounts": [{"vaults": [{"items": [{"overview": {"title": "t"}, "details": {"loginFields": "#
            + #"[{"designation": "password", "value": "p"}\#(fields)]\#(details)}}]}]}]}"#
    }
}
