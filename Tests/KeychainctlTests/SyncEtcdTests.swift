// SPDX-License-Identifier: Apache-2.0
// `sync --etcd`: the options, and two homes over one etcd.

import Foundation
import KeychainTestSupport
import Testing

@Suite("sync over etcd")
struct SyncEtcdTests {
    private let tool: Tool

    init() throws { tool = try Tool(Tool.withAllTraits) }

    @Test(arguments: [
        "", "--folder . --etcd http://127.0.0.1:1", "--folder . --etcd-ca ca.pem", "--folder . --etcd-allow-http",
        "--etcd http://127.0.0.1:1 --etcd-user laptop", "--etcd http://127.0.0.1:1 --etcd-password-fd 3",
        "--etcd http://127.0.0.1:1 --etcd-user laptop --etcd-password-fd x",
    ])
    func options_thatDoNotGoTogether_areUsage(_ options: String) throws {
        let run = try tool.shell("\"$CTL\" sync init \(options)")
        #expect(run.status == 64, "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: tool.database.path))
    }

    #if Etcd
        @Test(arguments: [
            "--etcd http://192.0.2.1:2379", "--etcd ftp://127.0.0.1",
            "--etcd http://127.0.0.1:1 --etcd-cert /etc/passwd",
            "--etcd https://user:hunter2@127.0.0.1:1", "--etcd http://127.0.0.1:1 --etcd-prefix team",
            "--etcd https://127.0.0.1:1 --etcd-ca /etc/passwd",
        ])
        func place_thatIsWrong_isSaidAndNothingIsMade(_ options: String) throws {
            let run = try tool.shell("\"$CTL\" sync init \(options)")
            #expect(run.status == 64, "\(run.errors)")
            #expect(!run.errors.contains("hunter2"))
            #expect(!FileManager.default.fileExists(atPath: tool.database.path))
        }

        @Test func nobodyThere_isUnavailable() throws {
            let run = try tool.run("sync", "init", "--etcd", "http://127.0.0.1:1")
            #expect(run.status == 13)
            #expect(run.errors.contains("http://127.0.0.1:1"))
        }

        private static let isInstalled = Programs.installed("etcd") != nil && Programs.installed("etcdctl") != nil

        /// Runs a script beside an etcd whose address is in `$ETCD`. If another process takes a port before etcd does, other ports are
        /// tried.
        private func shellBesideEtcd(_ script: String) throws -> Tool.Run {
            for _ in 0..<3 {
                let run = try shellBesideEtcd(script, try freePorts(2))
                guard run.status == 75 else { return run }
            }
            return try shellBesideEtcd(script, try freePorts(2))
        }

        private func shellBesideEtcd(_ script: String, _ ports: [Int]) throws -> Tool.Run {
            let (client, peer) = (ports[0], ports[1])
            return try tool.shell(
                """
                export ETCD=http://127.0.0.1:\(client) ETCDCTL_API=3; rm -rf etcd; mkdir -p desktop
                etcd --data-dir "$HOME/etcd" --listen-client-urls $ETCD --advertise-client-urls $ETCD \
                  --listen-peer-urls http://127.0.0.1:\(peer) --initial-advertise-peer-urls http://127.0.0.1:\(peer) \
                  --initial-cluster default=http://127.0.0.1:\(peer) --log-level error > etcd.log 2>&1 & etcd=$!
                trap 'kill -9 $etcd' EXIT
                until etcdctl --endpoints $ETCD --command-timeout=1s endpoint health > /dev/null 2>&1; do
                  kill -0 $etcd || { cat etcd.log >&2; \(portIsTaken("etcd.log")) && exit 75; exit 99; }
                done
                \(insistentSyncNow)
                \(script)
                """)
        }

        @Test(.enabled(if: isInstalled, "etcd or etcdctl is not installed"))
        func timer_ofARingInEtcd_hasNoPathUnit() throws {
            let run = try shellBesideEtcd(
                """
                "$CTL" sync init --etcd $ETCD --name laptop 2> log && "$CTL" sync install-unit --timer && ls .config/systemd/user
                """)
            #expect(run.status == 0 && run.errors.contains("no path unit"), "\(run.errors)")
            #expect(run.text == "swift-keychain-sync-now.service\nswift-keychain-sync-now.timer\n")
        }

        @Test(.enabled(if: isInstalled, "etcd or etcdctl is not installed"))
        func itemOfOneMachine_overEtcd_isReadOnTheOther_andNoPasswordIsShown() throws {
            let run = try shellBesideEtcd(
                """
                printf hunter2 > password
                PLACE="--etcd $ETCD --etcd-user laptop --etcd-password-fd 4"
                "$CTL" sync init $PLACE --name laptop 4< password || exit 11
                printf one | "$CTL" set --synchronizable -s s -a alice || exit 12
                "$CTL" sync invite --name desktop > code || exit 13
                HOME="$HOME/desktop" "$CTL" sync join $PLACE --wait 600s --code-fd 3 3< code 4< password & other=$!
                while kill -0 $other 2> /dev/null; do now || exit 14; done
                wait $other || exit 15
                HOME="$HOME/desktop" "$CTL" get -s s -a alice || exit 16
                "$CTL" sync status && "$CTL" sync status --json
                """)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.text.hasPrefix("one"))
            #expect(run.text.contains("in etcd:http://127.0.0.1:"))
            #expect(run.text.contains("\"place\":\"etcd:http:"))
            #expect(!run.text.contains("hunter2") && !run.errors.contains("hunter2"))
        }

        @Test(.enabled(if: isInstalled, "etcd or etcdctl is not installed"))
        func valueThatIsConfirmed_isOnTheOtherMachine_andOfflineItFailsAndStaysHere() throws {
            let run = try shellBesideEtcd(
                """
                "$CTL" sync init --etcd $ETCD --name laptop || exit 11
                "$CTL" sync invite --name desktop > code || exit 13
                HOME="$HOME/desktop" "$CTL" sync join --etcd $ETCD --wait 600s --code-fd 3 3< code & other=$!
                while kill -0 $other 2> /dev/null; do now || exit 14; done
                wait $other || exit 15
                printf one | "$CTL" set --synchronizable -s s -a alice --confirmed 10m || exit 16
                HOME="$HOME/desktop" now || exit 17
                HOME="$HOME/desktop" "$CTL" get -s s -a alice || exit 18
                HOME="$HOME/desktop" "$CTL" delete -s s -a alice --confirmed 10m || exit 19
                now && "$CTL" get -s s -a alice; [ $? = 3 ] || exit 20
                kill -9 $etcd; wait $etcd
                printf two | "$CTL" set --synchronizable -s s -a bob --confirmed 10m; [ $? = 13 ] || exit 21
                "$CTL" get -s s -a bob || exit 22
                """)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.text.contains("one") && run.text.hasSuffix("two"))
            #expect(run.errors.contains("kept on this machine, not confirmed"))
        }
    #endif

    @Test(arguments: [
        "set -s s -a a --confirmed 5s", "set -s s -a a --no-synchronizable --confirmed 5s",
        "set -s s -a a --synchronizable --confirmed soon",
        "set -s s -a a --synchronizable --keep-value --label l --confirmed 5s", "delete -s s --all --confirmed 5s",
    ])
    func confirmation_ofWhatCannotBeConfirmed_isAWrongUse(_ words: String) throws {
        let run = try tool.shell("printf v | \"$CTL\" \(words)")
        #expect(run.status == 64, "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: tool.database.path))
    }

    @Test func confirmation_inNoRing_failsAndStoresNothing() throws {
        #expect(try tool.run("set", "-s", "s", "-a", "other", input: Data("v".utf8)).status == 0)
        let run = try tool.run(
            "set", "-s", "s", "-a", "a", "--synchronizable", "--confirmed", "5s", input: Data("v".utf8))
        #expect(run.status == 13, "\(run.errors)")
        #expect(try tool.run("get", "-s", "s", "-a", "a").status == 3)
    }
}
