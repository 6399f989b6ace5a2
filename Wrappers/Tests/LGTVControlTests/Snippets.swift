// SPDX-License-Identifier: Apache-2.0
// The code of the guide “Keychain Storage”, in its order and unchanged, each with what it must yield.

import Foundation
import LGTVControl
import Testing

private let hasVault = ProcessInfo.processInfo.environment["KEYCHAIN_VAULT"] != nil

/// They share the keychain of the environment, and the one manager that there is.
@Suite("Snippets of the guide", .serialized, .enabled(if: hasVault, "KEYCHAIN_VAULT has to name a test's vault"))
struct Snippets {
    private static let guided = TVCredentials(
        ipAddress: "10.0.0.14", macAddress: "34:E6:E6:F9:05:50", clientKey: "9ba71d29c353cf0bdcc00c4b0a8cc189")

    // MARK: - Declarations

    @Test func keychainManager_hasTheAPIOfTheGuide() throws {
        let keychain: KeychainManager = KeychainManager()
        let save: (TVCredentials, String, String) throws -> Void = keychain.save(_:service:account:)
        let load: (TVCredentials.Type, String, String) throws -> TVCredentials? = keychain.load(_:service:account:)
        let delete: (String, String) throws -> Void = keychain.delete(service:account:)
        let service = "com.example.snippets." + UUID().uuidString
        try save(Self.guided, service, "default")
        #expect(try load(TVCredentials.self, service, "default") == Self.guided)
        try delete(service, "default")
        #expect(try load(TVCredentials.self, service, "default") == nil)
    }

    @Test func keychainError_hasTheCasesOfTheGuide() {
        func word(_ error: KeychainError) -> String {
            switch error {
            case .unexpectedStatus(let status): "\(status)"
            case .encodingFailed: "encoding"
            }
        }
        #expect(word(.unexpectedStatus(-25300)) == "-25300")
        #expect(word(.encodingFailed) == "encoding")
        let localized: any LocalizedError = KeychainError.encodingFailed
        #expect(localized.errorDescription?.isEmpty == false)
    }

    @Test func credentials_haveTheFieldsOfTheGuide() throws {
        var credentials = TVCredentials(ipAddress: "", macAddress: "")
        credentials.ipAddress = "10.0.0.14"
        credentials.macAddress = "34:E6:E6:F9:05:50"
        #expect(credentials.clientKey == nil)
        credentials.clientKey = "9ba71d29c353cf0bdcc00c4b0a8cc189"
        #expect(credentials == Self.guided)
        #expect(try JSONDecoder().decode(TVCredentials.self, from: JSONEncoder().encode(credentials)) == credentials)
    }

    @Test func constants_areInTheManager() {
        #expect(
            LGTVControlManager.Constants.keychainService == "com.DaraConsultingInc.LGTVRemoteWidget.credentials")
        #expect(LGTVControlManager.Constants.keychainAccount == "default")
    }

    // MARK: - Entitlements

    @Test(arguments: [
        """
        <key>keychain-access-groups</key>
        <array>
            <string>$(AppIdentifierPrefix)com.DaraConsultingInc.LGTVRemoteWidget</string>
        </array>
        """,
        """
        <key>com.apple.security.application-groups</key>
        <array>
            <string>group.com.DaraConsultingInc.LGTVRemoteWidget</string>
        </array>
        """,
    ])
    func entitlementsFile_ofTheExample_hasTheArraysOfTheGuide(fragment: String) throws {
        func outline(_ text: String) -> String {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        }
        let file = try String(contentsOf: Sources.entitlements, encoding: .utf8)
        #expect(outline(file).contains(outline(fragment)))
    }

    // MARK: - Usage

    @Test func app_afterPairing_savesTheCredentials() {
        let manager = LGTVControlManager.shared

        // After successful pairing
        let credentials = TVCredentials(
            ipAddress: "10.0.0.14",
            macAddress: "34:E6:E6:F9:05:50",
            clientKey: "9ba71d29c353cf0bdcc00c4b0a8cc189"
        )

        manager.saveCredentials(credentials)
        #expect(manager.lastFailure == nil)
        #expect(manager.loadCredentials() == Self.guided)
    }

    #if LGTVControl && os(Linux)
        /// Returns the status of the widget's connection.
        private func widget() async throws -> ConnectionStatus {
            let manager = LGTVControlManager.shared

            if let credentials = manager.loadCredentials() {
                // Use credentials to connect to TV
                try await manager.connect(
                    ip: credentials.ipAddress,
                    mac: credentials.macAddress
                )
            } else {
                // No credentials - show "Setup Required" message
            }
            return manager.getConnectionStatus()
        }

        @Test(.enabled("port 3001 has to be free on a loopback address") { await LoopbackTV.isPossible })
        func widget_withCredentials_connectsWithThem() async throws {
            let last = AppGroupManager.shared.getString(forKey: LGTVControlManager.Constants.lastStatusKey)
            let tv = try await LoopbackTV(knownKeys: ["9ba71d29c353cf0bdcc00c4b0a8cc189"])
            var credentials = Self.guided
            credentials.ipAddress = tv.address
            LGTVControlManager.shared.saveCredentials(credentials)
            #expect(try await widget() == .connected)
            #expect(tv.simulator.shownKeys == ["9ba71d29c353cf0bdcc00c4b0a8cc189"])
            #expect(
                AppGroupManager.shared.getString(forKey: LGTVControlManager.Constants.lastStatusKey) == "connected")
            LGTVControlManager.shared.disconnect()
            LGTVControlManager.shared.clearCredentials()
            #expect(try await widget() == .disconnected)
            AppGroupManager.shared.setString(last, forKey: LGTVControlManager.Constants.lastStatusKey)
        }
    #endif

    @Test func clearing_removesTheCredentials() {
        let manager = LGTVControlManager.shared
        manager.saveCredentials(Self.guided)

        manager.clearCredentials()
        #expect(manager.loadCredentials() == nil)
    }

    // MARK: - Tests of the guide

    @Test func testService_isIndependentOfTheRealOne() throws {
        let testService = "com.DaraConsultingInc.LGTVRemoteWidget.test"

        let keychain = KeychainManager()
        try keychain.save(Self.guided, service: testService, account: "testAccount")
        #expect(LGTVControlManager.shared.loadCredentials() == nil)
        try keychain.delete(service: testService, account: "testAccount")
    }

    // MARK: - Migration

    @Test func migration_movesTheKeyToTheKeychain() {
        let (manager, ip, mac) = (LGTVControlManager.shared, "10.0.0.14", "34:E6:E6:F9:05:50")
        let clientKey = "9ba71d29c353cf0bdcc00c4b0a8cc189"

        // OLD (insecure)
        UserDefaults.standard.set(clientKey, forKey: "clientKey")

        // NEW (secure)
        let credentials = TVCredentials(
            ipAddress: ip,
            macAddress: mac,
            clientKey: clientKey
        )
        manager.saveCredentials(credentials)

        // Delete old insecure data
        UserDefaults.standard.removeObject(forKey: "clientKey")

        #expect(manager.loadCredentials() == Self.guided)
        #expect(UserDefaults.standard.string(forKey: "clientKey") == nil)
        manager.clearCredentials()
    }
}
