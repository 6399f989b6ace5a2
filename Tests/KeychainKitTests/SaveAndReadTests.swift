// SPDX-License-Identifier: Apache-2.0
// Values go in and come out.

import Foundation
import KeychainKit
import Testing

@Suite("Saving and reading")
struct SaveAndReadTests {
    private let store = SecretStore(service: "com.example.app", store: MemoryStore())

    private struct Account: Codable, Equatable {
        var name = "alice"
        var tries = 3
        var password = SecretValue("s3cret")
    }

    @Test func text_saved_isRead() throws {
        try store.save("s3cret", for: "alice")
        #expect(try store.read(String.self, for: "alice") == "s3cret")
    }

    @Test func text_savedWithoutBlocking_isRead() async throws {
        try await store.save("s3cret", for: "alice")
        #expect(try await store.read(String.self, for: "alice") == "s3cret")
    }

    @Test func record_saved_isRead() throws {
        try store.save(Account(), for: "alice")
        #expect(try store.read(Account.self, for: "alice") == Account())
    }

    @Test func counter_updated_isCounted() throws {
        for _ in 1...3 { try store.update(Int.self, for: "counter") { $0 = ($0 ?? 0) + 1 } }
        #expect(try store.read(Int.self, for: "counter") == 3)
    }

    @Test func transaction_ofSeveral_changesAll() async throws {
        try await store.save("old", for: "alice")
        try await store.transaction { transaction in
            let old = try await transaction.read(String.self, for: "alice")
            try transaction.save(old ?? "", for: "bob")
            transaction.remove(for: "alice")
        }
        #expect(try await store.read(String.self, for: "bob") == "old")
        #expect(try await !store.contains(for: "alice"))
    }

    @Test func catalog_ofEverything_listsIt() throws {
        try store.save("x", for: "alice")
        let catalog = KeychainCatalog(store: MemoryStore())
        #expect(try catalog.items().isEmpty)
    }
}
