// SPDX-License-Identifier: Apache-2.0
// The remote control and its widget as processes of their own, with the entitlements of the guide beside them.

#if LGTVControl && os(Linux)
    import Foundation
    import Testing

    @Suite("Programs", .timeLimit(.minutes(60)))
    struct ProgramTests {
        private let folder: InstallationFolder
        private let remote: InstalledProgram
        private let widget: InstalledProgram

        init() throws {
            folder = try InstallationFolder()
            remote = try folder.install("lgtv-remote")
            widget = try folder.install("lgtv-widget")
        }

        /// Where the simulator is, so that nothing leaves this machine.
        private func place(of tv: TVSimulator, timeout: Int = 600) -> [String] {
            // Long, so that a machine with other work never makes a try fail that would succeed.
            let ports = ["--tls-port", "\(tv.port)", "--port", "\(deafPort)"]
            return ports + ["--broadcast", "127.0.0.1", "--timeout", "\(timeout)"]
        }

        private func pair(_ tv: TVSimulator, timeout: Int = 600) async throws -> InstalledProgram.Result {
            try await remote.run(["pair", "--ip", "127.0.0.1", "--mac", mac] + place(of: tv, timeout: timeout))
        }

        private func volume(_ tv: TVSimulator, _ words: String...) async throws -> InstalledProgram.Result {
            try await remote.run(["volume"] + words + place(of: tv))
        }

        @Test func widget_withoutCredentials_saysSetupRequired() async throws {
            let result = try await widget.run()
            #expect(result.status == 0)
            #expect(result.output == "Setup Required\n")
        }

        @Test func widget_readsWhatTheRemoteHasPaired() async throws {
            let tv = try await TVSimulator(.prompts)
            let accepting = Task {
                while !tv.isAsking { try await Task.sleep(for: .milliseconds(10)) }
                tv.accept()
            }
            let paired = try await pair(tv)
            try await accepting.value
            #expect(paired.output == "Accept the request on the TV.\nPaired with the TV at 127.0.0.1.\n")
            #expect(paired.status == 0, "\(paired.complaint)")
            #expect(try await widget.run().output == "127.0.0.1: connected\n")
        }

        @Test func remote_thatNobodyAnswersWithinItsTimeout_saysSo() async throws {
            let result = try await pair(try await TVSimulator(.prompts), timeout: 1)
            #expect(result.status == 1)
            #expect(result.complaint.contains("in time"))
        }

        @Test func remote_thatHasPaired_controlsTheTVWithoutAsking() async throws {
            let tv = try await TVSimulator()
            #expect(try await pair(tv).status == 0)
            tv.setManners(.refuses("500 nobody is to be asked"))
            #expect(try await volume(tv, "up").status == 0)
            #expect(tv.volume == 8)
            #expect(try await volume(tv, "set", "30").status == 0)
            #expect(try await volume(tv, "down").status == 0)
            #expect(try await volume(tv, "mute").status == 0)
            #expect(tv.volume == 29)
            let status = try await remote.run(["status"] + place(of: tv))
            #expect(status.output == "Connected to the TV at 127.0.0.1. Volume: 29\n")
        }

        @Test func programs_neverShowTheKey() async throws {
            let tv = try await TVSimulator()
            let shown = [
                try await pair(tv), try await volume(tv, "up"), try await widget.run(), try await remote.run("forget"),
            ]
            for result in shown { #expect(!(result.output + result.complaint).contains("key-of-the-simulator")) }
        }

        @Test func program_withAnotherGroup_doesNotSeeTheCredentials() async throws {
            let other = try folder.install("lgtv-widget", as: "other-widget") {
                $0.replacingOccurrences(of: "$(AppIdentifierPrefix)com.Dara", with: "$(AppIdentifierPrefix)com.Other")
            }
            let tv = try await TVSimulator()
            #expect(try await pair(tv).status == 0)
            #expect(try await other.run().output == "Setup Required\n")
            #expect(try await widget.run().output == "127.0.0.1: connected\n")
        }

        @Test func program_withoutTeam_isToldSoAndDoesNotSaySetupRequired() async throws {
            let result = try await widget.run(team: nil)
            #expect(result.status == 1)
            #expect(result.output.isEmpty)
            #expect(result.complaint.contains("KEYCHAIN_TEAM_ID"))
        }

        @Test func program_withoutGroups_isToldTheMissingEntitlement() async throws {
            let other = try folder.install("lgtv-widget", as: "groupless-widget") { _ in
                #"<plist version="1.0"><dict><key>keychain-access-groups</key><array/></dict></plist>"#
            }
            let result = try await other.run()
            #expect(result.status == 1)
            #expect(result.complaint.contains("access group"))
        }

        @Test func forgetting_makesTheWidgetAskForSetup() async throws {
            let tv = try await TVSimulator()
            #expect(try await pair(tv).status == 0)
            #expect(try await remote.run("forget").output == "The TV is forgotten.\n")
            #expect(try await widget.run().output == "Setup Required\n")
        }

        @Test func remote_thatIsDeclined_saysSoAndStoresNothing() async throws {
            let tv = try await TVSimulator(.refuses("403 User denied access"))
            let result = try await pair(tv)
            #expect(result.status == 1)
            #expect(result.complaint.contains("declined"))
            #expect(try await widget.run().output == "Setup Required\n")
        }

        @Test func remote_withoutPairing_saysWhatToDo() async throws {
            let result = try await remote.run("status")
            #expect(result.status == 1)
            #expect(result.complaint.contains("lgtv-remote pair"))
        }

        @Test(arguments: [
            ["pair", "--ip", "127.0.0.1"], ["volume", "set", "101"], ["volume", "sideways"],
            ["status", "--tls-port", "70000"], ["status", "--timeout", "0"], ["dance"],
        ])
        func remote_withAMistakeInItsArguments_endsWithTheUsage(arguments: [String]) async throws {
            let result = try await remote.run(arguments)
            #expect(result.status == 64)
            #expect(result.complaint.contains("Usage:"))
        }
    }
#endif
