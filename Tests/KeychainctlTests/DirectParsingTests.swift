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
        let plain = try #require(PlainGet.command(words))
        #expect(Self.values(plain) == Self.values(try #require(try Keychainctl.parseAsRoot(words) as? Keychainctl.Get)))
    }

    @Test(arguments: [
        [], ["get"], ["get", "-s", "example.com"], ["get", "-s", "example.com", "-a", ""],
        ["get", "-s", "-a", "-a", "alice"], ["get", "-s", "example.com", "-a", "--help"],
        ["get", "-s", "example.com", "-s", "alice"], ["get", "-s", "example.com", "--account=x"],
        ["get", "--server", "example.com", "-a", "alice"], ["get", "-s", "example.com", "--label", "x"],
        ["set", "-s", "example.com", "-a", "alice"], ["get", "-s", "example.com", "-a", "alice", "--help"],
    ])
    func wordsOfAnotherForm_areLeftToTheParser(_ words: [String]) {
        #expect(PlainGet.command(words) == nil)
    }

    /// Each option by itself: one that has no value would end the program.
    private static func values(_ get: Keychainctl.Get) -> [String] {
        let (item, unlock) = (get.item, get.unlock)
        let texts = [
            item.service, item.server, item.account, item.protocolCode.map { "\($0)" }, item.port.map { "\($0)" },
            item.path, item.securityDomain, item.accessGroup, item.synchronizable.map { "\($0)" }, unlock.passphraseFd,
            unlock.recoveryKeyFd, unlock.keyFile, unlock.keyFd, unlock.pinFd, get.label, get.history.map { "\($0)" },
        ]
        let flags = [unlock.recoveryKey, unlock.credential, unlock.tpm2]
        return texts.map { $0 ?? "none" } + flags.map { "\($0)" } + get.stray.words
    }

    private static func text(_ command: any ParsableCommand) -> String {
        var text = ""
        dump(command, to: &text)
        return text
    }
}
