// SPDX-License-Identifier: Apache-2.0
// What a television has to show to be sent the key.

#if LGTVControl
    import Foundation
    import KeychainKit
    import LGTVControl
    import Testing
    import WrapperStores

    @Suite("Trust", .timeLimit(.minutes(60)))
    struct TrustTests {
        @Test func certificate_ofAPairedTV_isKeptBesideTheCredentials() async throws {
            let household = Household(try await TVSimulator(certificate: .first))
            try await household.connect()
            #expect(try household.storedCertificate == TestOnlyCertificate.first.bytes())
            let bytes = try #require(try await household.items.read(Data.self, for: "default"))
            let fields = try JSONSerialization.jsonObject(with: bytes) as? [String: Any]
            #expect(fields?.keys.sorted() == ["clientKey", "ipAddress", "macAddress"])
        }

        @Test func anotherCertificate_isRefusedBeforeAnythingIsSent() async throws {
            let tv = try await TVSimulator(certificate: .first)
            let household = Household(tv)
            try await household.connect()
            let impostor = try await TVSimulator(certificate: .second)
            let later = household.restarted(tls: impostor)
            let error = await failure { try await later.connect(ip: "127.0.0.1", mac: mac) } as? ConnectionError
            #expect(error?.reason == .certificateChanged)
            #expect(error?.message.contains("clearCredentials()") == true)
            #expect(impostor.heard.isEmpty)
            #expect(try household.storedKey == "key-of-the-simulator-1")
        }

        @Test func anotherCertificate_afterClearing_isPairedWith() async throws {
            let household = Household(try await TVSimulator(certificate: .first))
            try await household.connect()
            let new = try await TVSimulator(certificate: .second)
            household.manager.clearCredentials()
            try await household.restarted(tls: new).connect(ip: "127.0.0.1", mac: mac)
            #expect(try household.storedCertificate == TestOnlyCertificate.second.bytes())
        }

        @Test func openConnection_whereItWasEncrypted_isRefusedBeforeAnythingIsSent() async throws {
            let household = Household(try await TVSimulator(certificate: .first))
            try await household.connect()
            let impostor = try await TVSimulator(certificate: nil)
            let later = household.restarted(open: impostor)
            let error = await failure { try await later.connect(ip: "127.0.0.1", mac: mac) } as? ConnectionError
            #expect(error?.reason == .downgraded)
            #expect(error?.message.contains("clearCredentials()") == true)
            #expect(impostor.heard.isEmpty)
        }

        @Test func olderTV_withoutEncryption_isConnectedTo() async throws {
            let tv = try await TVSimulator(certificate: nil)
            let household = Household(open: tv)
            try await household.connect()
            #expect(try household.storedKey == "key-of-the-simulator-1")
            #expect(try household.storedCertificate == nil)
            try await household.restarted(open: tv).connect(ip: "127.0.0.1", mac: mac)
            #expect(tv.shownKeys == [nil, "key-of-the-simulator-1"])
        }

        @Test func tv_thatTakesUpEncryption_isHeldToIt() async throws {
            let tv = try await TVSimulator(certificate: nil)
            let household = Household(open: tv)
            try await household.connect()
            let updated = try await TVSimulator(certificate: .first, knownKeys: ["key-of-the-simulator-1"])
            try await household.restarted(tls: updated).connect(ip: "127.0.0.1", mac: mac)
            #expect(try household.storedCertificate == TestOnlyCertificate.first.bytes())
        }

        @Test func importedCredentials_areUsedAndTheCertificateIsKept() async throws {
            let tv = try await TVSimulator(.refuses("500"), knownKeys: ["imported"])
            let household = Household(tv)
            household.manager.saveCredentials(
                TVCredentials(ipAddress: "127.0.0.1", macAddress: mac, clientKey: "imported"))
            try await household.connect()
            #expect(tv.shownKeys == ["imported"])
            #expect(try household.storedCertificate == TestOnlyCertificate.first.bytes())
        }
    }
#endif
