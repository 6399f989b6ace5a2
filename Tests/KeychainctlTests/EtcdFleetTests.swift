// SPDX-License-Identifier: Apache-2.0
// Examples/EtcdFleet: three nodes with certificates and users, started by its script, and two machines over them.

#if Etcd
    import Foundation
    import KeychainTestSupport
    import Testing

    @Suite("an etcd for a fleet", .enabled(if: EtcdFleet.isInstalled, EtcdFleet.requirement))
    final class EtcdFleetTests {
        private let tool: Tool

        init() throws {
            tool = try Tool(Tool.withAllTraits)
            try succeed("mkdir web2")
            try start()
            try succeed("fleet machine fleet web1 && fleet machine fleet web2")
        }

        /// Another process may take a port before a node does. Other ports are tried then.
        private func start() throws {
            for _ in 0..<3 {
                let run = try shell("fleet start fleet || { \(portIsTaken("fleet/n?.log")) && exit 75; exit 1; }")
                guard run.status == 75 else { return try check(run) }
                try succeed("fleet stop fleet && rm -r fleet")
            }
            try succeed("fleet start fleet")
        }

        deinit {
            do { try succeed("fleet stop fleet") } catch { print("Nodes of etcd may still run: \(error)") }
        }

        /// Runs a script in which `fleet` is the example's, and `web2` runs a command on the other machine.
        private func shell(_ script: String) throws -> Tool.Run {
            let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let example = tests.deletingLastPathComponent().appendingPathComponent("Examples/EtcdFleet/fleet.sh").path
            let ports = try freePorts(6).map(String.init).joined(separator: " ")
            return try tool.shell(
                """
                export FLEET_PORTS='\(ports)'
                fleet() { '\(example)' "$@"; }
                web2() { HOME="$HOME/web2" "$@"; }
                \(insistentSyncNow)
                etcdctl_as() {
                  export ETCDCTL_API=3 ETCDCTL_USER="$1"; shift
                  etcdctl --dial-timeout=600s --command-timeout=600s --cacert fleet/ca.pem --cert fleet/web1.pem --key fleet/web1.key \
                    --endpoints "$(fleet options fleet web1 | cut -d ' ' -f 2 | cut -d , -f 1)" "$@" 2>&1
                }
                \(script)
                """)
        }

        @discardableResult
        private func succeed(_ script: String) throws -> String {
            let run = try shell(script)
            try check(run)
            return run.text
        }

        private func check(_ run: Tool.Run) throws {
            guard run.status == 0 else { throw Failure(description: "status \(run.status): \(run.everything)") }
        }

        struct Failure: Error, CustomStringConvertible { let description: String }

        private func makeRing() throws {
            try succeed(
                """
                eval '"$CTL"' sync init --name web1 "$(fleet options fleet web1)" && "$CTL" sync invite --name web2 > code || exit
                options=$(fleet options fleet web2)
                eval web2 '"$CTL"' sync join --wait 600s --code-fd 4 "$options" '4< code' & other=$!
                while kill -0 $other 2> /dev/null; do now || exit; done
                wait $other
                """)
        }

        private func save(_ name: String) throws {
            try succeed("printf %s '\(name)' | \"$CTL\" set --synchronizable -s s -a '\(name)' && now")
        }

        private func valueOnTheOther(_ name: String) throws -> String {
            try succeed("web2 now && web2 \"$CTL\" get -s s -a '\(name)'")
        }

        @Test func machines_overTheFleet_exchange_alsoWithoutANodeAndAfterARestoration() throws {
            try makeRing()
            try save("first")
            #expect(try valueOnTheOther("first") == "first")
            try succeed("fleet save fleet backup.db && fleet stop fleet n1")
            try save("without a node")
            #expect(try valueOnTheOther("without a node") == "without a node")
            try save("after the backup")
            try succeed("fleet start fleet && fleet etcdctl fleet put /other later && fleet restore fleet backup.db")
            #expect(try succeed("fleet etcdctl fleet get /other").isEmpty)
            try succeed("now")
            #expect(try valueOnTheOther("after the backup") == "after the backup")
        }

        @Test func administrator_seesKeysBelowThePrefixOnly_andNoSecretInThem() throws {
            try makeRing()
            try save("correct horse")
            let keys = try succeed("fleet etcdctl fleet get --prefix --keys-only ''").split(separator: "\n")
            #expect(keys.count > 3 && keys.allSatisfy { $0.hasPrefix("/web/skc1/") })
            let everything = try succeed("fleet etcdctl fleet get --prefix ''  | tr -d '\\0'")
            #expect(!everything.contains("correct horse"))
        }

        @Test func machine_readsItsPrefixOnly_andNothingWithoutItsPasswordOrCertificate() throws {
            let web = "\"web:$(cat fleet/web.password)\""
            #expect(try shell("etcdctl_as \(web) get /web/x").status == 0)
            for question in ["get /other", "get /", "snapshot save copy.db", "user list"] {
                let run = try shell("etcdctl_as \(web) \(question)")
                #expect(run.status != 0 && run.text.contains("permission denied"), "\(question): \(run.text)")
            }
            let wrong = try shell("etcdctl_as web:wrong get /web/x")
            #expect(wrong.status != 0 && wrong.text.contains("authentication failed"))
            let options = "$(fleet options fleet web1 | sed 's/--etcd-cert [^ ]* --etcd-key [^ ]*//')"
            #expect(try shell("eval '\"$CTL\"' sync init --name web1 \"\(options)\"").status == 13)
        }

        @Test func start_again_changesNothing_andTwoAtOnceDoNotMix() throws {
            let before = try succeed("cat fleet/*.pem fleet/*.pid fleet/web.password")
            #expect(try succeed("fleet start fleet").contains("Three nodes are ready"))
            #expect(try succeed("cat fleet/*.pem fleet/*.pid fleet/web.password") == before)
            let run = try shell("exec 8> fleet/lock && flock 8 && fleet restore fleet backup.db 8>&-")
            #expect(run.status == 1 && run.errors.contains("Another fleet.sh works"))
        }

        @Test func snapshot_thatIsNone_isRefusedAndNothingIsChanged() throws {
            try succeed("fleet etcdctl fleet put /web/x kept")
            let run = try shell("echo none > backup.db; fleet restore fleet backup.db")
            #expect(run.status == 1 && run.errors.contains("nothing was changed"))
            #expect(try succeed("fleet etcdctl fleet get --print-value-only /web/x") == "kept\n")
        }

        @Test func machine_ofANameThatIsTaken_isRefused() throws {
            for name in ["admin", "n1", "ca", "../x", "web1", ""] {
                let run = try shell("fleet machine fleet '\(name)'")
                #expect(run.status == 1 && !run.errors.isEmpty, "\(name)")
            }
            #expect(try succeed("fleet etcdctl fleet user list").contains("root"))
        }
    }

    private enum EtcdFleet {
        static let isInstalled = ["etcd", "etcdctl", "openssl", "flock"].allSatisfy { Programs.installed($0) != nil }
        static let requirement: Comment = "needs etcd, etcdctl, openssl and flock"
    }
#endif
