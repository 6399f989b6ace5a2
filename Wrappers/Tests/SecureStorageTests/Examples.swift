// SPDX-License-Identifier: Apache-2.0
// The examples of the module's page and comments, word for word.

import Foundation
@_spi(Wrappers) import KeychainKit
import KeychainTesting
import SecureStorage
import Testing

@Suite("Examples of SecureStorage")
struct Examples {
    private struct Credentials: Codable, Sendable {
        let username: String
        let apiKey: String
    }

    private enum SignInFailure: Error { case keychain, locked }

    /// The storage of the examples, over a store of the test's own.
    private enum KeychainSecureStorage {
        static var shared: SecureStorage.KeychainSecureStorage { .init(service: "app").using(MemoryStore()) }
    }

    @Test func storage_inItsExample_loadsWhatItSaved() async throws {
        let storage = KeychainSecureStorage.shared
        try await storage.save("s3cret", for: "authToken")
        let token: String? = try await storage.load(for: "authToken")
        #expect(token == "s3cret")
    }

    @Test func protocol_inItsExample_isWhatFeaturesTake() async throws {
        func signOut(_ storage: any SecureStorageProtocol) async throws {
            try await storage.delete(for: "authToken")
        }
        let storage = MockSecureStorage()
        try await storage.save("test-token", for: "authToken")
        try await signOut(storage)
        #expect(!storage.exists(for: "authToken"))
    }

    @Test func saving_inItsExample_keepsAStructure() async throws {
        let storage = MockSecureStorage()
        try await storage.save(Credentials(username: "alice", apiKey: "s3cret"), for: "userCredentials")
        let stored: Credentials? = try await storage.load(for: "userCredentials")
        #expect(stored?.apiKey == "s3cret")
    }

    @Test func lastFailure_inItsExample_tellsLockedApart() async throws {
        let storage = SecureStorage.KeychainSecureStorage(service: "app").using(try failing(.locked))
        func token() async throws -> String? {
            do {
                let token: String? = try await storage.load(for: "authToken")
                return token
            } catch SecureStorageError.loadFailed {
                guard storage.lastFailure?.reason == .locked else { throw SignInFailure.keychain }
                throw SignInFailure.locked
            }
        }
        await #expect(throws: SignInFailure.locked) { try await token() }
    }

    @Test func value_inItsExample_isThere() async throws {
        let storage = MockSecureStorage()
        try await storage.save("s3cret", for: "apiKey")
        let apiKey = try await storage.value(String.self, for: "apiKey")
        #expect(apiKey == "s3cret")
    }

    @Test func migration_inItsExample_convertsTheOldValue() async throws {
        let storage = MockSecureStorage()
        try await storage.save(CredentialsV1(token: "t0ken"), for: "credentials")
        let login = try await storage.load(for: "credentials", migratingFrom: CredentialsV1.self) {
            CredentialsV2(from: $0)
        }
        #expect(login == CredentialsV2(tokens: ["t0ken"]))
    }

    @Test func using_inItsExample_isAnEmptyStorage() async throws {
        typealias KeychainSecureStorage = SecureStorage.KeychainSecureStorage
        let storage = KeychainSecureStorage.shared.using(MemoryStore())
        #expect(!storage.exists(for: "authToken"))
    }
}
