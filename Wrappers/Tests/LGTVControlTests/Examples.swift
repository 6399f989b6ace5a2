// SPDX-License-Identifier: Apache-2.0
// The code of the comments and of the module's page. Code that names a television that does not exist is compiled, not
// run.

import Foundation
@_spi(Wrappers) import KeychainKit
import LGTVControl
import Testing

private typealias KeychainError = LGTVControl.KeychainError

@Suite("Examples")
struct Examples {
    private let service = "com.example.remote"
    private let account = "default"

    @Test func keychainManager_savesLoadsAndDeletes() throws {
        let credentials = TVCredentials(ipAddress: "192.0.2.14", macAddress: "02:00:5E:10:00:01")
        let keychain = KeychainManager().using(MemoryStore())
        try keychain.save(credentials, service: service, account: account)
        let stored = try keychain.load(TVCredentials.self, service: service, account: account)
        #expect(stored == credentials)
        try keychain.delete(service: service, account: account)
        #expect(try keychain.load(TVCredentials.self, service: service, account: account) == nil)
    }

    @Test func missingEntitlement_isCaughtByItsCode() throws {
        let keychain = KeychainManager().using(MemoryStore(), accessGroups: AccessGroups([]))
        var (stored, isShown): (TVCredentials?, Bool) = (nil, false)
        func showThatTheEntitlementsLackTheGroup() { isShown = true }
        do {
            stored = try keychain.load(TVCredentials.self, service: service, account: account)
        } catch KeychainError.unexpectedStatus(-34018) {
            showThatTheEntitlementsLackTheGroup()
        }
        #expect(stored == nil && isShown)
    }

    @Test func manager_keepsCredentials() throws {
        var options = LGTVControlManager.Options()
        options.sharesStatus = false
        let credentials = TVCredentials.living
        let manager = LGTVControlManager(options: options).using(MemoryStore())
        try manager.storeCredentials(credentials)
        func stored() throws -> TVCredentials? {
            let credentials = try manager.storedCredentials()
            return credentials
        }
        #expect(try stored() == credentials)
        try manager.forgetCredentials()
        func setup() -> String {
            func showSetup() -> String { "setup" }
            guard let credentials = manager.loadCredentials() else { return showSetup() }
            return credentials.ipAddress
        }
        #expect(setup() == "setup")
    }

    @Test func nothingToLoad_isExplained() {
        let store = MemoryStore()
        var options = LGTVControlManager.Options()
        options.sharesStatus = false
        let manager = LGTVControlManager(options: options).using(store)
        manager.saveCredentials(.living)
        store.lockState = .locked
        var shown = ""
        func show(_ message: String) { shown = message }
        if manager.loadCredentials() == nil, let failure = manager.lastFailure { show(failure.message) }
        #expect(!shown.isEmpty)
    }

    @Test func options_areThoseOfTheManager() {
        func made() -> LGTVControlManager {
            var options = LGTVControlManager.Options()
            options.promptTimeout = .seconds(120)
            let manager = LGTVControlManager(options: options)
            return manager
        }
        var isShown = false
        func showButtons() { isShown = true }
        let manager = made()
        if manager.getConnectionStatus() == .connected { showButtons() }
        #expect(!isShown)
    }
}

/// With the stand-ins of a program.
private struct CompiledOnly {
    struct Volume: Decodable {
        let volume: Int
    }

    let ip = "192.0.2.14"
    let mac = "02:00:5E:10:00:01"
    let manager = LGTVControlManager.shared
    let credentials = TVCredentials.living
    let service = "com.example.remote"
    let account = "default"

    func showSetup() {}
    func show(_: ConnectionStatus) {}
    func askWhetherToPairAgain(_: String) {}
    func entered(_ code: String) async throws -> String { code }

    func connects() async throws {
        let manager = LGTVControlManager.shared
        try await manager.connect(ip: "192.0.2.14", mac: "02:00:5E:10:00:01")
        try await manager.sendCommand("ssap://audio/volumeUp")
    }

    func connectsWithoutAsking() async throws {
        guard let credentials = try manager.storedCredentials() else { return showSetup() }
        try await manager.connect(ip: credentials.ipAddress, mac: credentials.macAddress)
    }

    func keeps() throws {
        let keychain = KeychainManager()
        try keychain.save(credentials, service: service, account: account)
        let stored = try keychain.load(TVCredentials.self, service: service, account: account)
        _ = stored
        manager.saveCredentials(credentials)
        manager.clearCredentials()
    }

    func lastStatus() -> String? {
        let last = AppGroupManager.shared.getString(forKey: LGTVControlManager.Constants.lastStatusKey)
        return last
    }

    func forTests() -> KeychainManager {
        let keychain = KeychainManager().using(MemoryStore())
        return keychain
    }

    func wakes() async throws {
        try await WakeOnLAN().send(macAddress: "02:00:5E:10:00:01")
        try await manager.wakeTV(mac: "02:00:5E:10:00:01")
    }

    func observes() async {
        for await status in manager.statusUpdates {
            show(status)
        }
    }

    func commands() async throws -> Volume {
        do {
            try await manager.sendCommand("ssap://audio/volumeUp")
        } catch LGTVControlManager.ControlError.notConnected {
            try await manager.connect(ip: ip, mac: mac)
        }
        try await manager.sendCommand("ssap://audio/setVolume", parameters: ["volume": 12])
        let volume = try await manager.request("ssap://audio/getVolume", returning: Volume.self)
        return volume
    }

    func pairs() async throws {
        do {
            try await manager.connect(ip: ip, mac: mac)
        } catch let error as ConnectionError where error.reason == .certificateChanged {
            askWhetherToPairAgain(error.message)
        }
        if let code = try await manager.connect(ip: ip, mac: mac) {
            try await manager.submitPairingCode(try await entered(code))
        }
    }
}
