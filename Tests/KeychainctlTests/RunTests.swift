// SPDX-License-Identifier: Apache-2.0
// `run`: what the command gets, and that it does not start otherwise.

import Foundation
import KeychainTestSupport
import Testing

@Suite("run")
struct RunTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.store()
        try tool.store(
            Data(
                #"{"user":"bob","db":{"port":5432,"on":true,"none":null,"hosts":["one","two"],"big":18446744073709551615}}"#
                    .utf8),
            service: "json", account: "a")
    }

    @Test func variable_ofAReference_hasTheValue() throws {
        let run = try tool.run("run", "--env", "X=keychain://example.com/alice", "--", "printenv", "X")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.text == "correct horse\n")
    }

    @Test func variable_thatExistsWithAReference_hasTheValue() throws {
        let run = try tool.shell("X=keychain://example.com/alice \"$CTL\" run -- printenv X")
        #expect(run.text == "correct horse\n")
    }

    @Test func variable_withAReferenceInOtherText_isNotChanged() throws {
        let run = try tool.shell("X='see keychain://example.com/alice' \"$CTL\" run -- printenv X")
        #expect(run.text == "see keychain://example.com/alice\n")
    }

    @Test func variable_ofAFile_isSet() throws {
        let file = "# comment\n\nexport A=keychain://example.com/alice\r\nB = 'two words'\nC=\"\"\n"
        let run = try tool.shell(
            "cat > f; \"$CTL\" run --env-file f -- sh -c 'echo \"$A|$B|${C-unset}\"'", input: Data(file.utf8))
        #expect(run.text == "correct horse|two words|\n", "\(run.errors)")
    }

    @Test(arguments: ["A", "A-B=c", "=x", "export =x", "A=\0", "1A=x"])
    func file_withALineThatIsNone_isRefusedWithItsNumber(line: String) throws {
        let run = try tool.shell(
            "cat > f; \"$CTL\" run --env-file f -- echo started", input: Data(("X=hunter2\n" + line).utf8))
        #expect(run.status == 64)
        #expect(run.errors.contains("Line 2"))
        #expect(!run.everything.contains("hunter2") && !run.text.contains("started"))
    }

    @Test func file_withoutEnd_isTooLarge() throws {
        #expect(try tool.shell("\"$CTL\" run --env-file /dev/zero -- true").status == 18)
    }

    @Test(arguments: [
        ("user", "bob"), ("db/port", "5432"), ("db/on", "true"), ("db/hosts/1", "two"),
        ("db/big", "18446744073709551615"),
        ("%75ser", "bob"),
    ])
    func field_ofJSON_hasItsText(field: String, text: String) throws {
        let run = try tool.run("run", "--env", "X=keychain://json/a#\(field)", "--", "printenv", "X")
        #expect(run.text == text + "\n", "\(run.errors)")
    }

    @Test(arguments: ["12345678901234567890123456789", "0.1234567890123456789012345"])
    func number_thatADecoderWouldRound_isAnErrorAndStartsNothing(number: String) throws {
        try tool.store(Data("{\"a\": \(number)}".utf8), service: "n", account: "a")
        let run = try tool.run("run", "--env", "X=keychain://n/a#a", "--", "printenv", "X")
        #expect(run.status == 1 && run.output.isEmpty, "\(run.everything)")
    }

    @Test(arguments: [("1.0", "1"), ("1e2", "100"), ("-7", "-7")])
    func number_withoutAFraction_hasItsDigits(number: String, text: String) throws {
        try tool.store(Data("{\"a\": \(number)}".utf8), service: "n", account: "a")
        #expect(try tool.run("run", "--env", "X=keychain://n/a#a", "--", "printenv", "X").text == text + "\n")
    }

    @Test(arguments: [("nobody", 3), ("db/none", 1), ("db", 1), ("db/hosts/2", 3), ("db/hosts/-1", 3), ("user/x", 3)])
    func field_thatIsNoText_isAnErrorAndStartsNothing(field: String, status: Int32) throws {
        let run = try tool.run("run", "--env", "X=keychain://json/a#\(field)", "--", "echo", "started")
        #expect(run.status == status, "\(run.errors)")
        #expect(run.output.isEmpty)
    }

    @Test(arguments: ["plain", String(repeating: "[", count: 100_000), "{\"a\":1"])
    func field_ofAValueThatIsNotJSON_isAnError(value: String) throws {
        try tool.store(Data(value.utf8), service: "s", account: "a")
        let run = try tool.run("run", "--env", "X=keychain://s/a#a", "--", "true")
        #expect(run.status == 1)
        #expect(run.errors.contains("JSON"))
    }

    @Test(arguments: [
        ("a/b", "c?#%d", "keychain://a%2Fb/c%3F%23%25d"), ("two words", "ü", "keychain://two words/%C3%BC"),
        ("", "", "keychain:///"),
    ])
    func names_withSpecialCharacters_arePercentEncoded(service: String, account: String, reference: String) throws {
        try tool.store(service: service, account: account)
        let run = try tool.run("run", "--env", "X=\(reference)", "--", "printenv", "X")
        #expect(run.text == "correct horse\n", "\(run.errors)")
    }

    @Test(arguments: [
        "keychain://", "keychain://s", "keychain://s/a/b", "keychain://s/a?b", "keychain://s/a#", "keychain://s/%",
        "keychain://s/%f", "keychain://s/%FF", "keychain+server:///a", "keychain+server://h:0/a",
        "keychain+server://h:65536/a", "keychain+server://h:/a", "keychain+server://[::1/a", "keychain://s/a\tb",
    ])
    func reference_thatIsNone_isUsageAndStartsNothing(reference: String) throws {
        var environment = tool.environment
        environment["X"] = reference
        let run = try tool.run("run", "--", "echo", "started", environment: environment)
        #expect(run.status == 64, "\(run.errors)")
        #expect(run.errors.contains("variable X"))
        #expect(run.output.isEmpty)
    }

    @Test func reference_toNothing_startsNothingAndNamesTheVariableOnly() throws {
        let run = try tool.run("run", "--env", "X=keychain://missing.example/alice", "--", "echo", "started")
        #expect(run.status == 3)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("variable X") && !run.errors.contains("missing.example"))
    }

    @Test func reference_toSeveralItems_isAmbiguousAndShowsNone() throws {
        try tool.store(otherSecret, account: "alice", "--access-group", "other")
        let run = try tool.run("run", "--env", "X=keychain://example.com/alice", "--", "echo", "started")
        #expect(run.status == 4)
        #expect(!run.everything.contains("battery") && !run.everything.contains("started"))
    }

    @Test(arguments: [
        ("https://h:8443/", "keychain+server://h:8443/a"), ("https://h:8443/", "keychain+server://h/a"),
        ("https://[::1]:80/", "keychain+server://[::1]:80/a"), ("h", "keychain+server://h/a"),
    ])
    func reference_toAServer_hasTheInternetPassword(server: String, reference: String) throws {
        try tool.run("set", "--server", server, "-a", "a", input: secret)
        let run = try tool.run("run", "--env", "X=\(reference)", "--", "printenv", "X")
        #expect(run.text == "correct horse\n", "\(run.errors)")
    }

    @Test func value_withANUL_cannotBeAVariable() throws {
        try tool.store(Data([1, 0, 2]), service: "s", account: "a")
        let run = try tool.run("run", "--env", "X=keychain://s/a", "--", "echo", "started")
        #expect(run.status == 64)
        #expect(run.errors.contains("NUL") && run.output.isEmpty)
    }

    // MARK: - The command

    @Test(arguments: [("exit 0", 0), ("exit 42", 42), ("kill -KILL $$", 128 + 9), ("kill -TERM $$", 128 + 15)])
    func command_thatEnds_givesItsOwnExitCode(script: String, status: Int32) throws {
        #expect(try tool.run("run", "--", "sh", "-c", script).status == status)
    }

    @Test func command_replacesTheTool() throws {
        let run = try tool.shell(
            "sh -c 'echo $$; exec \"$CTL\" run --env X=keychain://example.com/alice -- sh -c \"echo \\$\\$\"'")
        let numbers = run.text.split(separator: "\n")
        #expect(numbers.count == 2 && numbers[0] == numbers[1], "\(run.everything)")
    }

    @Test(arguments: [("/nowhere/command", 127), ("no-such-command-anywhere", 127), ("/etc/passwd", 126), ("''", 127)])
    func command_thatCannotStart_hasTheExitCodeOfPOSIX(command: String, status: Int32) throws {
        let run = try tool.shell("\"$CTL\" run --env X=keychain://example.com/alice -- \(command)")
        #expect(run.status == status)
        #expect(run.errors.contains("could not be started"))
    }

    /// Who becomes another user often keeps the PATH of the first one.
    @Test(.enabled(if: geteuid() != 0, "root may search every folder"))
    func command_thatIsNowhere_behindAFolderThatMayNotBeSearched_isNotFound() throws {
        let run = try tool.shell(
            """
            mkdir -m 0 closed
            PATH="$PWD/closed:$PATH" "$CTL" run -- no-such-command-anywhere
            code=$?; rmdir closed; exit $code
            """)
        #expect(run.status == 127 && run.errors.contains("No such file"), "\(run.errors)")
    }

    @Test func command_thatIsAScriptWithoutAFirstLine_runsInTheShell() throws {
        let run = try tool.shell("printf 'echo $1' > s; chmod +x s; \"$CTL\" run -- ./s one")
        #expect(run.text == "one\n", "\(run.errors)")
    }

    @Test func command_withBytesThatAreNoText_getsThemUnchanged() throws {
        let run = try tool.shell("\"$CTL\" run -- printf %s \"$(printf 'a\\377b')\"")
        #expect(run.output == Data([0x61, 0xFF, 0x62]), "\(run.errors)")
    }

    @Test func command_inAFolderOfThePathThatIsNotUTF8_isFoundThere() throws {
        let run = try tool.shell(
            """
            first=$HOME/$(printf 'b\\377'); mkdir "$first" second; echo 'echo first' > "$first/c"; echo 'echo second' > second/c
            chmod 700 "$first/c" second/c; PATH="$first:$HOME/second:$PATH" "$CTL" run -- c
            """)
        #expect(run.text == "first\n", "\(run.errors)")
    }

    @Test func environment_withBytesThatAreNoText_isPassedOnUnchanged() throws {
        let run = try tool.shell("X=\"$(printf 'a\\377b')\" \"$CTL\" run -- printenv X")
        #expect(run.output == Data([0x61, 0xFF, 0x62, 0x0A]), "\(run.errors)")
    }

    @Test func command_getsDescriptorsOfTheCallerAndNoOthers() throws {
        let run = try tool.shell(
            """
            exec 7< /dev/null
            list() { "$@" sh -c 'ls /proc/$$/fd'; }
            list env > without
            list "$CTL" run --env X=keychain://example.com/alice -- > with
            grep -x 7 with && diff without with
            """)
        #expect(run.status == 0, "\(run.everything)")
    }

    @Test func command_doesNotGetTheDescriptorOfASecret() throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.withKey("run --env X=keychain://example.com/alice -- sh -c 'cat <&3'")
        #expect(run.status != 0)
        #expect(run.output.isEmpty)
    }

    @Test func command_afterASecretOnStandardInput_getsNoneOfIt() throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.tool.shell(
            "\"$CTL\" run --recovery-key-fd 0 --env X=keychain://example.com/alice -- readlink /proc/self/fd/0 < paper")
        #expect(run.text == "/dev/null\n", "\(run.everything)")
    }

    @Test(arguments: ["SigIgn", "SigBlk", "SigCgt"])
    func command_hasTheSignalsOfTheCaller(line: String) throws {
        let run = try tool.shell(
            "grep \(line) /proc/self/status; \"$CTL\" run --env X=keychain://example.com/alice -- grep \(line) /proc/self/status"
        )
        let lines = run.text.split(separator: "\n")
        #expect(lines.count == 2 && lines[0] == lines[1], "\(run.everything)")
    }

    @Test func signal_thatTheCallerIgnores_staysIgnored() throws {
        let run = try tool.shell(
            "trap '' HUP PIPE XFSZ QUIT; grep SigIgn /proc/self/status; \"$CTL\" run -- grep SigIgn /proc/self/status")
        let lines = run.text.split(separator: "\n")
        #expect(lines.count == 2 && lines[0] == lines[1], "\(run.everything)")
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed"))
    func command_startedWithSIGCHLDIgnored_stillIgnoresIt() throws {
        let run = try tool.shellIgnoringSIGCHLD("run -- grep SigIgn /proc/self/status")
        let ignored = try #require(run.text.split(separator: "\t").last.flatMap { UInt64($0.dropLast(), radix: 16) })
        #expect(ignored & 1 << UInt64(SIGCHLD - 1) != 0, "\(run.everything)")
    }

    @Test func command_hasTheLimitsOfTheCaller() throws {
        let run = try tool.shell(
            "cat /proc/self/limits; echo ---; \"$CTL\" run --env X=keychain://example.com/alice -- cat /proc/self/limits"
        )
        let halves = run.text.split(separator: "---\n")
        #expect(halves.count == 2 && halves[0] == halves[1])
    }

    @Test func vault_thatIsLocked_startsNothing() throws {
        let vault = try LockableTool()
        try vault.store()
        let run = try vault.tool.run("run", "--env", "X=keychain://example.com/alice", "--", "echo", "started")
        #expect(run.status == 5)
        #expect(run.output.isEmpty)
    }

    @Test func command_withoutReferences_needsNoVault() throws {
        let other = try Tool()
        #expect(try other.run("run", "--", "echo", "started").text == "started\n")
        #expect(!FileManager.default.fileExists(atPath: other.vaultFolder.path))
    }

    // MARK: - SwiftPM

    @Test func swiftPM_getsThePasswordsOfHTTPSServersAndTheToken() throws {
        try tool.run("set", "--server", "https://git.example.com", "-a", "bob", input: Data("pass # word".utf8))
        try tool.run("set", "--server", "https://packages.example.com", "-a", "token", input: Data("t0ken".utf8))
        try tool.run("set", "--server", "http://plain.example.com", "-a", "eve", input: Data("x".utf8))
        let run = try tool.shell(
            "\"$CTL\" run --swiftpm -- sh -c 'echo \"$SWIFTPM_NETRC_DATA$SWIFTPM_REGISTRY_TOKEN\"'")
        #expect(
            run.text == """
                machine "git.example.com" login "bob" password "pass # word"
                machine "packages.example.com" login "token" password "t0ken"
                t0ken

                """, "\(run.everything)")
    }

    @Test func swiftPM_withoutPasswords_startsNothing() throws {
        let run = try tool.run("run", "--swiftpm", "--", "echo", "started")
        #expect(run.status == 3)
        #expect(run.output.isEmpty)
    }

    @Test func swiftPM_withAPasswordThatNetrcCannotContain_leavesItOutAndSaysSo() throws {
        try tool.run("set", "--server", "https://h", "-a", "a", input: Data("hunt\"er2".utf8))
        let run = try tool.shell("\"$CTL\" run --swiftpm -- sh -c 'echo \"<$SWIFTPM_NETRC_DATA>\"'")
        #expect(run.text == "<>\n")
        #expect(run.errors.contains("'h'") && !run.errors.contains("hunt"))
    }

    @Test func swiftPM_getsNoPasswordOfAnotherPortOrOfDocker() throws {
        try tool.run("set", "--server", "https://h:8443", "-a", "ops", input: Data("port".utf8))
        try tool.run(
            "docker-credential", "store",
            input: Data(#"{"ServerURL": "https://h/v2", "Username": "a", "Secret": "registry"}"#.utf8))
        try tool.run("set", "--server", "https://h", "-a", "own", input: Data("own word".utf8))
        let run = try tool.shell("\"$CTL\" run --swiftpm -- printenv SWIFTPM_NETRC_DATA")
        #expect(run.text == "machine \"h\" login \"own\" password \"own word\"\n\n", "\(run.everything)")
    }

    @Test(arguments: [("https://h:8443", "'h:8443' was left out"), ("https://Default", "'default' was left out")])
    func swiftPM_withAServerThatNetrcCannotName_leavesItOutAndSaysSo(server: String, note: String) throws {
        try tool.run("set", "--server", server, "-a", "a", input: Data("pw".utf8))
        let run = try tool.shell("\"$CTL\" run --swiftpm -- sh -c 'echo \"<$SWIFTPM_NETRC_DATA>\"'")
        #expect(run.text == "<>\n" && run.errors.contains(note), "\(run.everything)")
    }

    @Test(arguments: [[], ["--registry", "one:8443"], ["--registry", "ONE:8443"]])
    func swiftPM_withATokenOfAServerWithAPort_getsIt(options: [String]) throws {
        try tool.run("set", "--server", "https://one:8443", "-a", "token", input: Data("1".utf8))
        let words = options.joined(separator: " ")
        let run = try tool.shell("\"$CTL\" run --swiftpm \(words) -- printenv SWIFTPM_REGISTRY_TOKEN")
        #expect(run.text == "1\n" && run.errors.isEmpty, "\(run.everything)")
    }

    @Test func swiftPM_withATokenOfAnotherPort_startsNothing() throws {
        try tool.run("set", "--server", "https://one:8443", "-a", "token", input: Data("1".utf8))
        #expect(try tool.run("run", "--swiftpm", "--registry", "one", "--", "true").status == 3)
    }

    @Test func swiftPM_withSeveralTokens_asksForTheRegistry() throws {
        try tool.run("set", "--server", "https://one", "-a", "token", input: Data("1".utf8))
        try tool.run("set", "--server", "https://two", "-a", "token", input: Data("2".utf8))
        #expect(try tool.run("run", "--swiftpm", "--", "true").status == 4)
        let run = try tool.run("run", "--swiftpm", "--registry", "two", "--", "printenv", "SWIFTPM_REGISTRY_TOKEN")
        #expect(run.text == "2\n", "\(run.errors)")
    }
}
