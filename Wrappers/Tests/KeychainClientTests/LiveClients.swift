// SPDX-License-Identifier: Apache-2.0
// Clients over stores of tests, and users to keep in them.

import KeychainClient
import KeychainEngine
@_spi(Wrappers) import KeychainKit
import Testing
import Valet
import WrapperStores

let alice = UserData(
    email: "alice@example.com", firstName: "Alice", lastName: "Liddell", identifier: "a-1")
let bob = UserData(email: "bob@example.com", firstName: "Bob", lastName: "Baker", identifier: "b-2")
let userKeys = ["email", "firstName", "lastName", "identifier"]

func valet(_ store: any ItemStore) throws -> Valet {
    let identifier = try #require(Valet.Identifier(nonEmpty: "com.example.client"))
    return Valet.valet(with: identifier, accessibility: .whenUnlocked).using(store)
}

/// As older versions have stored it.
func storeParts(_ user: UserData, _ valet: Valet, without missing: [String] = []) throws {
    let parts = [
        "email": user.email, "firstName": user.firstName, "lastName": user.lastName, "identifier": user.identifier,
    ]
    for (key, value) in parts where !missing.contains(key) { try valet.setString(value, forKey: key) }
}

enum Clients: CaseIterable, Sendable {
    case memory, vault, inMemory

    func make() throws -> KeychainClient {
        switch self {
        case .memory: .live(valet: try valet(MemoryStore()))
        case .vault: .live(valet: try valet(StoreKind.vault.empty()))
        case .inMemory: .inMemory()
        }
    }
}
