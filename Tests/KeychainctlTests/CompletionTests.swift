// SPDX-License-Identifier: Apache-2.0
// What a shell completes: words of options, and names from the vault.

import Foundation
import Testing

@Suite("completion")
struct CompletionTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// The names that the shell is given for the last option of a command.
    private func names(_ option: String, after words: String...) throws -> [String] {
        let command = ["keychainctl", "get"] + words + [option, ""]
        let run = try tool.shell(
            "\"$CTL\" ---completion get -- \(option) \(command.count - 1) 0 "
                + command.map { "'\($0)'" }.joined(separator: " "))
        #expect(run.errors.isEmpty)
        return run.text.split(separator: "\n").map(String.init)
    }

    @Test func service_isCompletedFromTheVault() throws {
        try tool.store(service: "one", account: "a")
        try tool.store(service: "two words", account: "a")
        #expect(try names("--service") == ["one", "two words"])
    }

    @Test func server_isCompletedFromTheVault() throws {
        try tool.run("set", "--server", "h", "-a", "a", input: secret)
        #expect(try names("--server") == ["h"])
    }

    @Test(arguments: [["-s", "one"], ["--service", "one"], ["--service=one"]])
    func account_afterAService_isCompletedFromItsItems(words: [String]) throws {
        try tool.store(service: "one", account: "a")
        try tool.store(service: "two", account: "b")
        let found =
            words.count == 1
            ? try names("--account", after: words[0]) : try names("--account", after: words[0], words[1])
        #expect(found == ["a"])
    }

    @Test(arguments: [("h.ex", ["a", "b"]), ("H.ex", ["a", "b", "c"]), ("h.ex:8443", ["b"])])
    func account_afterAServer_isCompletedFromItsItems(server: String, accounts: [String]) throws {
        try tool.run("set", "--server", "h.ex", "-a", "a", input: secret)
        try tool.run("set", "--server", "h.ex:8443", "-a", "b", input: secret)
        try tool.run("set", "--server", "other", "-a", "d", input: secret)
        try tool.run("security", "add-internet-password", "-s", "H.ex", "-a", "c", "-w", "x")
        #expect(try names("--account", after: "--server", server) == accounts)
    }

    @Test func account_withoutAService_isCompletedFromAll() throws {
        try tool.store(service: "one", account: "a")
        try tool.run("set", "--server", "h", "-a", "b", input: secret)
        #expect(try names("--account") == ["a", "b"])
    }

    @Test func name_withControlCharacters_isLeftOut() throws {
        try tool.store(service: "a\nb", account: "a")
        #expect(try names("--service").isEmpty)
    }

    /// What bash puts into the command line for a name, and what it then gives to the command.
    private func completedByBash(_ option: String) throws -> Tool.Run {
        try tool.shell(
            """
            bash -c '
            PATH="${CTL%/*}:$PATH"
            source <(keychainctl --generate-completion-script bash)
            COMP_WORDS=(keychainctl get \(option) "") COMP_CWORD=3 COMP_LINE="keychainctl get \(option) "
            COMP_POINT=${#COMP_LINE}
            _keychainctl keychainctl "" \(option)
            eval "printf %s ${COMPREPLY[0]}"'
            """)
    }

    @Test(arguments: [
        "$(touch ran)", "`touch ran`", "a; touch ran; b", "two words", "'", "\"$HOME\"", "~", "#a", "\\", "!!", "{a,b}",
        "*", "pässword", "a@b.example:8443/c",
    ])
    func name_thatBashWouldInterpret_isCompletedAsItIsAndRunsNothing(name: String) throws {
        try tool.store(service: name, account: name)
        for option in ["-s", "-a"] {
            let run = try completedByBash(option)
            #expect(run.everything == name)
        }
        #expect(!FileManager.default.fileExists(atPath: tool.home.appendingPathComponent("ran").path))
    }

    @Test func lockedVault_completesNothingAndAsksNobody() throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.tool.shell("\"$CTL\" ---completion get -- --service 2 0 keychainctl get --service ''")
        #expect(run.everything == "\n")
    }

    @Test func clearText_ofAnExport_isCompletedToItsForms() throws {
        let run = try tool.shell(
            """
            touch file; bash -c '
            source <("$CTL" --generate-completion-script bash)
            COMP_WORDS=(keychainctl export --clear-text "") COMP_CWORD=3 COMP_LINE="keychainctl export --clear-text "
            COMP_POINT=${#COMP_LINE}
            _keychainctl keychainctl "" --clear-text
            printf "%s " "${COMPREPLY[@]}"'
            """)
        #expect(run.everything == "json csv ")
    }

    @Test(arguments: [
        "passphrase", "recovery-key", "after-first-unlock", "https", "swift-keychain" /* of no file */, "file",
    ])
    func script_forBash_hasTheWordsOfOptions(word: String) throws {
        let script = try tool.run("--generate-completion-script", "bash").text
        #expect(script.contains(word) == (word != "swift-keychain"))
    }
}
