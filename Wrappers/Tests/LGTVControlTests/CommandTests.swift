// SPDX-License-Identifier: Apache-2.0
// Commands to a connected television, and what happens when it is no longer there.

#if LGTVControl
    import Foundation
    import KeychainKit
    @testable import LGTVControl
    import Testing
    import WrapperStores

    @Suite("Commands", .timeLimit(.minutes(60)))
    struct CommandTests {
        struct Volume: Decodable, Equatable {
            let volume: Int
        }

        private func connected(
            _ change: (inout LGTVControlManager.Options) -> Void = { _ in }
        ) async throws -> (TVSimulator, Household) {
            let tv = try await TVSimulator()
            let household = Household(tv, change)
            try await household.connect()
            return (tv, household)
        }

        /// The deadline of this one command has passed when it is sent. All others have the time that a busy machine needs.
        private func leaveACommandUnanswered(_ tv: TVSimulator, _ household: Household) async throws {
            let connection = try #require(household.manager.session.with { $0.link }?.connection)
            tv.answer("ssap://silence", with: [])
            #expect(await reason { try await connection.ask("ssap://silence", nil, by: .now) } == .timedOut)
        }

        @Test func command_withParameters_reachesTheTV() async throws {
            let (tv, household) = try await connected()
            try await household.manager.sendCommand("ssap://audio/setVolume", parameters: ["volume": 12])
            try await household.manager.sendCommand("ssap://audio/volumeUp")
            #expect(tv.volume == 13)
        }

        @Test func request_returnsThePayload() async throws {
            let (_, household) = try await connected()
            let volume = try await household.manager.request("ssap://audio/getVolume", returning: Volume.self)
            #expect(volume == Volume(volume: 7))
        }

        @Test func request_answeredWithAnotherType_isAnInvalidResponse() async throws {
            let (_, household) = try await connected()
            let manager = household.manager
            let reason = await reason { try await manager.request("ssap://audio/getVolume", returning: [String].self) }
            #expect(reason == .invalidResponse)
        }

        @Test func command_withoutConnection_isNotConnected() async throws {
            let household = Household(tlsPort: nil)
            await #expect(throws: LGTVControlManager.ControlError.notConnected) {
                try await household.manager.sendCommand("ssap://audio/volumeUp")
            }
        }

        @Test(arguments: [
            #"{"type":"error","id":"ID","error":"404 no such\u001bservice"}"#,
            #"{"type":"response","id":"ID","payload":{"returnValue":false,"errorText":"404 no such\u001bservice"}}"#,
        ])
        func command_thatIsRefused_saysWhatTheTVSays(answer: String) async throws {
            let (tv, household) = try await connected()
            tv.answer("ssap://nothing", with: [.text(answer)])
            let error = await failure { try await household.manager.sendCommand("ssap://nothing") } as? ConnectionError
            #expect(error?.reason == .refused)
            #expect(error?.message.hasSuffix(#"It says: 404 no such\u{1b}service"#) == true)
            #expect(household.manager.getConnectionStatus() == .connected)
        }

        @Test func command_withoutAnswer_endsInTime() async throws {
            // Long, because connecting has this timeout as well.
            let (tv, household) = try await connected { $0.requestTimeout = .seconds(20) }
            tv.answer("ssap://silence", with: [])
            #expect(await reason { try await household.manager.sendCommand("ssap://silence") } == .timedOut)
        }

        @Test func parameters_thatAreNoJSON_areRefused() async throws {
            let (_, household) = try await connected()
            let reason = await reason {
                try await household.manager.sendCommand("ssap://audio/setVolume", parameters: ["volume": Date()])
            }
            #expect(reason == .invalidParameter)
        }

        @Test func answers_inAnotherOrder_reachWhoAsked() async throws {
            let (tv, household) = try await connected()
            tv.answer("ssap://slow", with: [])
            let manager = household.manager
            async let slow: Volume = manager.request("ssap://slow", returning: Volume.self)
            while tv.heard.allSatisfy({ !$0.contains("ssap://slow") }), !Task.isCancelled { await Task.yield() }
            #expect(try await manager.request("ssap://audio/getVolume", returning: Volume.self) == Volume(volume: 7))
            tv.sendToEverybody([.text(#"{"type":"response","id":"request_2","payload":{"volume":99}}"#)])
            #expect(try await slow == Volume(volume: 99))
        }

        // MARK: - Ends

        @Test func lostConnection_failsWhatIsPendingAndIsSeen() async throws {
            let (tv, household) = try await connected()
            tv.answer("ssap://drop", with: [.drop])
            #expect(await reason { try await household.manager.sendCommand("ssap://drop") } == .connectionLost)
            await household.manager.reaches(.disconnected)
            await #expect(throws: LGTVControlManager.ControlError.notConnected) {
                try await household.manager.sendCommand("ssap://audio/volumeUp")
            }
        }

        @Test func lostConnection_isReplacedByTheNextConnect() async throws {
            let (tv, household) = try await connected()
            tv.dropEverybody()
            await household.manager.reaches(.disconnected)
            try await household.connect()
            try await household.manager.sendCommand("ssap://audio/volumeUp")
            #expect(tv.connectionCount == 2)
        }

        @Test func garbage_betweenCommands_endsTheConnection() async throws {
            let (tv, household) = try await connected()
            tv.sendToEverybody([.brokenText])
            await household.manager.reaches(.disconnected)
        }

        @Test func disconnect_endsTheConnectionAndWhatIsPending() async throws {
            let (tv, household) = try await connected()
            tv.answer("ssap://silence", with: [])
            let pending = Task { try await household.manager.sendCommand("ssap://silence") }
            while tv.heard.allSatisfy({ !$0.contains("ssap://silence") }), !Task.isCancelled { await Task.yield() }
            household.manager.disconnect()
            #expect(await reason { try await pending.value } == .connectionLost)
            #expect(household.manager.getConnectionStatus() == .disconnected)
        }

        @Test func connectedTV_connectedToAgain_isAlreadyThere() async throws {
            let (tv, household) = try await connected()
            try await household.connect()
            #expect(tv.connectionCount == 1)
        }

        /// One that is switched off at the wall says no goodbye, and its connection looks open for a quarter of an hour.
        @Test func tv_thatLeftTheLastCommandUnanswered_isConnectedToAgain() async throws {
            let (tv, household) = try await connected()
            try await leaveACommandUnanswered(tv, household)
            try await household.connect()
            #expect(tv.connectionCount == 2)
        }

        @Test func tv_thatAnsweredAgain_staysConnected() async throws {
            let (tv, household) = try await connected()
            try await leaveACommandUnanswered(tv, household)
            try await household.manager.sendCommand("ssap://audio/volumeUp")
            try await household.connect()
            #expect(tv.connectionCount == 1)
        }
    }
#endif
