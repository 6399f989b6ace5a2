// SPDX-License-Identifier: Apache-2.0
// The credential helper of docker: its protocol, and docker's client with a stub of a registry.

import Foundation
import KeychainTestSupport
import Testing

@Suite("docker-credential")
struct DockerCredentialTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func docker(_ action: String, _ input: String = "") throws -> Tool.Run {
        try tool.run("docker-credential", action, input: Data(input.utf8))
    }

    private func store(_ url: String, _ user: String = "alice", _ secret: String = "token") throws {
        let object = ["ServerURL": url, "Username": user, "Secret": secret]
        let json = try JSONSerialization.data(withJSONObject: object)
        let run = try tool.run("docker-credential", "store", input: json)
        try #require(run.status == 0 && run.everything.isEmpty, "\(run.everything)")
    }

    private func object(_ run: Tool.Run) throws -> [String: String] {
        try #require(run.status == 0, "\(run.everything)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: String])
    }

    @Test(arguments: [
        "https://index.docker.io/v1/", "registry.example.com", "registry.example.com:5000", "http://h:5000/",
        "HTTPS://h",
        "https://h:080/", "https://user@h", "[::1]:5000", "https://h/ä b?c#d", "http://", ":", "h:99999",
    ])
    func address_ofAnyForm_comesBackAsItWas(_ url: String) throws {
        try store(url, "<token>", "s\n\"é")
        let expected = ["ServerURL": url, "Username": "<token>", "Secret": "s\n\"é"]
        #expect(try object(docker("get", url + "\n")) == expected)
        #expect(try object(docker("list")) == [url: "<token>"])
    }

    @Test func addresses_thatDifferInFormOnly_areTwo() throws {
        for url in ["h", "h/", "https://h", "https://h/", "http://h", "h:80"] { try store(url, url, url) }
        #expect(try object(docker("list")).count == 6)
        #expect(try object(docker("get", "https://h"))["Secret"] == "https://h")
    }

    @Test func addresses_thatDifferInCaseOfTheHost_areOne() throws {
        for (url, secret) in [("https://H.ex/v2", "one"), ("https://h.ex/v2", "two"), ("R.ex", "three")] {
            try store(url, "alice", secret)
        }
        #expect(try tool.listed().map { $0["server"] as? String } == ["h.ex", "r.ex"])
        let expected = ["ServerURL": "https://H.EX/v2", "Username": "alice", "Secret": "two"]
        #expect(try object(docker("get", "https://H.EX/v2")) == expected)
        #expect(try object(docker("get", "r.ex"))["Secret"] == "three")
        #expect(try docker("get", "https://h.ex/V2").status == 1)
    }

    @Test func address_isTakenApart() throws {
        try store("https://h:5000/v2")
        let item = try #require(try tool.listed().first)
        #expect(item["server"] as? String == "h" && item["port"] as? Int == 5000 && item["path"] as? String == "/v2")
    }

    @Test func store_ofAnotherUser_replacesTheFirst() throws {
        try store("h", "alice")
        try store("h", "bob", "other")
        #expect(try object(docker("get", "h")) == ["ServerURL": "h", "Username": "bob", "Secret": "other"])
        #expect(try tool.listed().count == 1)
    }

    @Test func list_showsNoOtherItems() throws {
        try tool.run("set", "--server", "https://h", "-a", "alice", input: secret)
        #expect(try object(docker("list")).isEmpty)
    }

    @Test func erase_removesTheItem() throws {
        try store("h")
        #expect(try docker("erase", "h\n").status == 0)
        #expect(try tool.listed().isEmpty)
    }

    private static let failures: [(String, String, String)] = [
        ("get", "h", "credentials not found in native keychain"),
        ("erase", "h", "credentials not found in native keychain"),
        ("get", " \n", "no credentials server URL"), ("erase", "", "no credentials server URL"),
        ("store", #"{"ServerURL":"","Username":"a","Secret":"b"}"#, "no credentials server URL"),
        ("store", #"{"ServerURL":"h","Username":"","Secret":"b"}"#, "no credentials username"),
        ("store", #"{"ServerURL":"h","Secret":"b"}"#, "no credentials username"),
    ]

    /// Clients compare these texts.
    @Test(arguments: failures)
    func error_isItsTextOnStandardOutput(_ action: String, _ input: String, _ text: String) throws {
        let run = try docker(action, input)
        #expect(run.status == 1 && run.text == text + "\n" && run.errors.isEmpty)
    }

    private static let wrongObjects: [String] = [
        "hunter2", "[]", #"{"Secret":"hunter2""#, #"{"ServerURL":1}"#, "\0", String(repeating: "[", count: 1 << 19),
        String(repeating: "[", count: 513),
    ]

    @Test(arguments: wrongObjects)
    func store_ofNoJSONObject_isAnErrorWithoutItsContent(_ input: String) throws {
        let run = try docker("store", input)
        #expect(run.status == 1 && !run.everything.contains("hunter2") && run.text.utf8.count < 200)
        #expect(try tool.listed().isEmpty)
    }

    @Test func input_thatIsEndless_isAnError() throws {
        let run = try tool.shell("tr '\\0' a < /dev/zero | \"$CTL\" docker-credential get")
        #expect(run.status == 1 && run.text.contains("longer"), "\(run.everything)")
    }

    @Test(arguments: ["", "frobnicate", "get get", "--help"])
    func arguments_thatAreWrong_areUsageOnStandardOutput(_ words: String) throws {
        let run = try tool.shell("ln -s \"$CTL\" docker-credential-keychain; ./docker-credential-keychain \(words)")
        #expect(run.status == 1 && run.text.hasPrefix("Usage: docker-credential-keychain"), "\(run.everything)")
    }

    @Test(arguments: ["version", "--version", "-v"])
    func version_hasThreeParts(_ word: String) throws {
        let run = try tool.shell("ln -s \"$CTL\" docker-credential-keychain; ./docker-credential-keychain \(word)")
        let parts = run.text.split(separator: " ")
        #expect(parts.count == 3 && parts.prefix(2) == ["docker-credential-keychain", "(swift-keychain)"])
    }

    @Test func lockedVault_isAnErrorOnStandardOutput() throws {
        let vault = try LockableTool()
        try vault.withKey(
            "docker-credential store", input: Data(#"{"ServerURL":"h","Username":"a","Secret":"b"}"#.utf8))
        let run = try vault.tool.run("docker-credential", "list")
        #expect(run.status == 1 && run.text.contains("locked"))
    }

    // MARK: - docker's client

    /// Without an engine, the client itself logs in.
    @Test(
        .enabled(
            if: Programs.installed("docker") != nil && Tool.hasPython, "docker's client or python3 is not installed"))
    func dockerLoginAndLogout_storeAndErase() throws {
        let run = try tool.shell(
            """
            export DOCKER_HOST=unix:///nonexistent PATH="$HOME/.local/bin:$PATH"
            cat > registry.py <<'end'
            \(Self.registry)
            end
            python3 registry.py > port 2> registry.log & registry=$!
            trap 'kill -9 $registry' EXIT
            until [ -s port ]; do kill -0 $registry || { cat registry.log >&2; exit 99; }; done
            at=127.0.0.1:$(cat port)
            "$CTL" helper install docker --yes || exit 98
            echo t0ken | docker login -u alice --password-stdin $at > login.log || exit 97
            grep -q '"auth"' .docker/config.json && exit 96
            echo $at | "$CTL" docker-credential get | tr -d '\\n' | grep -o '"Secret":"t0ken"'
            docker logout $at > logout.log; "$CTL" docker-credential list
            """)
        #expect(run.status == 0 && run.text == "\"Secret\":\"t0ken\"\n{}\n", "\(run.everything)")
    }

    private static let registry = """
        import base64, http.server
        want = "Basic " + base64.b64encode(b"alice:t0ken").decode()
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                isRight = self.headers.get("Authorization") == want
                self.send_response(200 if isRight else 401)
                if not isRight:
                    self.send_header("WWW-Authenticate", 'Basic realm="stub"')
                self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
                self.send_header("Content-Length", "0")
                self.end_headers()
            def log_message(self, *_):
                pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """
}
