// SPDX-License-Identifier: Apache-2.0
// The first calls: save, read, update, and waiting for changes.

import KeychainKit

func visit() async throws {
    let store = SecretStore(service: "com.example.app")
    try await store.save("s3cret", for: "alice")  // text, bytes, anything Codable
    let secret = try await store.read(String.self, for: "alice")  // nil only if there is none
    try await store.update(Int.self, for: "visits") { $0 = ($0 ?? 0) + 1 }  // atomic across processes
    let visits = try await store.read(Int.self, for: "visits")
    print("alice's secret has \(secret?.count ?? 0) characters, and this is visit \(visits ?? 0)")
}

func watch(_ store: SecretStore) async throws {  // waits without polling, for changes by any process
    for await change in try await store.changes(for: "alice") { return print("alice's secret: \(change.kind)") }
}
