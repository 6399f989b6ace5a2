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

    @Test(arguments: [
        ["get", "-s", "example.com", "-a", "alice"], ["get", "-a", "alice", "-s", "example.com"],
        ["get", "--service", "example.com", "--account", "a b=c"], ["get", "--account", "é", "--service", "s"],
        ["get", "-s", "\u{301}-x", "--account", "alice"],
    ])
    func getOfServiceAndAccount_isReadAsByTheRoot(_ words: [String]) throws {
        let properties = Self.properties(of: try #require(PlainGet.command(words)))
        #expect(properties == Self.properties(of: try Keychainctl.parseAsRoot(words)))
        #expect(properties.count > 20 && !properties.contains { $0.hasSuffix("has no value") })
    }

    @Test(arguments: [
        [], ["get"], ["get", "-s", "example.com"], ["get", "-s", "example.com", "-a", ""],
        ["get", "-s", "-a", "-a", "alice"], ["get", "-s", "example.com", "-a", "--help"],
        ["get", "-s", "example.com", "-s", "alice"], ["get", "-s", "example.com", "--account=x"],
        ["get", "--server", "example.com", "-a", "alice"], ["get", "-s", "example.com", "--label", "x"],
        ["set", "-s", "example.com", "-a", "alice"], ["get", "-s", "example.com", "-a", "alice", "--help"],
        ["get", "-s", "x", "-a", "y", "-a", "z"], ["get", "--", "-s", "x", "-a", "y"], ["get", "-s", "x", "-a", "--"],
        ["get", "--serv", "x", "-a", "y"], ["get", "--service=x", "-a", "y", "--version"],
    ])
    func wordsOfAnotherForm_areLeftToTheParser(_ words: [String]) {
        #expect(PlainGet.command(words) == nil)
    }

    private static let options = [
        "-s", "--service", "-a", "--account", "-S", "--serv", "--acc", "-sx", "-s=x", "--service=x", "--account=",
        "--server", "--label", "--history", "--port", "--path", "--protocol", "--access-group", "--security-domain",
        "--synchronizable", "--no-synchronizable", "--passphrase-fd", "--tpm2", "--recovery-key", "-h", "--help",
        "--version", "--", "-", "", "x",
    ]
    private static let values = [
        "x", "a b=c", "=", "é", "\u{301}-x", "-\u{301}x", "@x", "get", "help", "1", "-", "", "--", "-x", "-s", "--help",
        "--account=x", "--version",
    ]

    /// Also what is added to `get` later: then it has to be left to the parser, or to be read by both.
    @Test func anyLine_isReadAsByTheRoot_orLeftToTheParser() throws {
        var count = 0
        for (first, second) in Self.options.flatMap({ first in Self.options.map { (first, $0) } }) {
            for value in Self.values {
                for words in [["get", first, value, second, "y"], ["get", first, "y", second, value]] {
                    guard let plain = PlainGet.command(words) else { continue }
                    count += 1
                    let parsed = try Keychainctl.parseAsRoot(words)
                    #expect(Self.properties(of: plain) == Self.properties(of: parsed), "\(words)")
                }
            }
        }
        #expect(count >= 100)
    }

    /// Each property of a command and of its groups of options, with what the parser's wrapper of it has. To read it by its name would
    /// end the program if it had no value.
    private static func properties(of options: any ParsableArguments, _ path: String = "") -> [String] {
        Mirror(reflecting: options).children.flatMap { child in
            let name = path + "." + (child.label ?? "")
            let parts = Mirror(reflecting: child.value).children
            guard let parsed = parts.first(where: { $0.label == "_parsedValue" })?.value else {
                return ["\(name) = \(child.value)"]
            }
            let content = Mirror(reflecting: parsed).children.first
            guard content?.label == "value", let value = content?.value else { return ["\(name) has no value"] }
            if let group = value as? any ParsableArguments { return properties(of: group, name) }
            return ["\(name) = \(value)"]
        }
    }

    private static func text(_ command: any ParsableCommand) -> String {
        var text = ""
        dump(command, to: &text)
        return text
    }
}
