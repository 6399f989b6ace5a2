// SPDX-License-Identifier: Apache-2.0
// How much is kept and for how long, and removing it.

import Foundation
import Testing

@Suite("history, its bounds")
struct HistoryBoundsTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func set(_ count: Int) throws {
        try tool.must("for i in $(seq \(count)); do printf $i | \"$CTL\" set -s s -a a; done")
    }

    private func numbers() throws -> [Int] { try tool.history("-s s").compactMap { $0["version"] as? Int } }

    @Test func versions_beyondTen_areDropped() throws {
        try set(13)
        #expect(try numbers() == Array((3...12).reversed()))
        #expect(try tool.run("get", "-s", "s", "--history", "3").text == "3")
    }

    @Test func versions_beyondTheNumberThatIsSet_areDropped() throws {
        try tool.must("\"$CTL\" history --keep 2")
        try set(5)
        #expect(try numbers() == [4, 3])
    }

    @Test func versions_whenTheNumberIsMadeSmaller_areDroppedAtOnce() throws {
        try set(5)
        try tool.must("\"$CTL\" history --keep 1")
        #expect(try numbers() == [4])
    }

    @Test func history_switchedOff_keepsNothing() throws {
        try tool.must("\"$CTL\" history --off")
        try set(3)
        try tool.run("delete", "-s", "s", "-a", "a")
        #expect(try numbers().isEmpty)
    }

    @Test func history_switchedOff_saysWhatIsStillKept() throws {
        try set(3)
        #expect(try tool.must("\"$CTL\" history --off").errors.contains("2 version(s)"))
        #expect(try numbers().count == 2)
    }

    @Test func history_switchedOnAgain_keeps() throws {
        try tool.must("\"$CTL\" history --off && \"$CTL\" history --on")
        try set(2)
        #expect(try numbers() == [1])
    }

    @Test(arguments: [
        ("", "Of each item, 10 version(s) are kept for 30 day(s).\n"),
        ("--keep 3 --days 7", "Of each item, 3 version(s) are kept for 7 day(s).\n"),
        ("--off", "Nothing is kept (--off).\n"),
    ])
    func settings_areShown(options: String, text: String) throws {
        if !options.isEmpty { try tool.must("\"$CTL\" history \(options)") }
        #expect(try tool.must("\"$CTL\" history --settings").text == text)
    }

    @Test(arguments: [
        ("--keep 3 --days 7", #"{"days":7,"on":true,"versions":3}"#),
        ("--off", #"{"days":30,"on":false,"versions":10}"#),
    ])
    func settings_asJSON_areAnObject(options: String, text: String) throws {
        #expect(try tool.must("\"$CTL\" history \(options) && \"$CTL\" history --settings --json").text == text + "\n")
    }

    @Test func settings_afterOff_sayWhatIsStillKept() throws {
        try set(2)
        let text = try tool.must("\"$CTL\" history --off && \"$CTL\" history --settings").text
        #expect(text == "Nothing more is kept (--off). 1 version(s) still are.\n")
    }

    @Test func clear_ofAnItem_removesItsVersionsOnly() throws {
        try set(2)
        try tool.store()
        try tool.store(otherSecret)
        try tool.must("\"$CTL\" history --clear -s s -a a")
        #expect(try tool.history("").map { $0["service"] as? String } == ["example.com"])
        #expect(try tool.run("get", "-s", "s").text == "2")
    }

    @Test func clear_ofADeletedItem_removesItsVersions() throws {
        try set(2)
        try tool.must("\"$CTL\" delete -s s -a a && \"$CTL\" history --clear -s s")
        #expect(try numbers().isEmpty)
    }

    @Test func clear_ofAllItems_removesAll() throws {
        try set(2)
        try tool.store()
        try tool.store(otherSecret)
        try tool.must("\"$CTL\" history --clear --all")
        #expect(try tool.history("").isEmpty)
    }

    @Test func clear_ofANameWithoutVersions_isNotFound() throws {
        try set(1)
        #expect(try tool.run("history", "--clear", "-s", "s").status == 3)
    }

    @Test func forgottenItem_leavesNoEarlierVersion() throws {
        try set(3)
        try tool.must("\"$CTL\" delete -s s -a a --forget")
        #expect(try tool.history("").isEmpty)
        #expect(try tool.listed().isEmpty)
    }

    @Test func forgottenItem_leavesNoVersionUnderFormerNames() throws {
        try set(3)
        try tool.must(
            "\"$CTL\" move -s s --to-service t && \"$CTL\" move -s t --to-service u && \"$CTL\" delete -s u -a a --forget"
        )
        #expect(try tool.history("").isEmpty)
    }

    @Test func forgottenItem_leavesTheVersionsOfALaterOneOfItsFormerName() throws {
        try set(2)
        try tool.must("\"$CTL\" move -s s --to-service t")
        try set(2)
        try tool.must("\"$CTL\" delete -s t -a a --forget")
        #expect(try tool.changes() == ["set: value"])
    }

    @Test func forgottenItem_beforeItsTimeIsOver_isNotInTheVaultsFiles() throws {
        try set(2)
        try tool.must("\"$CTL\" history --clear --all")
        #expect(try tool.run("undo", "-s", "s").status == 3)
    }
}
