// SPDX-License-Identifier: Apache-2.0
// The code of the guide as it stands there, second half: biometry, synchronization, sharing, coders, good practice.

import Foundation
import JSKeychain
@_spi(Wrappers) import KeychainKit
import Testing
import WrapperStores

/// For a snippet that reads into a name which it has used before.
private let password = "s3cret"

extension Snippets {
    @Test func biometricAuthentication_asksWithItsReasons() async throws {
        let person = Person("p")
        let keychain = JSKeychain().using(
            MemoryStore(passphrase: "p"), context: AuthenticationContext { person })

        // Save with biometric protection
        let biometricOptions = JSBiometricOptions(
            required: true,
            fallbackToPasscode: true,
            localizedReason: "Authenticate to save your password"
        )

        try await keychain.save(
            password,
            service: "MyApp",
            account: "userPassword",
            accessibility: .whenUnlocked,
            biometricOptions: biometricOptions
        )

        // Read with biometric authentication
        let password: String = try await keychain.read(
            service: "MyApp",
            account: "userPassword",
            biometricReason: "Authenticate to access your password"
        )

        #expect(password == "s3cret")
        #expect(person.reasons == ["Authenticate to access your password"])
    }

    @Test func synchronization_marksWhatMaySynchronize() async throws {
        let (userPreferences, deviceSpecificToken) = (UserPreferences(theme: "light"), "t0ken")

        // Initialize with iCloud sync enabled
        let config = JSKeychainConfiguration(
            syncToICloud: true  // Default is false for security
        )
        let keychain = JSKeychain(configuration: config)

        // Save items that will sync to iCloud
        try await keychain.save(
            userPreferences,
            service: "MyApp",
            account: "preferences",
            accessibility: .whenUnlocked  // Must use non-device-only accessibility
        )

        // Items with "ThisDeviceOnly" accessibility never sync
        try await keychain.save(
            deviceSpecificToken,
            service: "MyApp",
            account: "deviceToken",
            accessibility: .whenUnlockedThisDeviceOnly  // Won't sync even with syncToICloud: true
        )

        // Read will automatically find both local and synced items
        let prefs: UserPreferences = try await keychain.read(
            service: "MyApp",
            account: "preferences"
        )

        let secrets = [true, false].map { SecretStore(service: "MyApp", synchronizable: $0) }
        let (synced, local) = (try await secrets[0].items(), try await secrets[1].items())
        #expect(synced.map(\.account) == ["preferences"] && local.map(\.account) == ["deviceToken"])
        let token: String = try await keychain.read(service: "MyApp", account: "deviceToken")
        #expect(prefs == userPreferences && token == deviceSpecificToken)
        try await keychain.delete(service: "MyApp", account: "preferences")
        try await keychain.delete(service: "MyApp", account: "deviceToken")
    }

    @Test func sharing_betweenTwoPrograms_works() async throws {
        let sharedSecret = "s3cret"

        // 1. Enable "Keychain Sharing" capability in Xcode for all apps
        // 2. Add the same Keychain Group to all apps

        // App 1: Save shared data
        let sharedKeychain = JSKeychain(accessGroup: "group.com.company.apps")
        try await sharedKeychain.save(
            sharedSecret,
            service: "SharedService",
            account: "sharedData"
        )

        do {
            // App 2: Read shared data
            let sharedKeychain = JSKeychain(accessGroup: "group.com.company.apps")
            let secret: String = try await sharedKeychain.read(
                service: "SharedService",
                account: "sharedData"
            )
            #expect(secret == sharedSecret)
        }

        let other = JSKeychain(accessGroup: "group.com.company.others")
        #expect(await !other.exists(service: "SharedService", account: "sharedData"))
        try await sharedKeychain.deleteAllWithoutBlocking(service: "SharedService")
    }

    @Test func customCoders_areUsed() async throws {
        // Custom date formatting
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601

        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601

        // Using the configuration approach
        let config = JSKeychainConfiguration(
            syncToICloud: false,
            encoder: encoder,
            decoder: decoder
        )
        let keychain = JSKeychain(configuration: config)
        try await keychain.save(Date(timeIntervalSince1970: 0), service: "MyApp", account: "event")

        do {
            // Or using the convenience initializer (no iCloud sync)
            let keychain = JSKeychain(encoder: encoder, decoder: decoder)
            let epoch: Date = try await keychain.read(service: "MyApp", account: "event")
            #expect(epoch == Date(timeIntervalSince1970: 0))

            // Now dates will be encoded/decoded using ISO8601 format
            struct Event: Codable {
                let name: String
                let date: Date
            }

            let event = Event(name: "Launch", date: Date())
            try await keychain.save(event, service: "MyApp", account: "event")

            let text = try await SecretStore(service: "MyApp").read(String.self, for: "event")
            #expect(text?.contains("T") == true && text?.contains("Z\"") == true)
            try await keychain.delete(service: "MyApp", account: "event")
        }
    }

    // MARK: - Good practice

    @Test func biometryAlone_whereThereIsNoSensor_saysSo() throws {
        let keychain = JSKeychain().using(MemoryStore(passphrase: "p"))

        // Protect financial or health data
        let biometricOptions = JSBiometricOptions(
            required: true,
            fallbackToPasscode: false  // No fallback for maximum security
        )

        let failure = keychainError { try keychain.save("1", .whenUnlocked, biometricOptions) }
        #expect(failure == .unhandledError(status: -25291))
        #expect(failure?.failureReason?.contains("no biometric authenticator") == true)
        #expect(keychain.lastFailure?.reason == .unavailable)
    }

    /// In a closure: in a function the compiler would warn about unused names.
    static let handling: @Sendable (JSKeychain) async -> Void = { keychain in
        do {
            let token: String = try await keychain.read(service: "MyApp", account: "token")
        } catch JSKeychainError.itemNotFound {
            // Handle missing item
        } catch JSKeychainError.invalidData {
            // Handle corrupted data
        } catch {
            // Handle other errors
        }
    }

    @Test func errors_areToldApart() async throws {
        let store = MemoryStore()
        let keychain = JSKeychain().using(store)
        await Self.handling(keychain)
        #expect(keychain.lastFailure?.reason == .itemNotFound)
        try await store.secrets(service: "MyApp").save("no JSON", for: "token")
        await Self.handling(keychain)
        #expect(keychain.lastFailure?.reason == .typeMismatch)
        store.lockState = .locked
        await Self.handling(keychain)
        #expect(keychain.lastFailure?.reason == .locked)
    }

    @Test func logout_removesEverythingOfTheService() async throws {
        let kept = JSKeychain().using(MemoryStore())
        // The guide waits for `deleteAll`, which waits for nothing: of that alone the compiler would warn.
        var keychain: JSKeychain { get async { kept } }
        try await keychain.save("1", service: "MyApp", account: "a")
        try await keychain.save("2", service: "Other", account: "a")

        func logout() async throws {
            // Clear all user data
            try await keychain.deleteAll(service: "MyApp")
        }

        try await logout()
        #expect(try await kept.listAll().map(\.service) == ["Other"])
    }

    @Test func uniqueNames_areItemsOfTheirOwn() async throws {
        let keychain = JSKeychain().using(MemoryStore())
        let (token, userID) = ("t0ken", 42)

        // Good: Unique identifiers
        try await keychain.save(token, service: "com.company.MyApp", account: "user-\(userID)-authToken")

        // Avoid: Generic identifiers
        try await keychain.save(token, service: "MyApp", account: "token")

        #expect(try await keychain.listAll().map(\.account).sorted() == ["token", "user-42-authToken"])
    }
}
