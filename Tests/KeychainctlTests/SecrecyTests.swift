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

    /// From then on strace cannot read the names of files either, unless it is root's, and shows where they lie in memory.
    @Test(.enabled(if: Tool.hasStrace, "strace cannot trace here"))
    func tool_beforeItOpensTheVault_closesItselfToOtherProcessesOfTheUser() throws {
        try tool.store()
        let trace = try tool.shell(
            "strace -f -e trace=prctl,openat -o trace \"$CTL\" list >&2; grep -e DUMPABLE -e '\\.config' -e 'openat(AT_FDCWD, 0x' trace; rm trace"
        )
        let calls = trace.text.split(separator: "\n")
        #expect(calls.count > 1, "\(trace.everything)")
        #expect(calls.first?.contains("prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE) = 0") == true, "\(trace.everything)")
    }

    /// Otherwise the dynamic linker leaves bytes of keys on the stack when it resolves a symbol at its first use.
    @Test(.enabled(if: Tool.hasReadelf, "readelf is not installed"))
    func tool_built_hasAllSymbolsResolvedAtItsStart() throws {
        #expect(try tool.shell("readelf --dynamic \"$CTL\"").text.contains("BIND_NOW"))
    }

    @Test func files_ofTheVault_containNeitherNamesNorValues() throws {
        try tool.store(service: "service-name", account: "account-name")
        let run = try tool.shell("grep -rlE 'service-name|account-name|correct horse' \"$HOME\"")
        #expect(run.text.isEmpty)
    }
}
