// SPDX-License-Identifier: Apache-2.0
// The Swift code of the security guide, in its order and as it stands there, and what each piece must yield.

import Foundation
import SecureStorage
import Testing

/// The pieces use the storage of the program, so they take turns, and leave nothing.
@Suite("Snippets of the security guide", .serialized)
struct Snippets {
    struct Credentials: Codable, Sendable {
        let username: String
        let apiKey: String
    }

    private func cleaned(_ body: () async throws -> Void) async throws {
        for _ in 1...2 {
            for key in ["authToken", "userCredentials", "credentials"] {
                try await KeychainSecureStorage.shared.delete(for: key)
            }
        }
        try await body()
        for key in ["authToken", "userCredentials", "credentials"] {
            try await KeychainSecureStorage.shared.delete(for: key)
        }
    }

    // MARK: - Quick Start

    @Test func quickStart_storing_savesTextAndStructures() async throws {
        try await cleaned {
            // Store auth token
            let secureStorage = KeychainSecureStorage.shared
            try await secureStorage.save("eyJhbGc...", for: "authToken")

            // Store structured data
            struct Credentials: Codable, Sendable {
                let username: String
                let apiKey: String
            }

            let creds = Credentials(username: "user", apiKey: "key-123")
            try await secureStorage.save(creds, for: "userCredentials")

            let token: String? = try await secureStorage.load(for: "authToken")
            #expect(token == "eyJhbGc...")
            let stored: Credentials? = try await secureStorage.load(for: "userCredentials")
            #expect(stored?.apiKey == "key-123")
        }
    }

    @Test func quickStart_retrieving_givesWhatWasSaved() async throws {
        let secureStorage = KeychainSecureStorage.shared
        try await cleaned {
            try await secureStorage.save("eyJhbGc...", for: "authToken")
            try await secureStorage.save(Credentials(username: "user", apiKey: "key-123"), for: "userCredentials")
            var found: [String] = []
            func print(_ text: String) { found.append(text) }

            // Load token
            if let token: String = try await secureStorage.load(for: "authToken") {
                // Use token
                found.append(token)
            }

            // Load structured data
            if let creds: Credentials = try await secureStorage.load(for: "userCredentials") {
                print("User: \(creds.username)")
            }

            #expect(found == ["eyJhbGc...", "User: user"])
        }
    }

    @Test func quickStart_existence_isToldWithoutWaiting() async throws {
        let secureStorage = KeychainSecureStorage.shared
        try await cleaned {
            func isLoggedIn() -> Bool {
                if secureStorage.exists(for: "authToken") {
                    // Already logged in
                    return true
                } else {
                    // Show login
                    return false
                }
            }

            #expect(!isLoggedIn())
            try await secureStorage.save("eyJhbGc...", for: "authToken")
            #expect(isLoggedIn())
        }
    }

    @Test func quickStart_deletingOnLogout_leavesNothing() async throws {
        let secureStorage = KeychainSecureStorage.shared
        try await cleaned {
            try await secureStorage.save("eyJhbGc...", for: "authToken")
            try await secureStorage.save(Credentials(username: "user", apiKey: "key-123"), for: "userCredentials")

            try await secureStorage.delete(for: "authToken")
            try await secureStorage.delete(for: "userCredentials")

            #expect(!secureStorage.exists(for: "authToken"))
            #expect(!secureStorage.exists(for: "userCredentials"))
        }
    }

    // MARK: - Error Handling

    @Test(arguments: Failing.allCases)
    func errorHandling_ofEachFailure_reachesItsBranch(failing: Failing) async throws {
        let (secureStorage, token) = (try failing.storage, failing.value)
        var said: [String] = []
        func print(_ text: String) { said.append(text) }

        do {
            try await secureStorage.save(token, for: "authToken")
        } catch SecureStorageError.encodingFailed(let message) {
            print("Failed to encode: \(message)")
        } catch SecureStorageError.saveFailed(let status) {
            print("Keychain save failed: \(status)")
        } catch {
            print("Unexpected error: \(error)")
        }

        #expect(said == [failing.words])
    }

    // MARK: - Testing

    @Test func testLogin() async throws {
        let storage = MockSecureStorage()

        // Simulate saved token
        try await storage.save("test-token", for: "authToken")

        // Test feature that loads token
        let feature = LoginFeature(secureStorage: storage)
        let isLoggedIn = await feature.checkAuth()

        #expect(isLoggedIn == true)
    }

    // MARK: - Migration Pattern

    private func migrated(_ storage: SecureStorageProtocol) async throws -> CredentialsV2? {
        // Try new format
        if let newCreds: CredentialsV2 = try? await storage.load(for: "credentials") {
            return newCreds
        }

        // Fall back to old format
        if let oldCreds: CredentialsV1 = try? await storage.load(for: "credentials") {
            let migrated = CredentialsV2(from: oldCreds)
            try await storage.save(migrated, for: "credentials")
            return migrated
        }

        // No credentials
        return nil
    }

    @Test func migrationPattern_ofOldCredentials_savesThemAgain() async throws {
        let storage = MockSecureStorage()
        #expect(try await migrated(storage) == nil)

        try await storage.save(CredentialsV1(token: "t0ken"), for: "credentials")
        #expect(try await migrated(storage) == CredentialsV2(tokens: ["t0ken"]))

        let stored: CredentialsV2? = try await storage.load(for: "credentials")
        #expect(stored == CredentialsV2(tokens: ["t0ken"]))
        #expect(try await migrated(storage) == CredentialsV2(tokens: ["t0ken"]))
    }

    // MARK: - Example: Auth Flow

    actor AuthManager {
        private let storage: SecureStorageProtocol

        init(storage: SecureStorageProtocol = KeychainSecureStorage.shared) {
            self.storage = storage
        }

        func login(username: String, password: String) async throws {
            let token = try await apiClient.authenticate(username, password)
            try await storage.save(token, for: "authToken")
        }

        func logout() async throws {
            try await storage.delete(for: "authToken")
        }

        func isAuthenticated() -> Bool {
            storage.exists(for: "authToken")
        }

        func getToken() async throws -> String? {
            try await storage.load(for: "authToken")
        }
    }

    private func goThrough(_ manager: AuthManager) async throws {
        #expect(await !manager.isAuthenticated())
        #expect(try await manager.getToken() == nil)

        try await manager.login(username: "alice", password: "s3cret")
        #expect(await manager.isAuthenticated())
        #expect(try await manager.getToken() == "token of alice")

        try await manager.logout()
        #expect(await !manager.isAuthenticated())
        #expect(try await manager.getToken() == nil)
    }

    @Test func authFlow_overTheKeychain_logsInAndOut() async throws {
        try await cleaned { try await goThrough(AuthManager()) }
    }

    @Test func authFlow_overTheMock_logsInAndOut() async throws {
        try await goThrough(AuthManager(storage: MockSecureStorage()))
    }
}
