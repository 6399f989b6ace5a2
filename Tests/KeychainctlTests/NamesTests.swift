// SPDX-License-Identifier: Apache-2.0
// Names and attributes: `move`, `set --keep-value`, `search` and `list --match`.

import Foundation
import Testing

@Suite("names and attributes")
struct NamesTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store(secret, service: "example.com", account: "alice", "--label", "Mail", "--comment", "Ask Bob")
    }

    @Test func item_thatIsMoved_keepsItsValueAndAttributes() throws {
        let run = try tool.run("move", "-s", "example.com", "--to-service", "new", "--to-account", "bob")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try tool.get(service: "new", account: "bob") == secret)
        let item = try #require(try tool.listed().first)
        #expect(item["label"] as? String == "Mail" && item["comment"] as? String == "Ask Bob")
        #expect(try tool.listed().count == 1)
    }

    /// Such as the alias and the script code that Apple's programs set.
    @Test(arguments: ["\"alis\":{\"text\":\"x\"}", "\"scrp\":{\"number\":5}", "\"zzzz\":{\"data\":\"AQID\"}"])
    func item_thatIsMoved_keepsAttributesOfOtherPrograms(attribute: String) throws {
        let name = "\"svce\":{\"text\":\"s\"},\"acct\":{\"text\":\"a\"},"
        try tool.take(ExportedItems.document([ExportedItems.item(name + attribute + ",")]))
        let run = try tool.run("move", "-s", "s", "--to-account", "new")
        #expect(run.status == 0, "\(run.errors)")
        let moved = try tool.exportedLines().first { $0.contains("\"new\"") }
        #expect(moved?.contains(attribute) == true, "\(moved ?? "none")")
    }

    @Test func item_thatIsMoved_keepsItsAccessibility() throws {
        try tool.store(secret, service: "s", account: "a", "--accessibility", "after-first-unlock")
        try tool.run("rename", "-s", "s", "--to-account", "b")
        #expect(try tool.listed("-s", "s").first?["accessibility"] as? String == "afterFirstUnlock")
    }

    @Test func item_thatIsMovedToATakenName_staysAndSoDoesTheOther() throws {
        try tool.store(otherSecret, account: "bob")
        let run = try tool.run("move", "-s", "example.com", "-a", "alice", "--to-account", "bob")
        #expect(run.status == 4)
        #expect(try tool.get() == secret && tool.get(account: "bob") == otherSecret)
    }

    @Test func item_thatIsMovedToItself_stays() throws {
        #expect(try tool.run("move", "-s", "example.com", "--to-account", "alice").status == 4)
        #expect(try tool.get() == secret)
    }

    @Test func item_thatIsMovedToAnotherGroup_isThere() throws {
        try tool.run("move", "-s", "example.com", "--to-access-group", "other")
        #expect(try tool.listed().map { $0["accessGroup"] as? String } == ["other"])
    }

    @Test(arguments: [("new", "https", 8443), ("http://new:80/", "http", 80)])
    func server_thatIsMoved_keepsWhatIsNotGiven(target: String, protocolName: String, port: Int) throws {
        try tool.run("set", "--server", "https://old:8443/", "-a", "a", input: secret)
        let run = try tool.run("move", "--server", "old", "--to-server", target)
        #expect(run.status == 0, "\(run.errors)")
        let item = try #require(try tool.listed("--server", "new").first)
        #expect(item["protocol"] as? String == protocolName && item["port"] as? Int == port)
    }

    @Test func attributes_withoutAValue_areChangedAlone() throws {
        let run = try tool.run(
            "set", "-s", "example.com", "-a", "alice", "--keep-value", "--label", "Post", "--kind", "token")
        #expect(run.status == 0, "\(run.errors)")
        let item = try #require(try tool.listed().first)
        #expect(item["label"] as? String == "Post" && item["kind"] as? String == "token")
        #expect(item["comment"] as? String == "Ask Bob")
        #expect(try tool.get() == secret)
    }

    @Test func attributes_ofAMissingItem_areNotFound() throws {
        #expect(try tool.run("set", "-s", "s", "-a", "a", "--keep-value", "--label", "x").status == 3)
    }

    @Test(arguments: ["ALI", "mail", "bob", "example", "Ä"])
    func text_inAName_isFound(text: String) throws {
        try tool.store(service: "ä", account: "x")
        let run = try tool.run("search", "--json", text)
        let found = try #require(try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]])
        #expect(found.count == 1)
    }

    @Test func text_inAValue_isNotFound() throws {
        let run = try tool.run("search", "horse")
        #expect(run.status == 0)
        #expect(run.everything.isEmpty)
    }

    @Test(arguments: [
        ("example.*", 1), ("*", 1), ("example", 0), ("e?ample.com", 1), ("[a-f]xample.com", 1), ("[!a-f]xample.com", 0),
        ("Mail", 1), ("al*ce", 1), ("*a*l*i*c*e*", 1), ("Alice", 0), ("", 0), (#"\alice"#, 1), ("[]a]lice", 1),
        (String(repeating: "*a", count: 1000), 0),
    ])
    func pattern_ofNames_matchesWholeNames(pattern: String, count: Int) throws {
        #expect(try tool.listed("--match", pattern).count == count)
    }
}
