// SPDX-License-Identifier: Apache-2.0
// Commands that are parsed without the root of all commands.

import ArgumentParser
import Testing

@testable import keychainctl

struct DirectParsingTests {
    @Test(arguments: [
        ["get", "-s", "example.com", "-a", "alice"], ["get", "--server", "example.com", "--label=x", "--port", "8080"],
        ["set", "-s", "example.com", "-a", "alice", "--label", "get"], ["list"],
        ["list", "-s", "example.com", "--json"],
        ["delete", "-s", "example.com", "--all"],
    ])
    func command_thatScriptsCall_isParsedAsByTheRoot(_ words: [String]) throws {
        let direct = try #require(Keychainctl.parsedDirectly(words))
        #expect(Self.text(direct) == Self.text(try Keychainctl.parseAsRoot(words)))
    }

    @Test(arguments: [
        [], ["--version"], ["help", "get"], ["status"], ["get"], ["get", "--help"], ["get", "-h"],
        ["get", "--version"],
        ["get", "-s", "example.com", "stray"], ["get", "-s", "example.com", "--generate-completion-script"],
        ["list", "--generate-completion-script", "bash"], ["delete", "-s", "example.com"],
        ["--", "get", "-s", "example.com"],
        ["list", "--experimental-dump-help"],
    ])
    func words_thatTheRootAnswers_areNotParsedDirectly(_ words: [String]) {
        #expect(Keychainctl.parsedDirectly(words) == nil)
    }

    private static func text(_ command: any ParsableCommand) -> String {
        var text = ""
        dump(command, to: &text)
        return text
    }
}
