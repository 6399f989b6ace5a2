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

    /// The versions have 400 kB, later 1.5 MB: the latest is kept in any case.
    @Test func versions_beyondTheSizeThatIsSet_areDropped() throws {
        let put = "put() { head -c $2 /dev/zero | tr '\\0' $1 | \"$CTL\" set -s s -a a; }"
        try tool.must("\(put); \"$CTL\" history --size 1; for i in 1 2 3 4; do put $i 400000; done")
        #expect(try numbers() == [3, 2])
        try tool.must("\(put); put 5 1500000; put 6 5")
        #expect(try numbers() == [5])
        #expect(try tool.run("get", "-s", "s", "--history", "5").output.count == 1_500_000)
    }

    @Test func versions_whenTheSizeIsMadeSmaller_areDroppedAtOnce() throws {
        try tool.must(
            "for i in 1 2 3 4; do head -c 400000 /dev/zero | tr '\\0' $i | \"$CTL\" set -s s -a a; done; "
                + "\"$CTL\" history --size 1")
        #expect(try numbers() == [3, 2])
    }

    @Test func settings_thatAreDamaged_areAnErrorAndTheItemStays() throws {
        try tool.must("\"$CTL\" init && \"$CTL\" history --off")
        try tool.damageItems()
        try tool.must("\"$CTL\" accept --yes")
        try tool.store()
        for line in ["set -s example.com -a alice", "delete -s example.com -a alice", "history --settings"] {
            let run = try tool.shell("\"$CTL\" \(line)", input: otherSecret)
            #expect(run.status == 8 && run.errors.contains("settings of the history"), "\(line): \(run.errors)")
        }
        #expect(try tool.get() == secret)
        try tool.must("\"$CTL\" history --on")
        try tool.store(otherSecret)
        #expect(try tool.changes() == ["set: value"])
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
        ("", "Of each item, 10 version(s) of at most 64 MiB together are kept for 30 day(s).\n"),
        (
            "--keep 3 --days 7 --size 5",
            "Of each item, 3 version(s) of at most 5 MiB together are kept for 7 day(s).\n"
        ),
        ("--days 2d", "Of each item, 10 version(s) of at most 64 MiB together are kept for 2 day(s).\n"),
        ("--off", "Nothing is kept (--off).\n"),
    ])
    func settings_areShown(options: String, text: String) throws {
        if !options.isEmpty { try tool.must("\"$CTL\" history \(options)") }
        #expect(try tool.must("\"$CTL\" history --settings").text == text)
    }

    @Test func days_inAnotherUnit_areToldToBeDays() throws {
        #expect(try tool.run("history", "--days", "48h").errors.contains("Give whole days (30 or 30d)"))
    }

    @Test(arguments: [
        ("--keep 3 --days 7", #"{"days":7,"on":true,"size":64,"versions":3}"#),
        ("--off", #"{"days":30,"on":false,"size":64,"versions":10}"#),
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

    @Test func forgottenItem_leavesTheVersionsOfAnEarlierOneOfItsName() throws {
        try set(2)
        try tool.must("\"$CTL\" move -s s --to-service t && \"$CTL\" move -s t --to-service u")
        try tool.must("printf other | \"$CTL\" set -s t -a a && \"$CTL\" delete -s t -a a --forget")
        #expect(try tool.changes() == ["move: moved", "move: moved", "set: value"])
        try tool.must("\"$CTL\" undo -s u -a a")
    }

    private static let moves = [
        "move -s s --to-service t && \"$CTL\" move -s t --to-service u",
        // Back, and on, with another item at the name between.
        "move -s s --to-service t && \"$CTL\" move -s t --to-service u && \"$CTL\" move -s u --to-service t "
            + "&& printf o | \"$CTL\" set -s u -a a && \"$CTL\" move -s t --to-service w",
        "move -s s --to-service t && \"$CTL\" move -s t --to-service u && \"$CTL\" undo -s u",
    ]

    /// The item is there under its last name, and that of its first move is gone.
    @Test(arguments: moves, ["delete -s s -a a --forget", "history --clear -s s -a a"])
    func versionsOfAnItemThatWasMovedTwice_stayWithoutThoseOfALaterItem(moves: String, removal: String) throws {
        try set(2)
        try tool.must("\"$CTL\" \(moves)")
        let before = try tool.changes()
        try set(2)
        try tool.must("\"$CTL\" \(removal)")
        #expect(try tool.changes() == before)
    }

    @Test func versionsOfAnItemThatWasMovedTwice_doNotGetTheProtectionOfALaterItem() throws {
        try tool.must("echo several words > words; \"$CTL\" init --passphrase-fd 3 3< words")
        try set(2)
        try tool.must("\"$CTL\" \(Self.moves[0]); printf other | \"$CTL\" set -s s -a a")
        try tool.must("\"$CTL\" set -s s -a a --keep-value --require user-presence")
        #expect(try tool.must("\"$CTL\" get -s s -a a --history 1").text == "1")
    }

    /// Nothing led back to the first name.
    @Test func forgottenItem_thatWasMovedBackWhileTheHistoryWasOff_leavesNoVersions() throws {
        try set(2)
        try tool.must(
            "\"$CTL\" move -s s --to-service t && \"$CTL\" history --off && \"$CTL\" move -s t --to-service s")
        try tool.must("\"$CTL\" delete -s s -a a --forget")
        #expect(try tool.history("").isEmpty)
    }

    @Test(arguments: ["\"$CTL\" delete -s t -a a --forget", "\"$CTL\" history --clear -s t -a a"])
    func versions_ofAnItemThatWasMovedWhileTheHistoryWasOff_areRemovedWithIt(_ removal: String) throws {
        try set(2)
        try tool.must(
            "\"$CTL\" history --off && \"$CTL\" move -s s --to-service u && \"$CTL\" move -s u --to-service t")
        try tool.must(removal)
        #expect(try tool.history("").isEmpty)
    }

    @Test func forgottenItem_whoseMoveWasUndoneWhileTheHistoryWasOff_leavesNoVersions() throws {
        try set(1)
        try tool.must("\"$CTL\" move -s s --to-service t && printf other | \"$CTL\" set -s t -a a")
        try tool.must("\"$CTL\" history --off && \"$CTL\" undo -s s --to 1 && \"$CTL\" delete -s s -a a --forget")
        #expect(try tool.history("").isEmpty)
    }

    @Test func forgottenItem_beforeItsTimeIsOver_isNotInTheVaultsFiles() throws {
        try set(2)
        try tool.must("\"$CTL\" history --clear --all")
        #expect(try tool.run("undo", "-s", "s").status == 3)
    }
}
