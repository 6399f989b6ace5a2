// SPDX-License-Identifier: Apache-2.0
// Waking, waiting, cancelling, and several calls at once.

#if LGTVControl
    import Foundation
    import KeychainKit
    import LGTVControl
    import Testing
    import WrapperStores

    @Suite("Connecting", .timeLimit(.minutes(60)))
    struct ConnectingTests {
        private static let packet =
            [UInt8](repeating: 0xFF, count: 6)
            + Array(repeating: [0x02, 0x00, 0x5E, 0x10, 0x00, 0x01], count: 16).joined()

        // MARK: - Waking

        @Test func wakeTV_sendsTheMagicPacket() async throws {
            let receiver = try await PacketReceiver()
            let household = Household(tlsPort: nil) { $0.wakePort = receiver.port }
            try await household.manager.wakeTV(mac: "02-00-5e-10-00-01")
            var packets = receiver.packets.makeAsyncIterator()
            #expect(await packets.next() == Self.packet)
        }

        @Test func wakeTV_withAnAddress_sendsThePacketThereAsWell() async throws {
            let receiver = try await PacketReceiver()
            let household = Household(tlsPort: nil) {
                // That address cannot be reached, which does not prevent sending the packet to the other address.
                ($0.broadcastAddress, $0.wakePort) = ("::1", receiver.port)
            }
            try await household.manager.wakeTV(mac: mac, ip: "127.0.0.1")
            var packets = receiver.packets.makeAsyncIterator()
            #expect(await packets.next() == Self.packet)
        }

        @Test func wakeTV_withAnAddressThatIsNone_saysSo() async throws {
            let household = Household(tlsPort: nil) { $0.broadcastAddress = "nowhere" }
            let error = await failure { try await household.manager.wakeTV(mac: mac) }
            guard case .sendFailed = error as? WakeOnLANError else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
        }

        @Test func wakeTV_withoutMACAddress_isRefused() async throws {
            let household = Household(tlsPort: nil)
            await #expect(throws: WakeOnLANError.invalidMAC) { try await household.manager.wakeTV(mac: "TV") }
        }

        @Test func tv_thatIsOff_isWokenAndConnectedToWhenItListens() async throws {
            let receiver = try await PacketReceiver()
            // A port that is not in use, until the television wakes and takes it.
            let port = try await OddServer.unusedPort()
            let household = Household(tlsPort: port) {
                ($0.wakePort, $0.connectTimeout) = (receiver.port, .seconds(600))
            }
            let connecting = Task { try await household.connect() }
            var packets = receiver.packets.makeAsyncIterator()
            #expect(await packets.next() == Self.packet)
            let tv = try await TVSimulator(port: port)
            #expect(try await connecting.value == nil)
            #expect(tv.shownKeys == [nil])
        }

        // MARK: - Status

        @Test func status_isObservedFromTheBeginning() async throws {
            let tv = try await TVSimulator(.prompts)
            let household = Household(tv)
            var updates = household.manager.statusUpdates.makeAsyncIterator()
            #expect(await updates.next() == .disconnected)
            let connecting = Task { try await household.connect() }
            #expect(await updates.next() == .connecting)
            #expect(await updates.next() == .pairingRequired(code: nil))
            tv.accept()
            #expect(await updates.next() == .connected)
            _ = try await connecting.value
            household.manager.disconnect()
            #expect(await updates.next() == .disconnected)
        }

        // MARK: - Cancelling

        @Test func cancelledTask_endsWaitingForAPerson() async throws {
            let household = Household(try await TVSimulator(.prompts))
            let connecting = Task { try await household.connect() }
            await household.manager.reaches(.pairingRequired(code: nil))
            connecting.cancel()
            #expect(await failure { try await connecting.value } is CancellationError)
            #expect(household.manager.getConnectionStatus() == .disconnected)
        }

        @Test func cancelledTask_endsTryingToConnect() async throws {
            let household = Household(tlsPort: nil) { $0.connectTimeout = .seconds(600) }
            let connecting = Task { try await household.connect() }
            await household.manager.reaches(.connecting)
            connecting.cancel()
            #expect(await failure { try await connecting.value } is CancellationError)
        }

        @Test func disconnect_endsWaitingForAPerson() async throws {
            let household = Household(try await TVSimulator(.prompts))
            let connecting = Task { try await household.connect() }
            await household.manager.reaches(.pairingRequired(code: nil))
            household.manager.disconnect()
            await #expect(throws: LGTVControlManager.ControlError.notConnected) { try await connecting.value }
            #expect(household.manager.getConnectionStatus() == .disconnected)
        }

        @Test func manager_thatGoesAway_closesItsConnection() async throws {
            let tv = try await TVSimulator()
            var household: Household? = Household(tv)
            let updates = household?.manager.statusUpdates
            try await household?.connect()
            household = nil
            var last: ConnectionStatus?
            for await update in try #require(updates) { last = update }
            #expect(last == .connected)
        }

        // MARK: - Several calls

        @Test func twoCallsAtOnce_askOnceAndBothConnect() async throws {
            let tv = try await TVSimulator(.prompts)
            let household = Household(tv)
            let first = Task { try await household.connect() }
            let second = Task { try await household.connect() }
            await household.manager.reaches(.pairingRequired(code: nil))
            tv.accept()
            #expect(try await first.value == nil)
            #expect(try await second.value == nil)
            #expect(tv.connectionCount == 1)
        }

        @Test func cancelledCall_inTheQueue_leavesTheOthers() async throws {
            let tv = try await TVSimulator(.prompts)
            let household = Household(tv)
            let first = Task { try await household.connect() }
            await household.manager.reaches(.pairingRequired(code: nil))
            let second = Task { try await household.connect() }
            second.cancel()
            #expect(await failure { try await second.value } is CancellationError)
            tv.accept()
            #expect(try await first.value == nil)
            #expect(household.manager.getConnectionStatus() == .connected)
        }

        @Test func manyCallsAtOnce_toSeveralManagers_doNotMix() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...8 {
                    group.addTask {
                        let tv = try await TVSimulator()
                        let household = Household(tv)
                        try await household.connect()
                        for _ in 1...5 { try await household.manager.sendCommand("ssap://audio/volumeUp") }
                        #expect(tv.volume == 12)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
#endif
