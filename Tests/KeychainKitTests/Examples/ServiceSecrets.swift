// SPDX-License-Identifier: Apache-2.0
// The part of the server in Docs/Tasks.md that reads secrets.

import KeychainKit

struct ServiceSecrets: Sendable {
    private let store: SecretStore

    init(store: SecretStore = SecretStore(service: "com.example.web")) { self.store = store }

    /// Missing, locked and damaged are different errors, and none of them is an empty secret.
    func required(_ name: String) async throws -> SecretValue {
        guard let secret = try await store.read(SecretValue.self, for: name) else {
            throw MissingSecret(name: name)
        }
        return secret
    }
}

struct MissingSecret: Error, Equatable {
    let name: String
}
