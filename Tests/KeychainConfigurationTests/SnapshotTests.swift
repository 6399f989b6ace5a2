// SPDX-License-Identifier: Apache-2.0
// Snapshots give each key what the provider gives, whatever the other items are.

#if Configuration
    import Configuration
    import KeychainConfiguration
    import KeychainEngine
    import KeychainKit
    import KeychainTestSupport
    import Testing

    @Suite("Snapshots of secrets", .timeLimit(.minutes(60)))
    struct SnapshotTests {
        private let memory = MemoryStore()
        private var store: SecretStore { SecretStore(service: "com.example.app", store: memory) }
        private var provider: KeychainConfigProvider { KeychainConfigProvider(store) }

        private func addWithoutValue(_ account: String) throws {
            let attributes: Attributes = [.service: .string("com.example.app"), .account: .string(account)]
            _ = try Engine(store: memory).add(Query(.genericPassword, attributes), accessGroups: .unrestricted)
        }

        @Test func value_besideAnItemWithoutValue_isInTheSnapshot() throws {
            try store.save("s3cret", for: "password")
            try addWithoutValue("note")
            let found = try provider.snapshot().value(forKey: "password", type: .string)
            #expect(found.value == ConfigValue("s3cret", isSecret: true))
        }

        @Test func itemWithoutValue_inASnapshot_isAnError() throws {
            try store.save("s3cret", for: "password")
            try addWithoutValue("note")
            let snapshot = provider.snapshot()
            let error = #expect(throws: KeychainKit.KeychainError.self) {
                try snapshot.value(forKey: "note", type: .string)
            }
            #expect(error?.reason == .typeMismatch)
        }

        @Test func account_inAnotherNormalForm_isNotInTheSnapshot() throws {
            try store.save("s3cret", for: "\u{E9}")
            let key = AbsoluteConfigKey(["e\u{301}"])
            #expect(try provider.value(forKey: key, type: .string).value == nil)
            #expect(try provider.snapshot().value(forKey: key, type: .string).value == nil)
        }
    }
#endif
