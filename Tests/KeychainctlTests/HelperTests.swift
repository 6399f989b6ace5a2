// SPDX-License-Identifier: Apache-2.0
// helper install and remove: what they change in the configuration of git, docker and ssh.

import Foundation
import KeychainTestSupport
import Testing

@Suite("helper")
struct HelperTests {
    let tool: Tool

    init() throws { tool = try Tool() }

    func file(_ name: String) -> URL { tool.home.appendingPathComponent(name) }

    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: file(name)), as: UTF8.self)
    }

    @discardableResult
    func install(_ program: String) throws -> Tool.Run { try tool.run("helper", "install", program, "--yes") }

    @discardableResult
    func remove(_ program: String) throws -> Tool.Run { try tool.run("helper", "remove", program, "--yes") }

    /// The helper for git asks git for its configuration; the others need no program.
    private static func require(_ program: String) throws {
        if program == "git", !Tool.has(program) { try Test.cancel("git is not installed") }
    }

    @Test(arguments: ["git", "docker", "ssh"])
    func install_withoutConsent_showsTheChangeAndMakesNone(_ program: String) throws {
        try Self.require(program)
        let run = try tool.run("helper", "install", program)
        #expect(run.status == 64 && run.errors.contains("To be") && run.errors.contains("--yes"), "\(run.everything)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).isEmpty)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"), arguments: [("y\n", true), ("n\n", false)])
    func install_onATerminal_asks(_ answer: String, isMade: Bool) throws {
        let dialogue = try tool.dialogue("helper", "install", "ssh", steps: [("[y/N]", .type(answer))])
        #expect(dialogue.status == (isMade ? 0 : 6))
        #expect(FileManager.default.fileExists(atPath: file(".local/bin").path) == isMade)
    }

    @Test(arguments: ["git", "docker", "ssh"])
    func install_twice_changesNothingTheSecondTime(_ program: String) throws {
        try Self.require(program)
        try #require(try install(program).status == 0)
        let run = try install(program)
        #expect(run.status == 0 && run.errors.contains("nothing was changed"))
    }

    @Test(arguments: ["git", "docker", "ssh"])
    func remove_withoutAnInstallation_changesNothing(_ program: String) throws {
        try Self.require(program)
        let run = try remove(program)
        #expect(run.status == 0 && run.errors.contains("nothing was changed"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).isEmpty)
    }

    @Test func program_thatIsUnknown_isUsage() throws { #expect(try install("svn").status == 64) }

    // MARK: - docker

    private func setConfiguration(_ text: String) throws {
        try FileManager.default.createDirectory(at: file(".docker"), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file(".docker/config.json"))
    }

    @Test(arguments: [
        "{}", "{\"a\": [1, \"}\", {\"credsStore\": \"x\"}]}", "{\n\t\"b\": {\"c\": \"d,{\"},\n  \"a\": \"\\\"\"\n}\n",
        " { \"a\" : 1.0 } ",
    ])
    func docker_installAndRemove_leaveEveryOtherByte(_ before: String) throws {
        try setConfiguration(before)
        try #require(try install("docker").status == 0)
        let object =
            try JSONSerialization.jsonObject(with: Data(contentsOf: file(".docker/config.json"))) as? [String: Any]
        #expect(object?["credsStore"] as? String == "keychain")
        try #require(try remove("docker").status == 0)
        #expect(try text(".docker/config.json") == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: file(".local/bin").path).isEmpty)
    }

    private static let registries: [(String, String)] = [
        (#"{"credHelpers":{"r":"keychain","q":"other"},"a":1}"#, #"{"credHelpers":{"q":"other"},"a":1}"#),
        (#"{"credHelpers": {"r": "keychain", "s": "keychain"}}"#, #"{"credHelpers": {}}"#),
        (#"{"credHelpers":{"q":"x"},"credsStore":"keychain"}"#, #"{"credHelpers":{"q":"x"}}"#),
        (#"{"credHelpers":{"q":"other"}}"#, #"{"credHelpers":{"q":"other"}}"#),
        (#"{"credHelpers":["keychain"]}"#, #"{"credHelpers":["keychain"]}"#),
    ]

    /// Docker would fail for a registry whose helper is gone.
    @Test(arguments: registries)
    func docker_remove_removesTheRegistriesToo(_ before: String, after: String) throws {
        try setConfiguration(before)
        #expect(try remove("docker").status == 0)
        #expect(try text(".docker/config.json") == after)
    }

    private static let brokenFiles: [(String, Int32)] = [
        ("{\"a\":1", 8), ("[]", 8), ("{\"a\":1,}", 8), ("{\"a\":1} x", 8), ("{\"credsStore\":1}", 8), ("\u{FEFF}{}", 8),
        ("{\"credsStore\":\"keychain\",\"credsStore\":\"x\"}", 8),
        ("{\"a\":" + String(repeating: "[", count: 50_000), 8),
        ("{\"credsStore\":\"desktop\"}", 4), ("{\"CredsStore\":\"pass\"}", 8),
    ]

    @Test(arguments: brokenFiles)
    func docker_withAFileThatIsBrokenOrTaken_leavesIt(_ before: String, status: Int32) throws {
        try setConfiguration(before)
        #expect(try install("docker").status == status)
        #expect(try text(".docker/config.json") == before)
        #expect(!FileManager.default.fileExists(atPath: file(".local/bin").path))
    }

    /// Users turn a helper off by an empty name.
    @Test func docker_withAnEmptyNameOfAHelper_getsTheKeychain() throws {
        try setConfiguration(#"{"credsStore": "", "a": 1}"#)
        try #require(try install("docker").status == 0)
        #expect(try text(".docker/config.json") == "{\"a\": 1,\n\t\"credsStore\": \"keychain\"}")
    }

    /// They hold the passwords that the configuration holds. One of a process that is running stays.
    @Test func docker_install_removesWhatAKilledOneHasLeft() throws {
        try setConfiguration("{}")
        let running = "config.json.keychainctl-1"
        for name in ["config.json.keychainctl-2147483647", running] {
            try Data("{}".utf8).write(to: file(".docker/" + name))
        }
        try #require(try install("docker").status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: file(".docker").path)
        #expect(names.sorted() == ["config.json", running])
    }

    @Test func docker_withPasswordsInTheFile_namesTheirServers() throws {
        try setConfiguration(#"{"auths": {"h": {"auth": "YTpi"}, "empty": {}}}"#)
        let run = try install("docker")
        #expect(run.errors.contains("plain text") && run.errors.contains(": h") && !run.errors.contains("YTpi"))
    }

    @Test func docker_withEntriesOfOtherForms_namesTheServersOfTheRest() throws {
        try setConfiguration(#"{"auths": {"list": [], "h": {"auth": "YTpi"}, "number": {"auth": 1}}}"#)
        let run = try install("docker")
        #expect(run.errors.contains("use docker login again for: h\n"), "\(run.errors)")
    }

    @Test func docker_withALinkAsConfiguration_keepsTheLinkAndTheMode() throws {
        try setConfiguration("{}")
        let run = try tool.shell(
            """
            mv .docker/config.json real; chmod 640 real; ln -s ../real .docker/config.json
            "$CTL" helper install docker --yes 2> log; test -L .docker/config.json && stat -c %a real && grep -c keychain real
            """)
        #expect(run.text == "640\n1\n", "\(run.everything)")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func docker_withAFileOfAnotherUser_leavesItToItsOwner() throws {
        try setConfiguration("{}")
        let run = try tool.shell(
            """
            chown 64201:64202 .docker/config.json; chmod 600 .docker/config.json
            "$CTL" helper install docker --yes 2> log; stat -c '%u %g %a' .docker/config.json
            """)
        #expect(run.everything == "64201 64202 600\n")
    }

    @Test func relativePaths_inTheEnvironment_areNotUsed() throws {
        let run = try tool.shell(
            """
            mkdir here; cd here; export XDG_CONFIG_HOME=config
            for command in "helper install ssh --yes" "sync install-unit"; do "$CTL" $command 2>> ../log; done
            HOME=home "$CTL" helper install docker --yes 2>> ../log; ls -A; find ../.config -name '*keychain*.*'
            """)
        let made = ["environment.d/60-keychain-askpass.conf", "systemd/user/swift-keychain-sync.service"]
        #expect(Swift.Set(run.everything.split(separator: "\n")) == Swift.Set(made.map { "../.config/\($0)"[...] }))
    }

    @Test func folderOfTheLink_whateverTheUmask_isChangedByNobodyElse() throws {
        let run = try tool.shell(
            "umask 0; \"$CTL\" helper install docker --yes 2> log; stat -c %a .local .local/bin")
        #expect(run.everything == "700\n700\n")
    }

    @Test func docker_withAnotherFileInPlaceOfTheLink_leavesIt() throws {
        try FileManager.default.createDirectory(at: file(".local/bin"), withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: file(".local/bin/docker-credential-keychain"))
        #expect(try install("docker").status == 4)
        #expect(try text(".local/bin/docker-credential-keychain") == "mine")
        #expect(!FileManager.default.fileExists(atPath: file(".docker").path))
    }
}
