// SPDX-License-Identifier: Apache-2.0
// The code of the guide as it stands there, first half: quick start, basic operations, async, access control.

import Foundation
import JSKeychain
@_spi(Wrappers) import KeychainKit
import Testing

/// One after another: some use the keychain of this process.
@Suite("The guide's code", .serialized)
struct Snippets {
    @Test func quickStart_works() async throws {
        // Initialize (local-only by default)
        let keychain = JSKeychain()

        // Initialize with iCloud sync enabled
        let config = JSKeychainConfiguration(syncToICloud: true)
        let cloudKeychain = JSKeychain(configuration: config)

        // Save data
        try await keychain.save("secret-token", service: "MyApp", account: "userToken")

        // Read data
        let token: String = try await keychain.read(service: "MyApp", account: "userToken")
        #expect(token == "secret-token")

        // Check existence
        if await keychain.exists(service: "MyApp", account: "userToken") {
            print("Token exists!")
        }
        #expect(await cloudKeychain.exists(service: "MyApp", account: "userToken"))

        // Delete data
        try await keychain.delete(service: "MyApp", account: "userToken")
        #expect(await !keychain.exists(service: "MyApp", account: "userToken"))
    }

    @Test func basicOperations_work() throws {
        let keychain = JSKeychain().using(MemoryStore())

        // Save any Codable type
        struct Credentials: Codable {
            let username: String
            let password: String
        }

        let credentials = Credentials(username: "john", password: "secret123")
        try keychain.save(credentials, service: "MyApp", account: "mainUser")

        // Read with type inference
        let stored: Credentials = try keychain.read(service: "MyApp", account: "mainUser")
        #expect(stored.username == "john" && stored.password == "secret123")

        // Check if item exists
        if keychain.exists(service: "MyApp", account: "mainUser") {
            // Item exists
        }
        #expect(keychain.exists(service: "MyApp", account: "mainUser"))

        // List all items
        let items = try keychain.listAll(service: "MyApp")
        for item in items {
            print("Account: \(item.account), Created: \(item.createdAt)")
        }
        #expect(items.map(\.account) == ["mainUser"] && items.first?.createdAt != nil)

        // Delete item
        try keychain.delete(service: "MyApp", account: "mainUser")
        #expect(!keychain.exists(service: "MyApp", account: "mainUser"))

        // Delete all items for a service
        try keychain.deleteAll(service: "MyApp")
        #expect(try keychain.listAll().isEmpty)
    }

    /// In a closure: in a function the compiler would warn about unused names.
    static let bothForms: @Sendable (JSKeychain) -> Void = { keychain in
        // Synchronous
        do {
            let token: String = try keychain.read(service: "MyApp", account: "token")
        } catch {
            print("Error: \(error)")
        }

        // Asynchronous
        Task {
            do {
                let token: String = try await keychain.read(service: "MyApp", account: "token")
            } catch {
                print("Error: \(error)")
            }
        }
    }

    @Test func asyncAndSync_both_work() async throws {
        let keychain = JSKeychain().using(MemoryStore())
        try await keychain.save("t0ken", service: "MyApp", account: "token")
        Self.bothForms(keychain)
        #expect(keychain.lastFailure == nil)
    }

    @MainActor @Test func viewOfTheGuide_showsWhetherThereIsAnItem() async throws {
        // Perfect for SwiftUI
        struct LoginView: View {
            @State private var isLoggedIn = false
            let keychain = JSKeychain()

            var body: some View {
                Text(isLoggedIn ? "Welcome!" : "Please login")
                    .task {
                        isLoggedIn = await keychain.exists(service: "MyApp", account: "authToken")
                    }
            }
        }

        let view = LoginView()
        try await view.keychain.save("t0ken", service: "MyApp", account: "authToken")
        let before = try #require(view.body as? Text)
        await before.appearance()
        try await view.keychain.delete(service: "MyApp", account: "authToken")
        #expect(before.words == "Please login" && (view.body as? Text)?.words == "Welcome!")
    }

    @Test func accessControlOptions_areApplied() async throws {
        let store = MemoryStore(passphrase: "p")
        let keychain = JSKeychain().using(store)
        let (sensitiveData, refreshToken, verySecretData, deviceToken) = ("1", "2", "3", "4")

        // Most secure - only accessible when device is unlocked
        try await keychain.save(
            sensitiveData,
            service: "MyApp",
            account: "secure",
            accessibility: .whenUnlocked  // Default
        )

        // Available after first unlock (good for background tasks)
        try await keychain.save(
            refreshToken,
            service: "MyApp",
            account: "refreshToken",
            accessibility: .afterFirstUnlock
        )

        // Requires device passcode
        try await keychain.save(
            verySecretData,
            service: "MyApp",
            account: "topsecret",
            accessibility: .whenPasscodeSet
        )

        // Device-only (won't sync to iCloud Keychain)
        try await keychain.save(
            deviceToken,
            service: "MyApp",
            account: "deviceOnly",
            accessibility: .whenUnlockedThisDeviceOnly
        )

        let classes = try await store.secrets(service: "MyApp").items().map {
            "\($0.account ?? "?") \($0.accessibility)"
        }
        #expect(
            classes.sorted() == [
                "deviceOnly whenUnlockedThisDeviceOnly", "refreshToken afterFirstUnlock", "secure whenUnlocked",
                "topsecret whenPasscodeSetThisDeviceOnly",
            ])
    }
}
