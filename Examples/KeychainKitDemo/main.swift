// SPDX-License-Identifier: Apache-2.0
// What several processes do with the same items: save, read, count or watch, as one word says; without it, pay a visit.

import Foundation
import KeychainKit

func run(_ word: String?) async throws {
    let store = SecretStore(service: "com.example.app", accessibility: .afterFirstUnlock)
    switch word {
    case "save":
        try await store.save("battery staple", for: "bob", attributes: ItemAttributes(label: "Bob's account"))
    case "read":
        guard let secret = try await store.read(String.self, for: "bob") else {
            print("There is no secret yet. Save one first: KeychainKitDemo save")
            exit(1)
        }
        print(secret)
    case "count":
        for _ in 1...2 { try await store.update(Int.self, for: "counter") { $0 = ($0 ?? 0) + 1 } }
        print(try await store.read(Int.self, for: "counter") ?? 0)
    case "watch":
        try await watch(store)
    default:
        try await visit()
    }
}

try await run(CommandLine.arguments.dropFirst().first)
