// SPDX-License-Identifier: Apache-2.0
// `generate`: its passwords, and the items that they are stored in.

import Foundation
import Testing

@Suite("generate")
struct GenerateTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func password_isStoredAndNotPrinted() throws {
        let run = try tool.run("generate", "-s", "example.com", "-a", "alice")
        #expect(run.status == 0 && run.output.isEmpty, "\(run.errors)")
        let value = String(decoding: try tool.get(), as: UTF8.self)
        #expect(value.wholeMatch(of: /[a-zA-Z0-9]{24}/) != nil)
        #expect(run.errors.contains("142.9 bits") && !run.errors.contains(value))
    }

    @Test func password_withPrint_isTheStoredOne() throws {
        let run = try tool.run("generate", "-s", "example.com", "-a", "alice", "--print")
        #expect(try run.output == tool.get())
    }

    @Test(arguments: [
        ("digits", "0123456789"), ("hex", "0123456789abcdef"), ("=xyz", "xyz"), ("=äöxx", "äöx"),
    ])
    func password_ofASet_hasOnlyItsCharacters(set: String, characters: String) throws {
        let run = try tool.run("generate", "-s", "s", "-a", "a", "--length", "200", "--characters", set, "--print")
        #expect(run.text.count == 200)
        #expect(Swift.Set(run.text) == Swift.Set(characters))
    }

    @Test func item_thatExists_isKept() throws {
        try tool.store()
        #expect(try tool.run("generate", "-s", "example.com", "-a", "alice").status == 4)
        #expect(try tool.get() == secret)
    }

    @Test func item_thatExistsAndIsToBeReplaced_hasTheNewPassword() throws {
        try tool.store()
        #expect(try tool.run("generate", "-s", "example.com", "-a", "alice", "--replace").status == 0)
        #expect(try tool.get().count == 24)
    }

    @Test func passwords_ofSeveralRuns_differ() throws {
        let texts = try (0..<3).map { try tool.run("generate", "-s", "s", "-a", "\($0)", "--print").text }
        #expect(Swift.Set(texts).count == 3)
    }
}
