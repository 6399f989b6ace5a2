// SPDX-License-Identifier: Apache-2.0
// No value in anything but the output of `get`.

import Foundation
import Testing

@Suite("secrecy")
struct SecrecyTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Set fails in several ways, each after the value is read.
    @Test(arguments: [
        "rm -f \"$HOME\"/.config/swift-keychain/device.key",
        "echo junk > \"$HOME\"/.local/share/swift-keychain/vault.db",
    ])
    func set_thatFails_doesNotShowTheValue(damage: String) throws {
        try tool.store()
        _ = try tool.shell(damage)
        let run = try tool.run("set", "-s", "s", "-a", "a", input: Data("hunter2".utf8))
        #expect(run.status != 0)
        #expect(!run.everything.contains("hunter2"))
    }

    @Test func get_withSeveralMatches_doesNotShowAValue() throws {
        try tool.store(account: "alice")
        try tool.store(account: "bob")
        #expect(try !tool.run("get", "-s", "example.com").everything.contains("correct horse"))
    }

    @Test func status_ofAVault_showsNeitherNamesNorValues() throws {
        try tool.store(account: "someone")
        let text = try tool.run("status").everything
        #expect(!text.contains("someone"))
        #expect(!text.contains("correct horse"))
    }

    @Test func files_ofTheVault_containNeitherNamesNorValues() throws {
        try tool.store(service: "service-name", account: "account-name")
        let run = try tool.shell("grep -rlE 'service-name|account-name|correct horse' \"$HOME\"")
        #expect(run.text.isEmpty)
    }
}
