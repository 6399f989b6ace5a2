// SPDX-License-Identifier: Apache-2.0
// The storage in memory.

import Foundation
import SecureStorage
import Testing

@Suite("Mock of a secure storage")
struct MockTests {
    @Test func mocks_areEachTheirOwn() async throws {
        let (one, other) = (MockSecureStorage(), MockSecureStorage())
        try await one.save("test-token", for: "authToken")
        #expect(!other.exists(for: "authToken"))
    }

    @Test func cleared_hasNothing() async throws {
        let storage = MockSecureStorage()
        try await storage.save("test-token", for: "authToken")
        storage.clear()
        #expect(!storage.exists(for: "authToken"))
        let token: String? = try await storage.load(for: "authToken")
        #expect(token == nil)
    }

    @Test func deleted_isGone() async throws {
        let storage = MockSecureStorage()
        try await storage.save("test-token", for: "authToken")
        try await storage.delete(for: "authToken")
        #expect(!storage.exists(for: "authToken"))
    }

    @Test func valueOfAnotherType_isDecodingFailed() async throws {
        let storage = MockSecureStorage()
        try await storage.save("text", for: "number")
        await #expect(throws: SecureStorageError.decodingFailed("the value is not of type Int")) {
            let _: Int? = try await storage.load(for: "number")
        }
    }

    @Test func storages_areSendable() {
        func take(_: some Sendable) {}
        take(MockSecureStorage())
        take(KeychainSecureStorage.shared)
        take(SecureStorageError.notFound)
    }
}
