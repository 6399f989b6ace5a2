// SPDX-License-Identifier: Apache-2.0
// How a television gets to know this program, and knows it again.

#if LGTVControl
    import Foundation
    import KeychainKit
    import LGTVControl
    import Testing
    import WrapperStores

    @Suite("Pairing", .timeLimit(.minutes(60)))
    struct PairingTests {
        @Test func newTV_connectedTo_asksAndThenItsKeyIsStored() async throws {
            let tv = try await TVSimulator(.prompts)
            let household = Household(tv)
            async let code = household.connect()
            await household.manager.reaches(.pairingRequired(code: nil))
            #expect(try household.storedKey == nil)
            tv.accept()
            #expect(try await code == nil)
            #expect(household.manager.getConnectionStatus() == .connected)
            #expect(
                try household.manager.storedCredentials()
                    == TVCredentials(ipAddress: "127.0.0.1", macAddress: mac, clientKey: "key-of-the-simulator-1"))
        }

        @Test func pairedTV_connectedToAgain_asksNobody() async throws {
            let tv = try await TVSimulator()
            let household = Household(tv)
            try await household.connect()
            tv.setManners(.refuses("500 nobody is to be asked"))
            let later = household.restarted(tls: tv)
            try await later.connect(ip: "127.0.0.1", mac: mac)
            #expect(later.getConnectionStatus() == .connected)
            #expect(tv.shownKeys == [nil, "key-of-the-simulator-1"])
        }

        @Test(arguments: [TVSimulator.Manners.acceptsAtOnce, .refusesKeys])
        func revokedKey_leadsToANewPairing(manners: TVSimulator.Manners) async throws {
            let tv = try await TVSimulator()
            let household = Household(tv)
            try await household.connect()
            tv.forgetKeys()
            tv.setManners(manners)
            let later = household.restarted(tls: tv)
            async let connected: String? = later.connect(ip: "127.0.0.1", mac: mac)
            if case .refusesKeys = manners {
                await later.reaches(.pairingRequired(code: nil))
                #expect(try household.storedKey == "key-of-the-simulator-1")
                tv.accept()
            }
            #expect(try await connected == nil)
            #expect(try household.storedKey == "key-of-the-simulator-2")
        }

        @Test func revokedKey_withNobodyWhoAccepts_isKept() async throws {
            let tv = try await TVSimulator()
            let household = Household(tv)
            try await household.connect()
            tv.forgetKeys()
            tv.setManners(.refuses("403 no"))
            let later = household.restarted(tls: tv)
            await #expect(throws: LGTVControlManager.ControlError.pairingFailed) {
                try await later.connect(ip: "127.0.0.1", mac: mac)
            }
            #expect(try household.storedKey == "key-of-the-simulator-1")
        }

        @Test func person_whoDeclines_isAFailedPairing() async throws {
            let tv = try await TVSimulator(.prompts)
            let household = Household(tv)
            let connecting = Task { try await household.connect() }
            await household.manager.reaches(.pairingRequired(code: nil))
            tv.decline()
            await #expect(throws: LGTVControlManager.ControlError.pairingFailed) { try await connecting.value }
            guard case .error(let message) = household.manager.getConnectionStatus() else {
                return #expect(Bool(false), "the status is no error")
            }
            #expect(message.contains("403 User denied access"))
            #expect(try household.storedKey == nil)
        }

        @Test func tv_thatRefusesWithControlCharacters_isQuotedWithoutThem() async throws {
            let words = "403 \u{1B}[2J\u{202E}" + String(repeating: "x", count: 100_000)
            let household = Household(try await TVSimulator(.refuses(words)))
            #expect(await failure { try await household.connect() } != nil)
            guard case .error(let message) = household.manager.getConnectionStatus() else {
                return #expect(Bool(false), "the status is no error")
            }
            #expect(message.contains(#"403 \u{1b}[2J\u{202e}x"#))
            #expect(message.count < 400)
        }

        @Test func key_thatTheTVRepeats_isInNoErrorAndNoStatus() async throws {
            let tv = try await TVSimulator()
            let household = Household(tv)
            try await household.connect()
            tv.forgetKeys()
            tv.setManners(
                .misbehaves([.text(#"{"type":"error","id":"ID","error":"no key-of-the-simulator-1 here"}"#)]))
            let later = household.restarted(tls: tv)
            let error = await failure { try await later.connect(ip: "127.0.0.1", mac: mac) }
            let shown =
                "\(String(describing: error)) \(error?.localizedDescription ?? "") \(later.getConnectionStatus())"
            #expect(tv.shownKeys == [nil, "key-of-the-simulator-1", nil])
            #expect(!shown.contains("key-of-the-simulator-1"))
        }

        @Test func longKey_thatTheTVRepeats_isNotShownInPart() async throws {
            let key = String((0..<10_000).map { _ in "0123456789abcdef".randomElement() ?? "0" })
            let tv = try await TVSimulator(
                .misbehaves([.text(#"{"type":"error","id":"ID","error":"\#(key)"}"#)]))
            let household = Household(tv)
            household.manager.saveCredentials(TVCredentials(ipAddress: "127.0.0.1", macAddress: mac, clientKey: key))
            #expect(await failure { try await household.connect() } != nil)
            #expect(tv.shownKeys == [key, nil])
            #expect(!"\(household.manager.getConnectionStatus())".contains(key.prefix(20)))
        }

        @Test func manager_thatGoesAwayWhileACodeIsWanted_endsItsStatus() async throws {
            let tv = try await TVSimulator(.wantsCode("271828", tellsIt: true))
            var household: Household? = Household(tv)
            let updates = household?.manager.statusUpdates
            try await household?.connect()
            household = nil
            var last: ConnectionStatus?
            for await update in try #require(updates) { last = update }
            #expect(last == .pairingRequired(code: "271828"))
            withExtendedLifetime(tv) {}
        }

        @Test func prompt_thatNobodyAnswers_endsInTime() async throws {
            let household = Household(try await TVSimulator(.prompts)) { $0.promptTimeout = .milliseconds(100) }
            #expect(await reason { try await household.connect() } == .timedOut)
        }

        // MARK: - Several televisions

        @Test func otherTV_connectedTo_isNotShownTheKey() async throws {
            let (tv, other) = (try await TVSimulator(), try await TVSimulator())
            let household = Household(tv)
            try await household.connect()
            let later = household.restarted(tls: other)
            try await later.connect(ip: "127.0.0.1", mac: "02:00:5E:10:00:02")
            #expect(other.shownKeys == [nil])
            #expect(try household.manager.storedCredentials()?.macAddress == "02:00:5E:10:00:02")
        }

        @Test func tv_atANewAddress_isKnownByItsCertificate() async throws {
            let tv = try await TVSimulator()
            let household = Household(tv)
            try await household.connect()
            let later = household.restarted(tls: tv)
            try await later.connect(ip: "localhost", mac: mac)
            #expect(tv.shownKeys == [nil, "key-of-the-simulator-1"])
            #expect(try household.manager.storedCredentials()?.ipAddress == "localhost")
        }

        @Test func tvWithoutCertificate_atANewAddress_isNotShownTheKey() async throws {
            let tv = try await TVSimulator(certificate: nil)
            let household = Household(open: tv)
            try await household.connect()
            try await household.restarted(open: tv).connect(ip: "localhost", mac: mac)
            #expect(tv.shownKeys == [nil, nil])
        }

        // MARK: - Codes

        @Test func tv_thatWantsACode_getsItAndKnowsTheProgram() async throws {
            let tv = try await TVSimulator(.wantsCode("271828", tellsIt: true))
            let household = Household(tv)
            #expect(try await household.connect() == "271828")
            #expect(household.manager.getConnectionStatus() == .pairingRequired(code: "271828"))
            try await household.manager.submitPairingCode("271828")
            #expect(household.manager.getConnectionStatus() == .connected)
            #expect(try household.storedKey == "key-of-the-simulator-1")
        }

        @Test func tv_thatOnlyShowsItsCode_isToldFromOneThatIsConnected() async throws {
            let tv = try await TVSimulator(.wantsCode("271828", tellsIt: false))
            let household = Household(tv)
            #expect(try await household.connect() == "")
            try await household.manager.submitPairingCode("271828")
            #expect(household.manager.getConnectionStatus() == .connected)
        }

        @Test func wrongCode_isRejectedAndCanBeCorrected() async throws {
            let household = Household(try await TVSimulator(.wantsCode("271828", tellsIt: true)))
            try await household.connect()
            await #expect(throws: LGTVControlManager.ControlError.invalidPairingCode) {
                try await household.manager.submitPairingCode("314159")
            }
            #expect(household.manager.getConnectionStatus() == .pairingRequired(code: "271828"))
            try await household.manager.submitPairingCode("271828")
            #expect(household.manager.getConnectionStatus() == .connected)
        }

        @Test func code_thatNobodyAskedFor_isRefused() async throws {
            let household = Household(try await TVSimulator())
            for _ in 1...2 {
                await #expect(throws: LGTVControlManager.ControlError.missingCredentials) {
                    try await household.manager.submitPairingCode("271828")
                }
                try await household.connect()
            }
            #expect(household.manager.getConnectionStatus() == .connected)
        }

        // MARK: - The keychain

        @Test func keychain_thatCannotBeRead_isAnErrorAndNobodyIsAsked() async throws {
            let tv = try await TVSimulator()
            let household = Household(tv)
            try await household.connect()
            household.manager.disconnect()
            household.store.lockState = .locked
            let error = await failure { try await household.connect() } as? ConnectionError
            #expect(error?.reason == .keychain)
            #expect(error?.keychainFailure?.reason == .locked)
            #expect(tv.connectionCount == 1)
        }

        @Test func damagedCredentials_areAnErrorAndNobodyIsAsked() async throws {
            let tv = try await TVSimulator()
            let household = Household(tv)
            try await household.items.save(Data("{".utf8), for: "default")
            #expect(await reason { try await household.connect() } == .keychain)
            household.manager.clearCredentials()
            try await household.connect()
        }

        @Test func key_thatCannotBeStored_isAnErrorThatSaysWhatToDo() async throws {
            let tv = try await TVSimulator(.prompts)
            let household = Household(tv)
            let connecting = Task { try await household.connect() }
            await household.manager.reaches(.pairingRequired(code: nil))
            household.store.lockState = .locked
            tv.accept()
            let error = await failure { try await connecting.value } as? ConnectionError
            #expect(error?.reason == .keychain)
            #expect(error?.message.contains("connect again") == true)
            #expect(error?.message.contains("key-of-the-simulator") == false)
            #expect(household.manager.lastFailure?.reason == .locked)
            #expect(household.manager.getConnectionStatus() == .error(error?.message ?? ""))
        }
    }
#endif
