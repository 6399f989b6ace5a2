// SPDX-License-Identifier: Apache-2.0
// Setting what is there already: in place, and only that item.

import Foundation
import Testing

@Suite("set again")
struct UpdateTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test func set_again_replacesTheValue() throws {
        try tool.store()
        try tool.store(otherSecret)
        #expect(try tool.get() == otherSecret)
    }

    @Test func set_again_keepsOneItem() throws {
        try tool.store()
        try tool.store(otherSecret)
        #expect(try tool.listed().count == 1)
    }

    @Test func set_again_keepsTheDateOfCreation() throws {
        try tool.store()
        let before = try tool.listed().first?["created"] as? String
        try tool.store(otherSecret)
        #expect(try tool.listed().first?["created"] as? String == before)
    }

    @Test func set_again_movesTheDateOfModification() throws {
        try tool.store()
        let before = try #require(try tool.listed().first?["modified"] as? String)
        try tool.store(otherSecret)
        #expect(try #require(try tool.listed().first?["modified"] as? String) > before)
    }

    @Test func set_againWithALabel_changesTheLabel() throws {
        try tool.store(secret, "--label", "old")
        try tool.store(secret, "--label", "new")
        #expect(try tool.listed().first?["label"] as? String == "new")
    }

    @Test func set_againWithoutALabel_keepsTheLabel() throws {
        try tool.store(secret, "--label", "old")
        try tool.store(otherSecret)
        #expect(try tool.listed().first?["label"] as? String == "old")
    }

    @Test func set_inAnotherGroup_leavesTheFirstAlone() throws {
        try tool.store()
        try tool.store(otherSecret, "--access-group", "team")
        #expect(try tool.run("get", "-s", "example.com", "--access-group", "default").output == secret)
        #expect(try tool.run("get", "-s", "example.com", "--access-group", "team").output == otherSecret)
    }

    @Test func set_againInAnotherGroup_changesOnlyThatGroup() throws {
        try tool.store()
        try tool.store(secret, "--access-group", "team")
        try tool.store(otherSecret)
        #expect(try tool.run("get", "-s", "example.com", "--access-group", "team").output == secret)
    }

    @Test func set_ofASynchronizableItem_leavesTheOtherAlone() throws {
        try tool.store()
        try tool.store(otherSecret, "--synchronizable")
        #expect(try tool.run("get", "-s", "example.com", "--no-synchronizable").output == secret)
        #expect(try tool.run("get", "-s", "example.com", "--synchronizable").output == otherSecret)
    }

    @Test(.enabled(if: Tool.hasPython, "python3 is not installed")) func set_ofADamagedItem_makesItWholeAgain() throws {
        try tool.store()
        try tool.damageItems()
        try tool.run("accept", "--yes")
        try tool.store(otherSecret)
        #expect(try tool.get() == otherSecret)
    }
}
