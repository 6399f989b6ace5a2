// SPDX-License-Identifier: Apache-2.0
// Bringing back what was replaced, deleted or moved.

import Foundation
import Testing

@Suite("undo")
struct UndoTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func undo(_ options: String = "-s example.com -a alice") throws -> Tool.Run {
        try tool.shell("\"$CTL\" undo \(options)")
    }

    @Test func undo_ofANewValue_bringsBackTheOldOne() throws {
        try tool.store()
        try tool.store(otherSecret)
        #expect(try undo().status == 0)
        #expect(try tool.get() == secret)
        #expect(try tool.listed().count == 1)
    }

    @Test func undo_ofAnUndo_bringsBackTheNewValue() throws {
        try tool.store()
        try tool.store(otherSecret)
        for value in [secret, otherSecret, secret] {
            #expect(try undo().status == 0)
            #expect(try tool.get() == value)
        }
    }

    @Test func undo_toAVersion_bringsBackThatOne() throws {
        for value in [secret, otherSecret, thirdSecret] { try tool.store(value) }
        #expect(try undo("-s example.com -a alice --to 1").status == 0)
        #expect(try tool.get() == secret)
    }

    @Test func undo_ofADeletion_bringsBackEverything() throws {
        try tool.store(secret, "--label", "l", "--comment", "c", "--kind", "k", "--accessibility", "always")
        try tool.must("\"$CTL\" expire 2099-01-01 -s example.com")
        let before = try #require(try tool.listed().first)
        try tool.run("delete", "-s", "example.com", "-a", "alice")
        #expect(try undo().status == 0)
        let after = try #require(try tool.listed().first)
        for (key, value) in before where key != "modified" {
            #expect("\(value)" == "\(after[key] ?? "nothing")", "\(key)")
        }
        #expect(try tool.get() == secret)
    }

    @Test func undo_ofAnUndoneDeletion_deletesAgain() throws {
        try tool.store()
        try tool.run("delete", "-s", "example.com", "-a", "alice")
        for count in [1, 0, 1] {
            #expect(try undo().status == 0)
            #expect(try tool.listed().count == count)
        }
    }

    @Test func undo_toAVersionBeforeADeletion_works() throws {
        try tool.store()
        try tool.store(otherSecret)
        try tool.run("delete", "-s", "example.com", "-a", "alice")
        #expect(try undo().status == 0)
        #expect(try undo("-s example.com -a alice --to 1").status == 0)
        #expect(try tool.get() == secret)
    }

    @Test(arguments: ["-s example.com -a alice", "-s other -a alice"])
    func undo_ofAMove_bringsTheItemBackToItsName(options: String) throws {
        try tool.store(secret, "--label", "l")
        try tool.run("move", "-s", "example.com", "--to-service", "other")
        #expect(try undo(options).status == 0)
        #expect(try tool.listed().map { $0["service"] as? String } == ["example.com"])
        #expect(try tool.get() == secret)
    }

    /// Without a proof it is not known where the item was moved.
    @Test func undo_ofAMoveOfAnItemThatRequiresTheUser_findsItByItsNewName() throws {
        let run = try tool.shell(
            """
            set -e; echo several words > words; "$CTL" init --passphrase-fd 3 3< words
            printf '#!/bin/sh\\ncat "%s/words"\\n' "$PWD" > ask; chmod 700 ask; export KEYCHAIN_ASKPASS="$PWD/ask"
            printf one | "$CTL" set -s s -a a --require user-presence; "$CTL" move -s s -a a --to-service t
            "$CTL" undo -s t -a a; "$CTL" get -s s -a a
            """)
        #expect(run.status == 0 && run.text.hasSuffix("one"), "\(run.everything)")
    }

    @Test(arguments: ["-s example.com -a alice", "-s other -a alice"])
    func undo_ofAnUndoneMove_movesAgain(options: String) throws {
        try tool.store()
        try tool.run("move", "-s", "example.com", "--to-service", "other")
        try tool.must("\"$CTL\" undo -s other")
        #expect(try undo(options).status == 0)
        #expect(try tool.listed().map { $0["service"] as? String } == ["other"])
    }

    @Test func undo_whenAnotherItemHasTheName_isRefused() throws {
        try tool.store()
        try tool.run("delete", "-s", "example.com", "-a", "alice")
        try tool.store(otherSecret)
        #expect(try undo().status == 4)
        #expect(try tool.get() == otherSecret)
        #expect(try tool.changes() == ["delete: deleted"])
    }

    @Test func undo_whenAnotherItemHasTheName_replacesAndKeepsItIfAsked() throws {
        try tool.store()
        try tool.run("delete", "-s", "example.com", "-a", "alice")
        try tool.store(otherSecret)
        #expect(try undo("-s example.com -a alice --replace").status == 0)
        #expect(try tool.get() == secret)
        #expect(try undo().status == 0)
        #expect(try tool.get() == otherSecret)
    }

    @Test func undo_ofAMoveWhenAnotherItemHasTheOldName_isRefused() throws {
        try tool.store()
        try tool.run("move", "-s", "example.com", "--to-service", "other")
        try tool.store(otherSecret)
        for options in ["-s example.com -a alice", "-s other -a alice"] { #expect(try undo(options).status == 4) }
        #expect(try tool.listed().count == 2)
    }

    /// What gives the name of the first item to another one, and the undo that would put the first one in its place.
    static let others: [(steps: [String], undo: String)] = [
        (["move -s b --to-service t", "set a", "move -s a --to-service b"], "-s t"),
        (
            ["move -s b --to-service t", "set a", "move -s a --to-service c", "undo -s c", "move -s a --to-service b"],
            "-s t"
        ),
        (["move -s b --to-service t", "history --off", "set b"], "-s t"),
        (["set b", "history --off", "delete -s b -a alice", "set b"], "-s b"),
        (["delete -s b -a alice", "set b", "set b"], "-s b --to 1"),
        (["delete -s b -a alice", "undo -s b", "delete -s b -a alice", "set b", "set b"], "-s b --to 3"),
        (["delete -s b -a alice", "set b", "delete -s b -a alice", "undo -s b --to 1", "set b"], "-s b --to 2"),
        (
            [
                "move -s b --to-service c", "undo -s b", "move -s b --to-service c", "undo -s b --to 1", "set b",
                "set c",
            ], "-s b --to 2"
        ),
    ]

    @Test(arguments: others)
    func undo_whenAnotherItemHasTheNameInAnyWay_isRefused(_ case: (steps: [String], undo: String)) throws {
        try tool.store(secret, service: "b")
        for (number, step) in `case`.steps.enumerated() {
            let words = step.split(separator: " ").map(String.init)
            if words.first == "set" {
                try tool.store(Data("other \(number)".utf8), service: words[1])
            } else {
                try tool.must("\"$CTL\" \(step)")
            }
        }
        let before = try tool.run("list").text
        let refused = try undo(`case`.undo)
        #expect(refused.status == 4 && refused.everything.contains("--replace"))
        #expect(try tool.run("list").text == before)
        #expect(try undo(`case`.undo + " --replace").status == 0)
    }

    @Test(arguments: ["", "--replace"])
    func undo_toAVersionOfTheItemThatAnUndoBroughtBack_works(_ option: String) throws {
        try tool.store()
        try tool.must("\"$CTL\" delete -s example.com -a alice")
        try tool.store(otherSecret)
        if option.isEmpty { try tool.must("\"$CTL\" delete -s example.com -a alice") }
        try tool.must("\"$CTL\" undo -s example.com --to 1 \(option)")
        try tool.store(thirdSecret)
        #expect(try undo("-s example.com --to 1").status == 0)
        #expect(try tool.get() == secret)
    }

    /// Not even with --replace: before that change there was none.
    @Test func undo_toTheAbsenceOfAnotherItem_leavesTheOneOfTheName() throws {
        try tool.store()
        for step in ["delete -s example.com -a alice", "undo -s example.com", "delete -s example.com -a alice"] {
            try tool.must("\"$CTL\" \(step)")
        }
        try tool.store(otherSecret)
        #expect(try undo("-s example.com --to 2 --replace").status == 3)
        #expect(try tool.get() == otherSecret)
    }

    /// What was not kept is not undone: the item of the new name stays.
    @Test func undo_ofAChangeBeforeAMoveThatWasNotKept_leavesTheItemOfTheNewName() throws {
        for value in [secret, otherSecret] { try tool.store(value) }
        try tool.must("\"$CTL\" history --off && \"$CTL\" move -s example.com --to-service other")
        #expect(try undo("-s other").status == 3)
        #expect(try undo("-s example.com").status == 0)
        #expect(try tool.get() == secret)
        #expect(try tool.get(service: "other") == otherSecret)
    }

    @Test func undo_ofAMoveWhileTheHistoryIsOff_saysThatTheStateBeforeIsNotKept() throws {
        try tool.store()
        try tool.must("\"$CTL\" move -s example.com --to-service other && \"$CTL\" history --off")
        let run = try undo("-s other")
        #expect(run.status == 0 && run.errors.contains("is not kept"), "\(run.errors)")
    }

    @Test func undo_toAVersionBeforeAMoveAwayAndBack_works() throws {
        try tool.store()
        try tool.store(otherSecret)
        try tool.run("move", "-s", "example.com", "--to-service", "other")
        try tool.run("move", "-s", "other", "--to-service", "example.com")
        #expect(try undo("-s example.com --to 1").status == 0)
        #expect(try tool.get() == secret)
    }

    @Test func undo_toAVersionBeforeSeveralUndoneDeletions_works() throws {
        try tool.store()
        try tool.store(otherSecret)
        for _ in 1...2 {
            try tool.run("delete", "-s", "example.com", "-a", "alice")
            #expect(try undo().status == 0)
        }
        #expect(try undo("-s example.com -a alice --to 1").status == 0)
        #expect(try tool.get() == secret)
    }

    @Test func undo_withNothingKept_isNotFound() throws {
        try tool.store()
        #expect(try undo().status == 3)
        #expect(try tool.get() == secret)
    }

    @Test func undo_ofSeveralItems_isAmbiguous() throws {
        for account in ["alice", "bob"] { try tool.store(account: account) }
        try tool.run("delete", "-s", "example.com", "--all")
        #expect(try undo("-s example.com").status == 4)
        #expect(try tool.listed().isEmpty)
    }

    @Test func undo_ofAnInternetPassword_bringsItBack() throws {
        try tool.must("printf one | \"$CTL\" set --server https://h:8443/p -a a; \"$CTL\" delete --server h -a a")
        #expect(try undo("--server https://h:8443/p -a a").status == 0)
        #expect(try tool.run("get", "--server", "h").text == "one")
    }

    @Test func undo_inALockedVault_isLockedAndChangesNothing() throws {
        let vault = try LockableTool()
        try vault.store()
        #expect(try vault.withKey("set -s example.com -a alice", input: otherSecret).status == 0)
        #expect(try vault.tool.run("undo", "-s", "example.com").status == 5)
        #expect(try vault.withKey("get -s example.com").output == otherSecret)
        #expect(try vault.withKey("undo -s example.com").status == 0)
        #expect(try vault.withKey("get -s example.com").output == secret)
    }

    @Test func undo_saysWhatItDidAndShowsNoValue() throws {
        try tool.store()
        try tool.store(otherSecret)
        let run = try undo()
        #expect(run.text.isEmpty)
        #expect(run.errors.contains("version 1"))
        #expect(!run.errors.contains("correct horse"))
    }

    @Test func undo_whileTheHistoryIsOff_saysThatTheStateBeforeIsNotKept() throws {
        try tool.store()
        try tool.store(otherSecret)
        try tool.run("history", "--off")
        #expect(try undo().errors.contains("not kept"))
        #expect(try tool.get() == secret)
    }
}
