// SPDX-License-Identifier: Apache-2.0
// The list of keys of `ssh-agent`, within the limits of OpenSSH's clients.

import Foundation
import KeychainKeyStore
import KeychainKit
import KeychainTestSupport
import SecretMemory
import Testing

@testable import keychainctl

@Suite("list of ssh-agent")
struct SSHAgentLimitTests {
    private static func identities(_ count: Int, comment: String = "") -> [SSHAgentList.Identity] {
        (0..<count).map { (encoding: Data("key \($0)".utf8), comment: comment) }
    }

    private static func count(_ list: SSHAgentList) -> Int {
        list.message.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    @Test func key_thatIsThereSeveralTimes_isListedOnceWithItsFirstComment() {
        let key = Data("key".utf8)
        let list = SSHAgentList([(key, "first"), (Data("other".utf8), ""), (key, "second")])
        #expect(Self.count(list) == 2 && list.leftOut == 0 && list.complaint == nil)
        #expect(list.message.range(of: Data("first".utf8)) != nil)
        #expect(list.message.range(of: Data("second".utf8)) == nil)
    }

    @Test func keys_ofMoreBytesThanAListMayHave_areLeftOutAndTold() {
        let comment = String(repeating: "x", count: SSHAgentList.longestComment)
        let list = SSHAgentList(Self.identities(1000, comment: comment))
        #expect(Self.count(list) + list.leftOut == 1000 && list.leftOut > 0)
        let longest = SSHAgentList.longest
        #expect((longest - 2 * comment.count...longest).contains(list.message.count))
        #expect(list.complaint?.contains("\(list.leftOut)") == true && list.complaint?.contains("--tag") == true)
    }

    /// One key fills the list to its last byte, and one byte more is too much.
    @Test func key_thatJustFits_isListed() {
        let room = SSHAgentList.longest - 1 - 4 - 8
        for (length, isListed) in [(room, true), (room + 1, false)] {
            let list = SSHAgentList([(Data(count: length), "")])
            #expect(Self.count(list) == (isListed ? 1 : 0) && list.leftOut == (isListed ? 0 : 1))
            #expect(list.message.count == (isListed ? SSHAgentList.longest : 5))
        }
    }

    @Test func keys_aboveTheNumberOfAList_areLeftOut() {
        let list = SSHAgentList(Self.identities(SSHAgentList.most + 1))
        #expect(Self.count(list) == SSHAgentList.most && list.leftOut == 1)
        #expect(SSHAgentList(Self.identities(SSHAgentList.most)).leftOut == 0)
    }

    // MARK: - Comments

    @Test(
        arguments: [
            (String(repeating: "x", count: 1024), String(repeating: "x", count: 1024)),
            (String(repeating: "x", count: 1025), String(repeating: "x", count: 1021) + "…"),
            // Four bytes each.
            (String(repeating: "🔑", count: 256), String(repeating: "🔑", count: 256)),
            (String(repeating: "🔑", count: 257), String(repeating: "🔑", count: 255) + "…"),
            // Five bytes once it is escaped.
            (String(repeating: "\u{7}", count: 204), String(repeating: "\\u{7}", count: 204)),
            (String(repeating: "\u{7}", count: 205), String(repeating: "\\u{7}", count: 204) + "…"),
            ("e" + String(repeating: "\u{301}", count: 1000), "…"), ("", ""), ("a\nb", "a\\nb"),
        ] as [(String, String)])
    func comment_ofAName_isCutBetweenCharacters(name: String, comment: String) {
        #expect(SSHAgentList.comment(name) == comment)
        #expect(SSHAgentList.comment(name).utf8.count <= SSHAgentList.longestComment)
    }

    @Test(.enabled(if: Tool.hasKeyPrograms, "openssl or ssh-keygen is not installed"))
    func keys_ofVeryLongTags_areListedAndSign() throws {
        let tool = try Tool()
        let run = try tool.shellWithAgent(
            """
            for i in 1 2 3; do "$CTL" key generate ed25519 --tag $i$(head -c 90000 /dev/zero | tr '\\0' a); done > /dev/null
            "$CTL" key generate ed25519 --tag short > /dev/null; "$CTL" key public --tag short --openssh > pub
            echo message > file; \(AgentScript.sign); ssh-add -l
            """)
        let lines = run.text.split(separator: "\n")
        #expect(run.status == 0 && lines.count == 4, "\(run.everything.prefix(2000))")
        #expect(lines.filter { $0.contains("aaa…") && $0.utf8.count < 1200 }.count == 3)
    }

    // MARK: - Telling

    /// A vault whose keys no list can contain.
    private struct ManyKeys: SSHAgentKeys {
        func identities() throws(KeychainError) -> [SSHAgentList.Identity] {
            SSHAgentLimitTests.identities(SSHAgentList.most + 7)
        }
        func key(_ encoding: Data) throws(KeychainError) -> OpenSigningKey? { nil }
    }

    @Test func keys_thatAreLeftOut_areToldByTheAgent() {
        var complaints: [String] = []
        let answers = SSHAgentAnswers(
            ManyKeys(), added: SSHAgentAddedKeys(), confirm: { (_) throws(KeychainError) in false },
            complain: { complaints.append($0) })
        let message = answers.answer(to: SecretBytes(count: 1) { $0[0] = SSHAgentRequest.identities.rawValue })
        #expect(message == SSHAgentList(Self.identities(SSHAgentList.most)).message)
        #expect(complaints.count == 1 && complaints.first?.contains("not offered: 7.") == true, "\(complaints)")
    }
}
