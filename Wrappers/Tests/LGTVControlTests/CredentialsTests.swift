// SPDX-License-Identifier: Apache-2.0
// The credentials that a manager keeps, and what it says when it cannot.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import LGTVControl
import Testing
import WrapperStores

@Suite("Credentials of the manager")
struct CredentialsTests {
    private let store = MemoryStore()

    private var manager: LGTVControlManager {
        var options = LGTVControlManager.Options()
        options.sharesStatus = false
        return LGTVControlManager(options: options).using(store)
    }

    private var items: SecretStore {
        SecretStore(service: LGTVControlManager.Constants.keychainService, store: store)
    }

    @Test func constants_areThoseOfTheGuide() {
        #expect(
            LGTVControlManager.Constants.keychainService == "com.DaraConsultingInc.LGTVRemoteWidget.credentials")
        #expect(LGTVControlManager.Constants.keychainAccount == "default")
        #expect(LGTVControlManager.Constants.lastStatusKey == "lastConnectionStatus")
    }

    @Test func credentials_saved_lieUnderTheConstants() throws {
        manager.saveCredentials(.living)
        #expect(try items.items().map(\.account) == ["default"])
        let keychain = KeychainManager().using(store)
        let loaded = try keychain.load(
            TVCredentials.self, service: LGTVControlManager.Constants.keychainService,
            account: LGTVControlManager.Constants.keychainAccount)
        #expect(loaded == .living)
    }

    @Test func credentials_savedLoadedAndCleared_areGone() {
        let manager = manager
        manager.saveCredentials(.living)
        #expect(manager.loadCredentials() == .living)
        manager.clearCredentials()
        #expect(manager.loadCredentials() == nil)
        #expect(manager.lastFailure == nil)
    }

    @Test func credentials_thatCannotBeRead_areNilWithAFailure() {
        let manager = manager
        manager.saveCredentials(.living)
        store.lockState = .locked
        #expect(manager.loadCredentials() == nil)
        #expect(manager.lastFailure?.reason == .locked)
        #expect(failure { try manager.storedCredentials() } as? LGTVControl.KeychainError == .unexpectedStatus(-25308))
    }

    @Test func credentials_thatCannotBeSaved_leaveAFailureAndTheOldOnes() {
        let manager = manager
        manager.saveCredentials(.living)
        store.lockState = .locked
        manager.saveCredentials(.kitchen)
        #expect(manager.lastFailure?.reason == .locked)
        #expect(failure { try manager.storeCredentials(.kitchen) } is LGTVControl.KeychainError)
        store.lockState = .unlocked
        #expect(manager.loadCredentials() == .living)
    }

    @Test func credentials_ofAProgramWithoutGroups_cannotBeCleared() {
        let manager = manager.using(store, accessGroups: AccessGroups([]))
        manager.clearCredentials()
        #expect(manager.lastFailure?.reason == .missingEntitlement)
        #expect(failure { try manager.forgetCredentials() } as? LGTVControl.KeychainError == .unexpectedStatus(-34018))
    }

    @Test func damagedCredentials_loaded_areAnEncodingFailureAndCanBeReplaced() throws {
        try items.save(Data("{".utf8), for: "default")
        let manager = manager
        #expect(manager.loadCredentials() == nil)
        #expect(manager.lastFailure?.reason == .undecodableInput)
        #expect(failure { try manager.storedCredentials() } as? LGTVControl.KeychainError == .encodingFailed)
        try manager.storeCredentials(.living)
        #expect(manager.loadCredentials() == .living)
    }

    // MARK: - The certificate beside them

    @Test func clearing_takesTheCertificateAsWell() throws {
        try items.save(Data("certificate".utf8), for: "default.certificate")
        manager.saveCredentials(.living)
        manager.clearCredentials()
        #expect(try items.items().isEmpty)
    }

    @Test func credentials_ofTheSameTV_keepTheCertificate() throws {
        manager.saveCredentials(.living)
        try items.save(Data("certificate".utf8), for: "default.certificate")
        var moved = TVCredentials.living
        (moved.ipAddress, moved.macAddress) = ("192.0.2.99", "02-00-5e-10-00-01")
        manager.saveCredentials(moved)
        #expect(try items.contains(for: "default.certificate"))
    }

    @Test func credentials_ofAnotherTV_takeTheCertificateAway() throws {
        manager.saveCredentials(.living)
        try items.save(Data("certificate".utf8), for: "default.certificate")
        manager.saveCredentials(.kitchen)
        #expect(try !items.contains(for: "default.certificate"))
    }
}
