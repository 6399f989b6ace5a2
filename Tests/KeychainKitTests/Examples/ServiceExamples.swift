// SPDX-License-Identifier: Apache-2.0
// What the server in Docs/Tasks.md does about secrets that change, are missing or locked.

import KeychainKit
import KeychainTesting
import Testing

@Suite("Examples of a service")
struct ServiceExamples {
    private let keychain = ScriptedStore()

    private var store: SecretStore { SecretStore(service: "com.example.web", store: keychain) }

    @Test func secret_changedWhileTheServiceRuns_isTheNewOne() async throws {
        let secrets = ServiceSecrets(store: store)
        try await store.save("first", for: "api-key")
        #expect(try await secrets.required("api-key") == SecretValue("first"))
        try await store.save("second", for: "api-key")
        #expect(try await secrets.required("api-key") == SecretValue("second"))
    }

    @Test func secret_missing_isAnError() async throws {
        let secrets = ServiceSecrets(store: store)
        await #expect(throws: MissingSecret(name: "api-key")) { try await secrets.required("api-key") }
    }

    @Test func secret_locked_isAnotherError() async throws {
        keychain.fail(.locked, on: [.select])
        let secrets = ServiceSecrets(store: store)
        let error = await #expect(throws: KeychainError.self) { try await secrets.required("api-key") }
        #expect(error?.reason == .locked)
    }
}
