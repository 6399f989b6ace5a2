// SPDX-License-Identifier: Apache-2.0
// The examples of this module's own comments and article.

import Foundation
import JSKeychain
@_spi(Wrappers) import KeychainKit
import Testing
import WrapperStores

private struct Credentials: Codable, Equatable {
    var user = "alice"
    var password = "s3cret"
}

@Suite("Examples", .serialized)
struct Examples {
    private let keychain = JSKeychain().using(MemoryStore(passphrase: "p"))

    @Test func entryPoint_works() throws {
        let keychain = JSKeychain()
        try keychain.save("s3cret", service: "com.example.app", account: "alice")
        let token: String = try keychain.read(service: "com.example.app", account: "alice")
        #expect(token == "s3cret")
        try keychain.delete(service: "com.example.app", account: "alice")
    }

    @Test func keychains_areMadeInThreeWays() throws {
        do {
            let keychain = JSKeychain(configuration: JSKeychainConfiguration(syncToICloud: true))
            #expect(keychain.lastFailure == nil)
        }
        do {
            let keychain = JSKeychain(accessGroup: "group.com.example.apps")
            #expect(keychain.lastFailure == nil)
        }
        do {
            let keychain = JSKeychain().using(MemoryStore())
            #expect(try keychain.listAll().isEmpty)
        }
        let configuration = JSKeychainConfiguration(accessGroup: "group.com.example.apps", syncToICloud: true)
        #expect(configuration.accessGroup == "group.com.example.apps" && configuration.syncToICloud)
    }

    @Test func calls_areAsTheirCommentsShow() throws {
        let credentials = Credentials()
        try keychain.save(credentials, service: "com.example.app", account: "alice")
        do {
            let credentials: Credentials = try keychain.read(service: "com.example.app", account: "alice")
            #expect(credentials == Credentials())
        }
        let accounts = try keychain.listAll(service: "com.example.app").map(\.account)
        #expect(accounts == ["alice"])
        var shown: [String] = []
        func show(_ service: String, _ account: String) { shown.append(service + " " + account) }
        for item in try keychain.listAll() { show(item.service, item.account) }
        #expect(shown == ["com.example.app alice"])
        try keychain.delete(service: "com.example.app", account: "alice")
        var hasSignedIn = false
        func signIn() { hasSignedIn = true }
        if !keychain.exists(service: "com.example.app", account: "alice") { signIn() }
        #expect(hasSignedIn)
        try keychain.deleteAll(service: "com.example.app")
    }

    @Test func failures_areExplained() throws {
        let store = MemoryStore()
        let keychain = JSKeychain().using(store)
        try keychain.save("1", service: "com.example.app", account: "alice")
        store.lockState = .locked
        var shown = ""
        func show(_ message: String) { shown = message }
        if !keychain.exists(service: "com.example.app", account: "alice"), let failure = keychain.lastFailure {
            show(failure.message)
        }
        #expect(!shown.isEmpty)
        store.lockState = .unlocked
        try keychain.deleteAll()
        var (token, hasSignedIn) = ("", false)
        func signIn() { hasSignedIn = true }
        do {
            token = try keychain.read(service: "com.example.app", account: "alice")
        } catch JSKeychainError.itemNotFound {
            signIn()
        }
        #expect(hasSignedIn && token.isEmpty)
    }

    @Test func options_areAsTheirCommentsShow() throws {
        let token = "t0ken"
        try keychain.save(token, service: "com.example.app", account: "refresh", accessibility: .afterFirstUnlock)
        let options = JSBiometricOptions(required: true, localizedReason: "Unlock your notes")
        #expect(options.required && options.fallbackToPasscode && options.localizedReason == "Unlock your notes")
        #expect(!JSBiometricOptions().required && JSBiometricOptions().fallbackToPasscode)
    }

    @Test func article_protectsAndSynchronizes() async throws {
        let password = "s3cret"
        let store = MemoryStore(passphrase: "p")
        do {
            let person = Person("p")
            let keychain = JSKeychain().using(store, context: AuthenticationContext { person })
            let options = JSBiometricOptions(required: true, localizedReason: "Change your password")
            try await keychain.save(password, service: "com.example.app", account: "alice", biometricOptions: options)
            let saved: String = try await keychain.read(
                service: "com.example.app", account: "alice", biometricReason: "Show your password")
            #expect(saved == password && person.reasons == ["Show your password"])
            try await keychain.delete(service: "com.example.app", account: "alice")
        }
        let local = JSKeychain().using(store)
        let synced = JSKeychain(configuration: JSKeychainConfiguration(syncToICloud: true)).using(store)
        try await local.save("1", service: "com.example.app", account: "alice")
        try await synced.delete(service: "com.example.app", account: "alice")
        try await synced.save("1", service: "com.example.app", account: "alice")
        #expect(try await store.secrets(synchronizable: true, service: "com.example.app").contains(for: "alice"))
    }

    @Test func itemsOfTheOriginal_areReadByTheirLowerCaseNames() throws {
        let (service, account) = ("com.Example.App", "Alice")
        try keychain.save("s3cret", service: service.lowercased(), account: account.lowercased())
        if !keychain.exists(service: service, account: account) {
            let old: String = try keychain.read(service: service.lowercased(), account: account.lowercased())
            try keychain.save(old, service: service, account: account)
        }
        let token: String = try keychain.read(service: service, account: account)
        #expect(token == "s3cret")
    }

    /// With every label of the reference, so that none is missing or misspelled.
    @Test func reference_isThereAsItStands() async throws {
        let configuration = JSKeychainConfiguration(
            accessGroup: nil, syncToICloud: false, encoder: JSONEncoder(), decoder: JSONDecoder())
        _ = (configuration.accessGroup, configuration.syncToICloud, configuration.encoder, configuration.decoder)
        _ = JSKeychain(accessGroup: nil, encoder: JSONEncoder(), decoder: JSONDecoder())
        let options = JSBiometricOptions(required: false, fallbackToPasscode: true, localizedReason: "Save")
        try await keychain.save(
            "1", service: "a", account: "b", accessibility: .whenUnlocked, biometricOptions: options)
        let value: String = try await keychain.read(service: "a", account: "b", biometricReason: nil)
        let item = try #require(try await keychain.listAll(service: nil).first)
        let _: (String, String, Date?, Date?) = (item.service, item.account, item.createdAt, item.modifiedAt)
        #expect(value == "1" && JSKeychainItem(service: "a", account: "b").createdAt == nil)
        try keychain.deleteAll(service: nil)
        #expect(await !keychain.exists(service: "a", account: "b"))
        try await keychain.deleteAllWithoutBlocking(service: "com.example.app")
    }

    @Test func errors_areFourAndSpeak() {
        let errors: [any LocalizedError] = [
            JSKeychainError.itemNotFound, JSKeychainError.duplicateItem, JSKeychainError.invalidData,
            JSKeychainError.unhandledError(status: -36),
        ]
        #expect(Set(errors.compactMap(\.errorDescription)).count == 4)
        #expect(errors.allSatisfy { $0.localizedDescription == $0.errorDescription })
        #expect(errors.map { ($0 as NSError).code } == [-25300, -25299, -26275, -36])
    }

    @Test(arguments: [
        (JSKeychainError.itemNotFound, "Item not found in keychain"),
        (.duplicateItem, "Item already exists in keychain"),
        (.invalidData, "Invalid data format"),
        (.unhandledError(status: -25308), "Keychain error: -25308"),
        (.unhandledError(status: -25291), "Keychain error: -25291"),
        (.unhandledError(status: -25299), "Keychain error: -25299"),
    ])
    func error_described_hasTheWordsOfTheOriginal(error: JSKeychainError, words: String) {
        #expect(error.errorDescription == words && error.localizedDescription == words)
    }

    @Test(arguments: [
        (JSKeychainError.invalidData, "lastFailure"), (.unhandledError(status: -25308), "locked"),
        (.unhandledError(status: -25291), "no passphrase is set"),
        (.unhandledError(status: -25299), "several access groups"),
    ])
    func failureReason_saysWhatToDo(error: JSKeychainError, word: String) {
        #expect(error.failureReason?.contains(word) == true, "\(error.failureReason ?? "none")")
        #expect((error as NSError).localizedFailureReason == error.failureReason)
    }

    /// This file imports nothing else that has the type.
    @Test func statusOfAnError_hasItsTypeWithThisModule() {
        let status: OSStatus = -36
        #expect(JSKeychainError.unhandledError(status: status) == .unhandledError(status: -36))
    }

    @Test func accessibilities_areTheConstantsOfKeychainServices() {
        let constants = JSKeychainAccessibility.allCases.map { "\($0.cfString)" }
        #expect(constants == ["ak", "ck", "akpu", "aku", "cku", "akpu"])
    }
}
