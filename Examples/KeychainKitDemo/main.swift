// SPDX-License-Identifier: Apache-2.0
// What several processes do with the same items, one word for each process: save, read, count, or the tour of the README.

import Foundation
import KeychainKit

let store = SecretStore(service: "com.example.app", accessibility: .afterFirstUnlock)

switch CommandLine.arguments.dropFirst().first {
case "save":
    try await store.save("battery staple", for: "bob", ItemAttributes(label: "Bob's account"))
case "read":
    guard let secret = try await store.read(String.self, for: "bob") else {
        print("There is no secret yet. Save one first: KeychainKitDemo save")
        exit(1)
    }
    print(secret)
case "count":
    // Another process may count at the same time: no count gets lost.
    for _ in 1...2 { try await store.update(Int.self, for: "counter") { $0 = ($0 ?? 0) + 1 } }
    print(try await store.read(Int.self, for: "counter") ?? 0)
default:
    try await tour()
}
