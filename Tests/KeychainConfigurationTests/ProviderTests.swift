// SPDX-License-Identifier: Apache-2.0
// Secrets come out as configuration values.

#if Configuration
    import Configuration
    import ConfigurationTesting
    import Foundation
    import KeychainConfiguration
    import KeychainKit
    import KeychainTestSupport
    import KeychainTesting
    import Testing

    @Suite("Secrets as configuration", .timeLimit(.minutes(60)))
    struct ProviderTests {
        let memory = MemoryStore()
        let store: SecretStore
        let provider: KeychainConfigProvider

        init() {
            store = SecretStore(service: "com.example.app", store: memory)
            provider = KeychainConfigProvider(store)
        }

        // MARK: - Values

        /// What the suite of swift-configuration looks up.
        private static let texts = [
            "string": "Hello", "int": "42", "double": "3.14", "bool": "true", "bytes": "magic",
            "stringy.array": "Hello,World", "inty.array": "42, 24", "doubly.array": "[3.14,2.72]",
            "booly.array": "yes,no", "byteChunky.array": #"["bWFnaWM=","bWFnaWMy"]"#,
            "other.string": "Other Hello", "other.int": "24", "other.double": "2.72", "other.bool": "no",
            "other.bytes": "magic2", "other.stringy.array": #"["Hello","Swift"]"#, "other.inty.array": "[16,32]",
            "other.doubly.array": "0.9,1.8", "other.booly.array": "[false,true,true]",
            "other.byteChunky.array": "bWFnaWM=,bWFnaWMy,bWFnaWM=",
        ]

        @Test func provider_ofTexts_passesTheSuiteOfItsProtocol() async throws {
            for (account, text) in Self.texts { try await store.save(text, for: account) }
            try await ProviderCompatTest(provider: provider).runTest()
        }

        @Test func value_lookedUp_isSecret() throws {
            try store.save("s3cret", for: "database.password")
            let found = try provider.value(forKey: "database.password", type: .string)
            #expect(
                found == LookupResult(encodedKey: "database.password", value: ConfigValue("s3cret", isSecret: true)))
        }

        @Test func array_savedByAStore_isRead() throws {
            try store.save([1, 2], for: "numbers")
            #expect(try ConfigReader(provider: provider).requiredIntArray(forKey: "numbers") == [1, 2])
        }

        @Test func bytes_thatAreNoText_areRead() throws {
            try store.save(Data([0xFF, 0]), for: "key")
            #expect(try ConfigReader(provider: provider).requiredBytes(forKey: "key") == [0xFF, 0])
        }

        @Test(arguments: [ConfigType.int, .double, .bool, .intArray, .byteChunkArray])
        func text_ofAnotherType_isATypeMismatchThatDoesNotShowIt(type: ConfigType) throws {
            try store.save("s3cret!", for: "key")
            let error = try #require(throws: KeychainError.self) { try provider.value(forKey: "key", type: type) }
            #expect(error.reason == .typeMismatch && !error.message.contains("s3cret!"))
        }

        @Test func bytes_askedForAsText_areATypeMismatch() throws {
            try store.save(Data([0xFF, 0]), for: "key")
            let error = try #require(throws: KeychainError.self) { try provider.value(forKey: "key", type: .string) }
            #expect(error.reason == .typeMismatch)
        }

        @Test func brokenJSON_askedForAsAnArray_isATypeMismatch() throws {
            try store.save("[1, 2", for: "key")
            let error = try #require(throws: KeychainError.self) { try provider.value(forKey: "key", type: .intArray) }
            #expect(error.reason == .typeMismatch)
        }

        @Test func key_mappedByTheProgram_isThatAccount() throws {
            try store.save("s3cret", for: "database/password")
            let provider = KeychainConfigProvider(store) { $0.components.joined(separator: "/") }
            #expect(try ConfigReader(provider: provider).requiredString(forKey: "database.password") == "s3cret")
        }

        @Test func separator_chosen_isWhatArraysAreSplitAt() throws {
            try store.save("a,b;c", for: "list")
            let provider = KeychainConfigProvider(store, arraySeparator: ";")
            #expect(try ConfigReader(provider: provider).requiredStringArray(forKey: "list") == ["a,b", "c"])
        }

        @Test func provider_inItsExample_isAskedFirst() async throws {
            // swift-format-ignore: AlwaysUseLowerCamelCase
            func SecretStore(service: String) -> KeychainKit.SecretStore {
                KeychainKit.SecretStore(service: service, store: memory)
            }
            try await self.store.save("s3cret", for: "database.password")
            let store = SecretStore(service: "com.example.app")
            let config = ConfigReader(providers: [KeychainConfigProvider(store), EnvironmentVariablesProvider()])
            let password = try await config.fetchRequiredString(forKey: "database.password")
            #expect(password == "s3cret")
        }

        @Test func absentSecret_isLookedForInTheNextProvider() throws {
            let fallback = InMemoryProvider(values: ["password": "fallback"])
            #expect(try ConfigReader(providers: [provider, fallback]).requiredString(forKey: "password") == "fallback")
        }

        // MARK: - Errors

        @Test func lockedKeychain_isAnErrorAndNotAMissingValue() async throws {
            try await store.save("s3cret", for: "password")
            memory.lockState = .locked
            let read = try #require(throws: KeychainError.self) {
                try provider.value(forKey: "password", type: .string)
            }
            let fetched = try await #require(throws: KeychainError.self) {
                try await provider.fetchValue(forKey: "password", type: .string)
            }
            #expect(read.reason == .locked && fetched.reason == .locked)
        }

        @Test func lockedKeychain_behindAReader_isAnErrorAndNotTheNextProvidersTurn() async throws {
            try await store.save("s3cret", for: "password")
            memory.lockState = .locked
            let fallback = InMemoryProvider(values: ["password": "fallback"])
            let config = ConfigReader(providers: [provider, fallback])
            let error = try await #require(throws: KeychainError.self) {
                try await config.fetchRequiredString(forKey: "password")
            }
            #expect(error.reason == .locked)
            await #expect(throws: error) { try await config.fetchString(forKey: "password", default: "x") }
        }
    }
#endif
