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
            "the outermost group: the notes of a group are not imported"
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
        #expect(run.status == 0 && run.text.hasPrefix("added") == !reason.hasPrefix("the "), "\(run.everything)")
        #expect(run.text.contains("left out       \(reason)\n"), "\(run.everything)")
        #expect(!run.everything.contains("s3cret"))
    }

    /// With every column and part that is passed over.
    private static let whole = [
        (
            "keepassxc",
            "Group,Title,Username,Password,URL,Notes,TOTP,Icon,Last Modified,Created\nP/W,t,u,p,https://h,n,o,0,1,2\n"
        ),
        ("keepassxc", keePass("<Times/><History/>", group: "<Notes/>")),
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
    ]

    @Test(arguments: whole)
    func entry_ofWhichNothingIsMissing_isReportedAsAddedOnly(format: String, text: String) throws {
        let run = try tool.importText(format, text)
        let lines = run.text.split(separator: "\n")
        #expect(run.status == 0 && !lines.isEmpty && lines.allSatisfy { $0.hasPrefix("added ") }, "\(run.everything)")
    }

    // MARK: - Sources

    private static func keePass(_ parts: String, group: String = "") -> String {
        "<KeePassFile><Root><Group><Name>P</Name>\(group)<Entry><String><Key>Title</Key><Value>t</Value></String>"
            + "<String><Key>Password</Key><Value>p</Value></String>\(parts)</Entry></Group></Root></KeePassFile>"
    }

    private static func bitwarden(_ parts: String, login: String = "") -> String {
        #"{"items": [{"type": 1, "name": "n", "login": {"password": "p"\#(login)}\#(parts)}]}"#
    }

    private static func onePassword(_ details: String, fields: String = "") -> String {
        #"{"accounts": [{"vaults": [{"items": [{"overview": {"title": "t"}, "details": {"loginFields": "#
            + #"[{"designation": "password", "value": "p"}\#(fields)]\#(details)}}]}]}]}"#
    }
}
