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

    /// In a repository whose own configuration drops the helpers of the user.
    @Test func installGit_whereTheHelpersAreReset_saysSo() throws {
        let run = try tool.shell(
            """
            git init -q repository && cd repository || exit 99
            "$CTL" helper install git --yes 2> first; "$CTL" helper install git --yes 2> second
            git config credential.helper ''; git config --add credential.helper store
            "$CTL" helper install git --yes 2> third
            cat first second third >&2; ! grep Warning first second > found && grep -q Warning third
            """)
        #expect(run.status == 0, "\(run.everything)")
        #expect(run.errors.contains("git already uses the keychain") && run.errors.contains("--show-origin"))
        #expect(run.errors.contains("Your global git configuration already names the keychain"))
    }

    @Test(arguments: ["git", "docker", "ssh"])
    func install_withoutConsent_showsTheChangeAndMakesNone(_ program: String) throws {
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
        try #require(try install(program).status == 0)
        let run = try install(program)
        #expect(run.status == 0 && run.errors.contains("nothing was changed"))
    }

    @Test(arguments: ["git", "docker", "ssh"])
    func remove_withoutAnInstallation_changesNothing(_ program: String) throws {
        let run = try remove(program)
        #expect(run.status == 0 && run.errors.contains("nothing was changed"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home.path).isEmpty)
    }

    @Test func program_thatIsUnknown_isUsage() throws { #expect(try install("svn").status == 64) }

    // MARK: - git

    private static let hasGit = Programs.installed("git") != nil

    @Test(.enabled(if: hasGit, "git is not installed"))
    func git_installAndRemove_leaveOtherHelpers() throws {
        let before = "[credential]\n\thelper = cache\n\thelper = store --file x\n"
        try Data(before.utf8).write(to: file(".gitconfig"))
        let run = try install("git")
        #expect(run.errors.contains("git also gives each password to: cache, store --file x"))
        #expect(try text(".gitconfig") == before + "\thelper = \(Tool.executable) git-credential\n")
        try remove("git")
        #expect(try text(".gitconfig") == before)
    }

    @Test(.enabled(if: hasGit, "git is not installed"))
    func git_afterTheProgramMoved_hasOneHelper() throws {
        try Data("[credential]\n\thelper = /old/bin/keychainctl git-credential\n".utf8).write(to: file(".gitconfig"))
        try install("git")
        #expect(try text(".gitconfig") == "[credential]\n\thelper = \(Tool.executable) git-credential\n")
    }

    @Test(.enabled(if: hasGit, "git is not installed"))
    func git_withABrokenConfiguration_isAnErrorAndLeft() throws {
        try Data("[credential\n".utf8).write(to: file(".gitconfig"))
        #expect(try install("git").status == 17)
        #expect(try text(".gitconfig") == "[credential\n")
    }

    @Test(.enabled(if: hasGit, "git is not installed"))
    func git_withAProgramInAFolderWithSpaces_runsIt() throws {
        let run = try tool.shell(
            """
            mkdir "it's here"; cp "$CTL" "it's here/keychainctl"; "it's here/keychainctl" helper install git --yes 2> log
            printf secret | "$CTL" set --server https://h -a alice
            printf 'protocol=https\\nhost=h\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill | tail -n 1
            """)
        #expect(run.text == "password=secret\n", "\(run.everything)")
    }

    /// git would wait for the FIFO, and put a file in the place of a device.
    @Test(
        .enabled(if: hasGit, "git is not installed"),
        arguments: [
            "GIT_CONFIG_GLOBAL=\"$HOME/pipe\"", "GIT_CONFIG_GLOBAL=link", "HOME=\"$HOME/other\"",
            "XDG_CONFIG_HOME=\"$HOME/x\"",
        ])
    func git_withAConfigurationThatIsNotAFile_isNotRun(variable: String) throws {
        let run = try tool.shell(
            """
            mkfifo pipe; ln -s pipe link; mkdir -p other x/git; mkfifo other/.gitconfig x/git/config
            for verb in install remove; do
                \(variable) timeout 60 "$CTL" helper $verb git --yes 2> log; echo $?; grep -c 'is not a file' log
            done
            test -p pipe && test -p other/.gitconfig && test -p x/git/config; echo $?
            """)
        #expect(run.text == "15\n1\n15\n1\n0\n", "\(run.everything)")
    }

    @Test func git_thatIsMissing_isUnavailable() throws {
        var environment = tool.environment
        environment["PATH"] = "/nonexistent"
        #expect(try tool.run("helper", "install", "git", "--yes", environment: environment).status == 13)
    }

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

    @Test func docker_withPasswordsInTheFile_namesTheirServers() throws {
        try setConfiguration(#"{"auths": {"h": {"auth": "YTpi"}, "empty": {}}}"#)
        let run = try install("docker")
        #expect(run.errors.contains("plain text") && run.errors.contains(": h") && !run.errors.contains("YTpi"))
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
