// SPDX-License-Identifier: Apache-2.0
// Internet passwords: told apart by server, account, protocol, port, path and security domain.

import Foundation
import Testing

@Suite("internet passwords")
struct InternetPasswordTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func internetPassword_withEverything_comesBack() throws {
        try tool.run(
            "set", "--server", "h", "-a", "a", "--protocol", "https", "--port", "8443", "--path", "/git", input: secret)
        let run = try tool.run(
            "get", "--server", "h", "-a", "a", "--protocol", "https", "--port", "8443", "--path", "/git")
        #expect(run.output == secret)
    }

    @Test func internetPassword_byItsServerAlone_comesBack() throws {
        try tool.run("set", "--server", "h", "-a", "a", "--port", "8443", input: secret)
        #expect(try tool.run("get", "--server", "h").output == secret)
    }

    @Test func items_thatDifferInPort_areTwo() throws {
        for port in ["80", "8080"] {
            try tool.run("set", "--server", "h", "-a", "a", "--port", port, input: Data(port.utf8))
        }
        #expect(try tool.run("get", "--server", "h", "-a", "a", "--port", "80").output == Data("80".utf8))
    }

    @Test func set_withoutPort_leavesTheItemWithAPortAlone() throws {
        try tool.run("set", "--server", "h", "-a", "a", "--port", "80", input: secret)
        try tool.run("set", "--server", "h", "-a", "a", input: otherSecret)
        #expect(try tool.run("get", "--server", "h", "--port", "80").output == secret)
    }

    @Test(arguments: [
        ("https", "htps"), ("http", "http"), ("ssh", "ssh "), ("ftp", "ftp "), ("imap", "imap"), ("smtp", "smtp"),
        ("htps", "htps"), ("HTTPS", "htps"), ("abcd", "abcd"),
    ])
    func protocol_byItsUsualName_isStoredAsApplesCode(name: String, code: String) throws {
        try tool.run("set", "--server", "h", "-a", "a", "--protocol", name, input: secret)
        #expect(try tool.run("get", "--server", "h", "-a", "a", "--protocol", code).output == secret)
        #expect(try tool.security("find-internet-password -s h").text.contains("\"ptcl\"<uint32>=\"\(code)\""))
    }

    @Test(arguments: [
        ("https://git.example.com/team", ["git.example.com", "https", "-", "/team"]),
        ("https://git.example.com:8443/", ["git.example.com", "https", "8443", "-"]),
        ("SSH://git.example.com", ["git.example.com", "ssh", "-", "-"]),
        ("https://[::1]:8443/a/b", ["::1", "https", "8443", "/a/b"]),
        ("git.example.com", ["git.example.com", "-", "-", "-"]), ("h.ex:8443", ["h.ex", "-", "8443", "-"]),
        ("[::1]:8443", ["::1", "-", "8443", "-"]), ("::1", ["::1", "-", "-", "-"]), ("H.ex", ["h.ex", "-", "-", "-"]),
        ("FE80::1", ["fe80::1", "-", "-", "-"]), ("A:b", ["A:b", "-", "-", "-"]), (":80", [":80", "-", "-", "-"]),
        ("h:99999", ["h:99999", "-", "-", "-"]), ("[::1]:5000/V2", ["[::1]:5000/V2", "-", "-", "-"]),
        ("https://Git.Example.com:8443/Team", ["git.example.com", "https", "8443", "/Team"]),
    ])
    func address_isTakenApart(address: String, parts: [String]) throws {
        try tool.run("set", "--server", address, "-a", "a", input: secret)
        let item = try #require(try tool.listed().first)
        let found = ["server", "protocol", "port", "path"].map { item[$0] is NSNull ? "-" : "\(item[$0] ?? "")" }
        #expect(found == parts)
        #expect(try tool.run("get", "--server", address, "-a", "a").output == secret)
    }

    @Test(arguments: [
        ("https://u@h/", "--account"), ("https://h/?q", "query"), ("https://h/#f", "fragment"),
        ("https:///p", "no host"),
        ("https://h:0/", "1 to 65535"), ("https://h:x/", "1 to 65535"), ("https://[::1/", "1 to 65535"),
        ("gopher-plus://h", "--protocol"), ("://h", "--protocol"), ("a/b://h", "--protocol"),
    ])
    func address_withWhatAnItemHasNot_isRefusedAndSaysWhat(address: String, words: String) throws {
        let run = try tool.run("set", "--server", address, "-a", "a", input: secret)
        #expect(run.status == 64)
        #expect(run.errors.contains(words), "\(run.errors)")
        #expect(try tool.listed().isEmpty)
    }

    @Test func hostWithPort_besideAPort_isRefused() throws {
        #expect(try tool.run("get", "--server", "h:8443", "--port", "1").status == 64)
    }

    @Test(arguments: [["--port", "1"], ["--protocol", "ssh"], ["--path", "/p"]])
    func address_besideAnOptionForAPart_isRefused(option: [String]) throws {
        let run = try tool.run("get", "--server", "https://h", option[0], option[1])
        #expect(run.status == 64)
    }

    @Test func host_withCapitals_isFoundInLowerCase() throws {
        try tool.run("set", "--server", "https://h.ex", "-a", "a", input: secret)
        #expect(try tool.run("get", "--server", "https://H.ex", "-a", "a").output == secret)
        #expect(try tool.run("get", "--server", "H.EX", "-a", "a").output == secret)
        let run = try tool.shell("\"$CTL\" run --env V=keychain+server://H.Ex/a -- printenv V")
        #expect(run.text == "correct horse\n", "\(run.errors)")
        try tool.run("set", "--server", "https://H.ex", "-a", "a", input: otherSecret)
        #expect(try tool.listed().count == 1)
        #expect(try tool.run("move", "--server", "H.ex", "-a", "a", "--to-server", "New.ex").status == 0)
        #expect(try tool.listed().map { $0["server"] as? String } == ["new.ex"])
    }

    /// As `security` and programs store them, which keep capitals.
    private func storeWithCapitals() throws {
        let run = try tool.run("security", "add-internet-password", "-s", "H.ex", "-a", "a", "-w", "capital")
        try #require(run.status == 0, "\(run.everything)")
    }

    @Test func item_withCapitals_isFoundAndChangedByThemOnly() throws {
        try storeWithCapitals()
        #expect(try tool.run("get", "--server", "h.ex", "-a", "a").status == 3)
        #expect(try tool.run("get", "--server", "H.ex", "-a", "a").text == "capital")
        try tool.run("set", "--server", "h.ex", "-a", "a", input: secret)
        #expect(try tool.run("get", "--server", "H.ex", "-a", "a").text == "capital")
        #expect(try tool.run("get", "--server", "h.ex", "-a", "a").output == secret)
        try tool.run("set", "--server", "H.ex", "-a", "a", input: otherSecret)
        #expect(try tool.run("get", "--server", "H.ex", "-a", "a").output == otherSecret)
        #expect(try tool.run("delete", "--server", "H.ex", "-a", "a").status == 0)
        #expect(try tool.run("get", "--server", "H.ex", "-a", "a").output == secret)
        #expect(try tool.run("get", "--server", "H.ex", "-a", "a", "--history", "1").text == "capital")
    }

    /// `security` stores the server as it is given, and `set` its parts in lower case.
    @Test(arguments: ["H.ex", "h:8443"])
    func deleteAll_ofAServerInTwoForms_removesWhatListShows(server: String) throws {
        try tool.run("set", "--server", server, "-a", "a", input: secret)
        let run = try tool.run("security", "add-internet-password", "-s", server, "-a", "a", "-w", "as given")
        try #require(run.status == 0, "\(run.everything)")
        #expect(try tool.listed().count == 2)
        #expect(try tool.listed("--server", server).map { $0["server"] as? String } == [server])
        #expect(try tool.run("delete", "--server", server, "--all").status == 0)
        #expect(try tool.listed().count == 1)
        #expect(try tool.run("get", "--server", server, "-a", "a").output == secret)
    }

    private func storeAsGiven(_ server: String, by program: String) throws {
        let json = #"{"ServerURL":"\#(server)","Username":"a","Secret":"as given"}"#
        let run =
            program == "docker"
            ? try tool.run("docker-credential", "store", input: Data(json.utf8))
            : try tool.run("security", "add-internet-password", "-s", server, "-a", "a", "-w", "as given")
        try #require(run.status == 0, "\(run.everything)")
    }

    @Test(arguments: [
        ("security", "A:b"), ("security", "a:b:c"), ("security", "h:"), ("security", ":80"), ("security", "[::1]"),
        ("docker", "[::1]:5000/v2"), ("docker", "[::1]"), ("docker", "h:x/v2"),
    ])
    func serverOfAnotherProgram_whateverItsText_isReachable(program: String, server: String) throws {
        try storeAsGiven(server, by: program)
        #expect(try tool.run("get", "--server", server, "-a", "a").text == "as given")
        #expect(try tool.listed("--server", server).count == 1)
        #expect(try tool.run("move", "--server", server, "-a", "a", "--to-server", "x:Y").status == 0)
        #expect(try tool.listed().map { $0["server"] as? String } == ["x:Y"])
        #expect(try tool.run("delete", "--server", "x:Y", "-a", "a").status == 0)
        #expect(try tool.listed().isEmpty)
    }

    @Test func itemOfDocker_whoseServerHasAPort_isFoundByIt() throws {
        let run = try tool.run(
            "docker-credential", "store", input: Data(#"{"ServerURL":"[::1]:5000","Username":"u","Secret":"s"}"#.utf8))
        try #require(run.status == 0, "\(run.everything)")
        #expect(try tool.run("get", "--server", "[::1]:5000", "-a", "u").text == "s")
    }

    @Test func serviceAndServer_ofOneName_areTwoItems() throws {
        try tool.store(service: "same", account: "a")
        try tool.run("set", "--server", "same", "-a", "a", input: otherSecret)
        #expect(try tool.get(service: "same", account: "a") == secret)
    }

    @Test func get_withoutPort_meansTheItemWithoutOne() throws {
        try tool.run("set", "--server", "h", "-a", "alice", input: secret)
        try tool.run("set", "--server", "h", "-a", "alice", "--port", "80", input: otherSecret)
        #expect(try tool.run("get", "--server", "h", "-a", "alice").output == secret)
        #expect(try tool.run("get", "--server", "h", "-a", "alice", "--port", "80").output == otherSecret)
    }

    @Test func delete_withoutPort_leavesTheItemWithOne() throws {
        try tool.run("set", "--server", "h", "-a", "alice", input: secret)
        try tool.run("set", "--server", "h", "-a", "alice", "--port", "80", input: otherSecret)
        #expect(try tool.run("delete", "--server", "h", "-a", "alice").status == 0)
        #expect(try tool.run("get", "--server", "h", "-a", "alice").output == otherSecret)
    }

    /// An item of git, and one of docker for the same address and account.
    private func storeOfGitAndDocker() throws {
        try tool.run("set", "--server", "https://git.corp", "-a", "u", input: secret)
        let run = try tool.run(
            "docker-credential", "store",
            input: Data(#"{"ServerURL":"https://git.corp","Username":"u","Secret":"of docker"}"#.utf8))
        try #require(run.status == 0, "\(run.everything)")
    }

    @Test(arguments: [["--server", "https://git.corp"], ["--server", "git.corp"]])
    func get_besideAnItemOfDocker_meansTheOneWithoutASecurityDomain(place: [String]) throws {
        try storeOfGitAndDocker()
        #expect(try tool.run("get", place[0], place[1], "-a", "u").output == secret)
        let ofDocker = try tool.run("get", place[0], place[1], "-a", "u", "--security-domain", "docker")
        #expect(ofDocker.text == "of docker")
        #expect(try tool.run("get", place[0], place[1], "-a", "u", "--security-domain", "").output == secret)
    }

    @Test func reference_besideAnItemOfDocker_meansTheOneWithoutASecurityDomain() throws {
        try storeOfGitAndDocker()
        let run = try tool.shell("\"$CTL\" run --env V=keychain+server://git.corp/u -- printenv V")
        #expect(run.text == "correct horse\n", "\(run.errors)")
    }

    @Test func items_thatDifferInSecurityDomain_areMovedAndDeletedByIt() throws {
        try storeOfGitAndDocker()
        try tool.run("set", "--server", "https://git.corp", "-a", "u", "--security-domain", "b c", input: otherSecret)
        let moved = try tool.run(
            "move", "--server", "git.corp", "-a", "u", "--security-domain", "b c", "--to-server", "new.corp")
        #expect(moved.status == 0, "\(moved.errors)")
        #expect(try tool.run("get", "--server", "new.corp", "-a", "u").output == otherSecret)
        #expect(try tool.run("delete", "--server", "git.corp", "-a", "u").status == 0)
        #expect(try tool.run("get", "--server", "git.corp", "-a", "u").text == "of docker")
        #expect(try tool.run("get", "--server", "git.corp", "-a", "u", "--history", "1").output == secret)
    }

    @Test func items_withSecurityDomainsOnly_areToldApartByWhatTheMessageNames() throws {
        for domain in ["one", "two"] {
            try tool.run(
                "set", "--server", "h", "-a", "a", "--security-domain", domain, input: Data(domain.utf8))
        }
        let run = try tool.run("get", "--server", "h", "-a", "a")
        #expect(run.status == 4 && run.errors.contains("--security-domain"), "\(run.errors)")
        #expect(try tool.run("list", "--server", "h").text.contains("SECURITY DOMAIN"))
        let domains = try tool.listed("--server", "h").map { $0["securityDomain"] as? String }
        #expect(domains == ["one", "two"])
        #expect(try tool.run("get", "--server", "h", "-a", "a", "--security-domain", "two").text == "two")
        #expect(try tool.run("get", "-s", "h", "--security-domain", "two").status == 64)
    }

    @Test func get_withoutAccountAndPort_doesNotChooseAmongAccounts() throws {
        try tool.run("set", "--server", "h", "-a", "alice", input: secret)
        try tool.run("set", "--server", "h", "-a", "bob", "--port", "80", input: otherSecret)
        #expect(try tool.run("get", "--server", "h").status == 4)
    }
}
