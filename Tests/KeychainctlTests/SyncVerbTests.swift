// SPDX-License-Identifier: Apache-2.0
// `sync`: two homes, one folder, and what the exit codes say.

import Foundation
import Testing

@Suite("sync")
struct SyncVerbTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        for name in ["desktop", "shared"] {
            try FileManager.default.createDirectory(
                at: tool.home.appendingPathComponent(name), withIntermediateDirectories: false)
        }
    }

    /// The same tool, as it runs on the other machine.
    private func desktop(_ arguments: String..., input: Data = Data()) throws -> Tool.Run {
        let words = arguments.map { "'\($0)'" }.joined(separator: " ")
        return try tool.shell("HOME=\"$HOME/desktop\" \"$CTL\" \(words)", input: input)
    }

    private func set(_ account: String, _ value: String = "v") throws -> Tool.Run {
        try tool.run("set", "--synchronizable", "-s", "s", "-a", account, input: Data(value.utf8))
    }

    private func found() throws {
        let run = try tool.run("sync", "init", "--folder", "shared", "--name", "laptop")
        try #require(run.status == 0, "\(run.errors)")
    }

    /// The other machine asks while this one syncs until it has let it in.
    private func join(_ options: String = "") throws {
        let run = try tool.shell(
            """
            "$CTL" sync invite --name desktop \(options) > code || exit
            HOME="$HOME/desktop" "$CTL" sync join --folder shared --wait 600s --code-fd 3 3< code & other=$!
            while kill -0 $other 2> /dev/null; do "$CTL" sync now || exit; done
            wait $other
            """)
        try #require(run.status == 0, "\(run.errors)")
    }

    private func status(_ run: Tool.Run) throws -> [String: Any] {
        try #require(run.status == 0, "\(run.errors)")
        return try #require(try JSONSerialization.jsonObject(with: run.output) as? [String: Any])
    }

    @Test func item_ofOneMachine_isReadOnTheOther() throws {
        try found()
        try join()
        #expect(try set("alice", "one").status == 0)
        #expect(try tool.run("sync", "now").errors.contains("sent: 1"))
        #expect(try desktop("sync", "now").errors.contains("Received: 1"))
        #expect(try desktop("get", "-s", "s", "-a", "alice").text == "one")
    }

    /// A look at the status collects changes too.
    @Test func changes_collectedByAnotherStep_areSaidToBeSentOnceTheyAre() throws {
        #expect(try set("alice", "one").status == 0)
        #expect(try tool.run("sync", "init", "--folder", "shared").errors.contains("sent: 1"))
        #expect(try set("alice", "two").status == 0)
        #expect(try tool.run("sync", "status").status == 0)
        for count in [1, 0] { #expect(try tool.run("sync", "now").errors.contains("sent: \(count)")) }
    }

    @Test func machineInvitedWithConfirm_isLetInByApproveAlone() throws {
        try found()
        #expect(try tool.run("sync", "approve", "--yes").status == 3)
        let run = try tool.shell(
            """
            "$CTL" sync invite --name desktop --confirm > code || exit
            HOME="$HOME/desktop" "$CTL" sync join --folder shared --wait 600s --code-fd 3 3< code 2> joined & other=$!
            id=
            while [ -z "$id" ] && kill -0 $other; do id=$(sed -nE "s/^.*This machine's ID: ([0-9a-f-]+)\\..*/\\1/p" joined); done
            "$CTL" sync now || exit
            "$CTL" sync status | grep desktop && exit 99
            "$CTL" sync approve 0000-0000 --yes && exit 98
            "$CTL" sync approve "$id" < /dev/null && exit 97
            "$CTL" sync approve "$id" --yes || exit
            while kill -0 $other 2> /dev/null; do "$CTL" sync now || exit; done
            wait $other
            """)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("Waits for approval: desktop (") && run.errors.contains("Let in: desktop"))
    }

    @Test(arguments: [("INT", SIGINT), ("TERM", SIGTERM)])
    func joining_thatASignalEnds_takesItsRequestBack(signal: String, number: Int32) throws {
        try found()
        let run = try tool.shell(
            """
            "$CTL" sync invite --name desktop --confirm > code || exit
            env --default-signal=INT,TERM HOME="$HOME/desktop" \
                "$CTL" sync join --folder shared --wait 600s --code-fd 3 3< code 2> joined & other=$!
            until grep -q "This machine's ID" joined; do kill -0 $other || exit 99; done
            kill -\(signal) $other
            wait $other
            [ $? -eq \(128 + number) ] || exit 98
            "$CTL" sync approve --yes
            """)
        #expect(run.status == 3, "\(run.errors)")
    }

    @Test func itemThatIsNotMarked_staysOnItsMachine() throws {
        try found()
        try join()
        try tool.run("set", "-s", "s", "-a", "alice", input: Data("v".utf8))
        #expect(try tool.run("sync", "now").errors.contains("sent: 0"))
        #expect(try desktop("sync", "now").status == 0)
        #expect(try desktop("get", "-s", "s", "-a", "alice").status == 3)
    }

    @Test func machineInvitedWithReader_sendsNothing() throws {
        try found()
        #expect(try set("alice", "one").status == 0)
        try join("--reader")
        #expect(try desktop("get", "-s", "s", "-a", "alice").text == "one")
        #expect(try desktop("set", "--synchronizable", "-s", "s", "-a", "bob", input: Data("two".utf8)).status == 0)
        let run = try desktop("sync", "now")
        #expect(run.status == 0 && run.errors.contains("because it only reads in its ring: 1."), "\(run.errors)")
        #expect(try tool.run("sync", "now").status == 0)
        #expect(try tool.run("get", "-s", "s", "-a", "bob").status == 3)
        #expect(try desktop("sync", "status").text.contains("This machine only reads."))
        let machines = try status(tool.run("sync", "status", "--json"))["machines"] as? [[String: Any]]
        #expect(machines?.first { $0["name"] as? String == "desktop" }?["role"] as? String == "reader")
        #expect(try desktop("sync", "invite", "--name", "other").status == 7)
    }

    @Test func ringOfAnAccessGroup_sharesItAlone() throws {
        let run = try tool.shell(
            """
            "$CTL" sync init --folder shared --name laptop --access-group web --access-group db || exit
            for group in web other; do
                echo v | "$CTL" set --synchronizable -s s -a $group --access-group $group || exit
            done
            """)
        try #require(run.status == 0, "\(run.errors)")
        try join()
        #expect(try desktop("list").text.contains("web") && !desktop("list").text.contains("other"))
        #expect(try status(tool.run("sync", "status", "--json"))["groups"] as? [String] == ["db", "web"])
        #expect(try desktop("sync", "status").text.contains("access groups that are shared: db, web\n"))
    }

    @Test func status_asJSON_tellsTheMachinesAndWhatIsPending() throws {
        try found()
        try join()
        _ = try set("alice")
        let status = try status(tool.run("sync", "status", "--json"))
        #expect(status["pending"] as? Int == 1)
        #expect(status["member"] as? Bool == true && status["paused"] as? Bool == false)
        let machines = try #require(status["machines"] as? [[String: Any]])
        #expect(Set(machines.compactMap { $0["name"] as? String }) == ["desktop", "laptop"])
        #expect(machines.allSatisfy { $0.keys.contains("lastSeen") })
        let run = try tool.run("sync", "status", "--max-age", "1h")
        #expect(run.status == 13 && run.errors.contains("not sent yet: 1"))
        #expect(try tool.run("sync", "now").status == 0)
        #expect(try tool.run("sync", "status", "--max-age", "1h").status == 0)
    }

    @Test func items_markedAndBoundToTheMachine_areCountedInTheStatus() throws {
        try found()
        #expect(try !tool.run("sync", "status").text.contains("marked as synchronizable"))
        let bound = try tool.run(
            "set", "--synchronizable", "-s", "s", "-a", "bound", "--accessibility", "when-unlocked-this-device-only",
            input: Data("v".utf8))
        #expect(bound.status == 0, "\(bound.errors)")
        #expect(try set("alice").status == 0)
        let object = try status(tool.run("sync", "status", "--json"))
        #expect(object["items"] as? Int == 1 && object["staying"] as? Int == 1)
        let text = try tool.run("sync", "status").text
        #expect(
            text.contains("marked as synchronizable, but bound to this machine or in another access group: 1\n"),
            "\(text)")
    }

    @Test func compareCodes_ofTwoMachines_areEqualOnceTheyHaveTheSame() throws {
        try found()
        try join()
        _ = try set("alice")
        _ = try tool.run("sync", "now")
        func code(_ run: Tool.Run) throws -> String? { try status(run)["compare"] as? String }
        #expect(try code(tool.run("sync", "status", "--json")) != code(desktop("sync", "status", "--json")))
        _ = try desktop("sync", "now")
        #expect(try code(tool.run("sync", "status", "--json")) == code(desktop("sync", "status", "--json")))
    }

    @Test func machineThatWasRemoved_isToldSo() throws {
        try found()
        try join()
        #expect(try tool.run("sync", "remove", "desktop").status != 0, "nobody was asked")
        #expect(try tool.run("sync", "recovery-key").status == 0)
        let removal = try tool.run("sync", "remove", "desktop", "--yes")
        #expect(removal.status == 0 && removal.errors.contains("still opens the ring"), "\(removal.errors)")
        #expect(try tool.run("sync", "remove", "desktop", "--yes").status == 3)
        let run = try desktop("sync", "now")
        #expect(run.status != 0 && run.errors.contains("removed from its ring"))
        #expect(try desktop("sync", "leave", "--yes").status == 0)
    }

    @Test func removal_whileTheFolderIsGone_isMadeOnlyIfItIsAskedFor() throws {
        try found()
        try join()
        #expect(try tool.shell("mv shared away").status == 0)
        let refused = try tool.run("sync", "remove", "desktop", "--yes")
        #expect(refused.status == 13 && refused.errors.contains("Nobody was removed"), "\(refused.errors)")
        let made = try tool.run("sync", "remove", "desktop", "--without-fetching", "--yes")
        #expect(made.status == 13 && made.errors.contains("The removal is made"), "\(made.errors)")
        #expect(try tool.shell("mv away shared; \"$CTL\" sync now").status == 0)
        #expect(try desktop("sync", "now").errors.contains("removed from its ring"))
    }

    @Test func leaving_whileTheFolderIsGone_isDoneOnlyWithoutSending() throws {
        try found()
        try join()
        _ = try set("alice")
        #expect(try tool.shell("mv shared away").status == 0)
        let refused = try tool.run("sync", "leave", "--yes")
        #expect(refused.status == 13 && refused.errors.contains("--without-sending"), "\(refused.errors)")
        #expect(try tool.run("sync", "status").status == 0)
        #expect(try tool.run("sync", "leave", "--without-sending", "--yes").status == 0)
        #expect(try tool.run("sync", "status").status == 13)
    }

    @Test func syncing_withoutARing_failsAndMakesNothing() throws {
        let verbs = [
            "now", "status", "devices", "compare", "dismiss", "pause", "resume", "watch", "conflicts", "history",
            "recovery-key", "repair",
        ]
        for verb in verbs { #expect(try tool.run("sync", verb).status == 13) }
        #expect(!FileManager.default.fileExists(atPath: tool.database.path))
        _ = try set("alice")
        for verb in verbs { #expect(try tool.run("sync", verb).status == 13) }
        #expect(try tool.run("sync", "leave", "--yes").status == 13)
        #expect(try tool.run("sync", "invite", "--name", "x").status == 13)
    }

    @Test func folder_thatIsNotThere_isSaid() throws {
        let run = try tool.run("sync", "init", "--folder", "nowhere")
        #expect(run.status == 13 && run.errors.contains("nowhere"))
        try found()
        try FileManager.default.removeItem(at: tool.home.appendingPathComponent("shared"))
        #expect(try tool.run("sync", "now").status == 13)
        #expect(try set("alice").status == 0)
    }

    @Test func folder_thatIsRolledBack_isInTheStatusUntilItIsDismissed() throws {
        try found()
        for account in ["alice", "bob"] {
            let run = try tool.shell("rm -rf old; cp -R shared old")
            #expect(run.status == 0)
            #expect(try set(account).status == 0 && tool.run("sync", "now").status == 0)
        }
        #expect(try tool.shell("rm -rf shared; mv old shared").status == 0)
        #expect(try tool.run("sync", "now").errors.contains("shows an older state"))
        #expect(try !tool.run("sync", "now").errors.contains("shows an older state"))
        let text = try tool.run("sync", "status").text
        #expect(text.contains("shows an older state") && text.contains("sync dismiss"), "\(text)")
        let object = try status(tool.run("sync", "status", "--json"))
        let notices = try #require(object["notices"] as? [[String: Any]])
        #expect(notices.contains { $0["kind"] as? String == "rolledBack" && $0["since"] is String })
        #expect(object["failure"] is NSNull)
        // The exchanges are complete.
        #expect(try tool.run("sync", "status", "--max-age", "2h").status == 0)
        #expect(try tool.run("sync", "dismiss").errors.contains("shows an older state"))
        #expect(try tool.run("sync", "dismiss").errors.contains("nothing to forget"))
        #expect(try !tool.run("sync", "status").text.contains("shows an older state"))
        #expect(try (status(tool.run("sync", "status", "--json"))["notices"] as? [Any])?.isEmpty == true)
    }

    @Test func folder_thatIsGone_isInTheStatusUntilAnExchangeIsComplete() throws {
        try found()
        #expect(try tool.run("sync", "status", "--max-age", "2h").status == 0)
        #expect(try tool.shell("mv shared away; \"$CTL\" sync now").status == 13)
        let text = try tool.run("sync", "status").text
        #expect(text.contains("failing since 2") && text.contains("/shared'"), "\(text)")
        let object = try status(tool.run("sync", "status", "--json"))
        let failure = try #require(object["failure"] as? [String: Any])
        #expect(failure["reason"] as? String == "unavailable" && failure["since"] is String)
        #expect((failure["message"] as? String)?.contains("/shared'") == true)
        let run = try tool.run("sync", "status", "--max-age", "2h")
        #expect(run.status == 13 && run.errors.contains("/shared'"))
        #expect(try tool.shell("mv away shared; \"$CTL\" sync now").status == 0)
        #expect(try tool.run("sync", "status", "--max-age", "2h").status == 0)
        #expect(try status(tool.run("sync", "status", "--json"))["failure"] is NSNull)
    }

    @Test func recoveryKey_makesNoNotice() throws {
        try found()
        #expect(try tool.run("sync", "recovery-key").status == 0)
        #expect(try !tool.run("sync", "now").errors.contains("are gone"))
        #expect(try !tool.run("sync", "status").text.contains("noticed"))
    }

    @Test(arguments: ["devices", "compare"])
    func status_hasOtherNames(_ name: String) throws {
        try found()
        let run = try tool.run("sync", name)
        #expect(try run.status == 0 && run.output == tool.run("sync", "status").output)
        #expect(run.text.contains("laptop") && run.text.contains("compare code: "))
        #expect(try tool.run("sync", name, "--max-age", "1h", "--json").status == 0)
        #expect(try tool.run("sync", "--help").text.contains("status, devices, compare"))
        #expect(try tool.run("sync", name, "--help").text.contains("other names of this command"))
    }

    @Test func pausedMachine_failsUntilItGoesOn() throws {
        try found()
        #expect(try tool.run("sync", "pause").status == 0)
        #expect(try tool.run("sync", "now").status == 13)
        let run = try tool.run("sync", "status", "--max-age", "1h")
        #expect(run.status == 13 && run.errors.contains("Syncing is paused"))
        #expect(try tool.run("sync", "resume").status == 0)
        #expect(try tool.run("sync", "now").status == 0)
    }

    @Test func invitation_whoseFolderIsGone_isWithdrawn() throws {
        try found()
        let run = try tool.shell(
            "mv shared away; \"$CTL\" sync invite --name desktop; code=$?; mv away shared; exit $code")
        #expect(run.status == 13 && run.output.isEmpty && run.errors.contains("is withdrawn"), "\(run.errors)")
        #expect(try status(tool.run("sync", "status", "--json"))["invitations"] as? Int == 0)
    }

    @Test func invitation_whoseCodeCannotBePrinted_isWithdrawn() throws {
        try found()
        let run = try tool.shell("\"$CTL\" sync invite --name desktop > /dev/full")
        #expect(run.status == 17 && run.errors.contains("is withdrawn"), "\(run.errors)")
        #expect(try status(tool.run("sync", "status", "--json"))["invitations"] as? Int == 0)
    }

    /// The pipe has no reader from the beginning.
    @Test func invitation_whoseCodeNobodyReads_isWithdrawnAndEndsAsAFilter() throws {
        try found()
        let run = try tool.shell(
            "mkfifo pipe; exec 4<> pipe 5> pipe 4<&-; \"$CTL\" sync invite --name desktop >&5; exit $?")
        #expect(run.status == 128 + SIGPIPE && run.errors.contains("is withdrawn"), "\(run.errors)")
        #expect(try status(tool.run("sync", "status", "--json"))["invitations"] as? Int == 0)
    }

    @Test func code_thatIsMistyped_isToldApartFromOneThatNobodyMade() throws {
        try found()
        let invited = try tool.run("sync", "invite", "--name", "x")
        let code = invited.text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(code.count == 29 && invited.errors.isEmpty)
        func join(_ code: String) throws -> Tool.Run {
            try tool.shell(
                "HOME=\"$HOME/desktop\" \"$CTL\" sync join --folder shared --wait 1s --code-fd 0",
                input: Data(code.utf8))
        }
        let last = code.last == "0" ? "1" : "0"
        #expect(try join(code.dropLast() + last).errors.contains("mistyped"))
        #expect(try join("0000-0000-0000-0000-0000-0000").status != 0)
        #expect(try join(code).errors.contains("has not answered"))
    }

    /// The other machine's copy of the folder is empty until it has said that it waits.
    @Test func invitation_thatArrivesLater_isWaitedFor() throws {
        try found()
        let run = try tool.shell(
            """
            mkdir copy && "$CTL" sync invite --name desktop > code || exit
            HOME="$HOME/desktop" "$CTL" sync join --folder copy --wait 600s --code-fd 3 3< code 2> told & other=$!
            until grep -q "Waiting for it" told; do kill -0 $other || exit; done
            while kill -0 $other 2> /dev/null; do
                cp -Rn shared/. copy; cp -Rn copy/. shared; "$CTL" sync now || exit
            done
            wait $other
            """)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try status(desktop("sync", "status", "--json"))["member"] as? Bool == true)
    }

    @Test func concurrentValue_isListedAndRestored() throws {
        try found()
        try join()
        #expect(try set("alice", "laptop").status == 0)
        #expect(
            try desktop("set", "--synchronizable", "-s", "s", "-a", "alice", input: Data("desktop".utf8)).status == 0)
        for _ in 0..<2 {
            #expect(try tool.run("sync", "now").status == 0)
            #expect(try desktop("sync", "now").status == 0)
        }
        let listed = try tool.run("sync", "conflicts", "--json")
        let versions = try #require(try JSONSerialization.jsonObject(with: listed.output) as? [[String: Any]])
        #expect(versions.compactMap { $0["state"] as? String } == ["shown", "concurrent"])
        #expect(versions.allSatisfy { $0["account"] as? String == "alice" })
        let other = try #require(versions[1]["id"] as? String)
        let before = try tool.get(service: "s", account: "alice")
        #expect(try tool.run("sync", "conflicts").text.contains(other))
        #expect(try tool.run("sync", "restore", other).status == 0)
        #expect(try tool.get(service: "s", account: "alice") != before)
        #expect(try tool.run("sync", "restore", "00000000").status == 3)
        #expect(try tool.run("sync", "history", "--json").text.contains("kept"))
        _ = try tool.run("sync", "now")
        _ = try desktop("sync", "now")
        #expect(try desktop("get", "-s", "s", "-a", "alice").output == tool.get(service: "s", account: "alice"))
    }

    @Test func recoveryKey_letsAMachineIn() throws {
        try found()
        #expect(try set("alice", "one").status == 0)
        let made = try tool.run("sync", "recovery-key")
        #expect(made.status == 0 && made.text.count == 70)
        func join(_ key: String) throws -> Tool.Run {
            try tool.shell(
                "HOME=\"$HOME/desktop\" \"$CTL\" sync join --folder shared --name desktop --ring-key-fd 0",
                input: Data(key.utf8))
        }
        #expect(try join("nonsense").errors.contains("mistyped"))
        #expect(try join(made.text).status == 0)
        #expect(try desktop("get", "-s", "s", "-a", "alice").text == "one")
        #expect(try status(tool.run("sync", "status", "--json"))["recoveryKey"] as? Bool == true)
    }

    @Test func recoveryKey_whileTheFolderIsGone_isPrintedAndNotCalledDone() throws {
        try found()
        try FileManager.default.moveItem(
            at: tool.home.appendingPathComponent("shared"), to: tool.home.appendingPathComponent("away"))
        let made = try tool.run("sync", "recovery-key")
        #expect(made.status == 13 && made.text.count == 70)
        try FileManager.default.moveItem(
            at: tool.home.appendingPathComponent("away"), to: tool.home.appendingPathComponent("shared"))
        #expect(try tool.run("sync", "now").status == 0)
        let run = try tool.shell(
            "HOME=\"$HOME/desktop\" \"$CTL\" sync join --folder shared --ring-key-fd 0", input: made.output)
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test func syncing_underAStrictUmask_leavesALockThatItsOwnerCanOpen() throws {
        try found()
        let run = try tool.shell(
            """
            cd .local/share/swift-keychain; rm sync.lock
            (umask 777; "$CTL" sync now > log 2>&1); stat -c %a sync.lock
            """)
        #expect(run.everything == "600\n")
    }

    @Test func repairedMachine_losesNothing() throws {
        try found()
        try join()
        #expect(try set("alice", "one").status == 0)
        #expect(try tool.run("sync", "repair").status == 0)
        #expect(try desktop("sync", "now").status == 0)
        #expect(try desktop("get", "-s", "s", "-a", "alice").text == "one")
    }

    @Test func machine_namedByTheIDInJSON_isRemoved() throws {
        try found()
        try join()
        let machines = try status(tool.run("sync", "status", "--json"))["machines"] as? [[String: Any]]
        let id = try #require(machines?.first { $0["name"] as? String == "desktop" }?["id"] as? String)
        let run = try tool.run("sync", "remove", id, "--yes")
        #expect(run.status == 0, "\(run.errors)")
        let left = try status(tool.run("sync", "status", "--json"))["machines"] as? [[String: Any]]
        #expect(left?.compactMap { $0["name"] as? String } == ["laptop"])
    }

    @Test func ring_isEnteredOnce() throws {
        try found()
        let run = try tool.run("sync", "init", "--folder", "shared")
        #expect(run.status != 0 && run.errors.contains("in a ring already"))
    }

    /// Otherwise it would look as if there were none, and it cannot be founded again.
    @Test(.enabled(if: Tool.hasMounts, "this system does not let a test make mounts of its own"))
    func ring_whoseEntryCannotBeWritten_isSaidToBeFounded() throws {
        let run = try tool.shellWithOwnMounts(
            """
            cd "$HOME"; mount --bind shared shared; mount -o remount,bind,ro shared
            if "$CTL" sync init --folder shared --name laptop; then exit 99; fi
            mount -o remount,bind,rw shared; "$CTL" sync now
            """)
        #expect(run.status == 0 && run.errors.contains("The ring is founded on this machine"), "\(run.everything)")
    }
}
