// SPDX-License-Identifier: Apache-2.0
// Secrets come out as configuration values.

#if Configuration
    import Configuration
    import ConfigurationTesting
    import Foundation
    import KeychainConfiguration
    import KeychainKit
    import Testing

    @Suite("Secrets as configuration")
    struct ProviderTests {
        private let memory = MemoryStore()
        private let store: SecretStore
        private let provider: KeychainConfigProvider

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

        @Test func value_looked_up_isSecret() throws {
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

        // MARK: - Watching

        @Test func watchedValue_changedThroughAnotherStore_arrives() async throws {
            try await store.save("old", for: "password")
            let other = SecretStore(service: "com.example.app", store: memory)
            try await ConfigReader(provider: provider).watchString(forKey: "password") { updates in
                var seen: [String?] = []
                for await value in updates {
                    seen.append(value)
                    if seen.count == 1 { try await other.save("new", for: "password") }
                    if seen.count == 2 { try await other.remove("password") }
                    if seen.count == 3 { break }
                }
                #expect(seen == ["old", "new", nil])
            }
        }

        @Test func watchedValue_whileTheKeychainIsLocked_isAnErrorUntilItIsUnlocked() async throws {
            try await store.save("s3cret", for: "password")
            try await provider.watchValue(forKey: "password", type: .string) { updates in
                var seen: [KeychainError.Reason?] = []
                for await update in updates {
                    seen.append(reason(of: update))
                    if seen.count == 1 { memory.lockState = .locked }
                    if seen.count == 2 { memory.lockState = .unlocked }
                    if seen.count == 3 { break }
                }
                #expect(seen == [nil, .locked, nil])
            }
        }

        private func reason(of update: Result<LookupResult, any Error>) -> KeychainError.Reason? {
            guard case .failure(let error as KeychainError) = update else { return nil }
            return error.reason
        }

        @Test func watchedValue_whoseTaskIsCancelled_comesToAnEnd() async throws {
            let watching = Task {
                try await provider.watchValue(forKey: "password", type: .string) { updates in
                    for await _ in updates { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            try await watching.value
        }

        @Test func watchedSnapshot_changedThroughAnotherStore_arrivesWhole() async throws {
            let other = SecretStore(service: "com.example.app", store: memory)
            try await provider.watchSnapshot { updates in
                var seen: [[ConfigContent?]] = []
                for await snapshot in updates {
                    seen.append(
                        try [AbsoluteConfigKey](["a", "b"]).map {
                            try snapshot.value(forKey: $0, type: .int).value?.content
                        })
                    if seen.count == 2 { break }
                    try saveBoth(in: other)
                }
                #expect(seen == [[nil, nil], [.int(1), .int(1)]])
            }
        }

        private func saveBoth(in store: SecretStore) throws {
            try store.transaction { for name in ["a", "b"] { try $0.save(1, for: name) } }
        }

        @Test func keychainThatNoticesNoChanges_isNotWatched() async throws {
            let blind = KeychainConfigProvider(
                SecretStore(service: "com.example.app", store: ChangingStore(memory, changes: 0) {}))
            let error = try await #require(throws: KeychainError.self) {
                try await blind.watchValue(forKey: "password", type: .string) { _ in }
            }
            #expect(error.reason == .unsupported)
        }

        // MARK: - Snapshots

        @Test func snapshot_staysAsItWas() throws {
            try store.save("old", for: "password")
            let snapshot = provider.snapshot()
            try store.save("new", for: "password")
            try store.save("other", for: "another")
            #expect(try snapshot.value(forKey: "password", type: .string).value?.content == .string("old"))
            #expect(try snapshot.value(forKey: "another", type: .string).value == nil)
        }

        @Test func snapshot_ofALockedKeychain_failsAtEachLookup() throws {
            try store.save("s3cret", for: "password")
            memory.lockState = .locked
            let snapshot = provider.snapshot()
            memory.lockState = .unlocked
            for key: AbsoluteConfigKey in ["password", "absent"] {
                let error = try #require(throws: KeychainError.self) { try snapshot.value(forKey: key, type: .string) }
                #expect(error.reason == .locked)
            }
        }

        @Test func snapshot_besideItemsThatAskForTheUser_hasTheOthersAndIsNotSureOfTheRest() throws {
            memory.setPassphrase("several words")
            try store.save("open", for: "open")
            var asking = store
            asking.accessControl = .userPresence
            try asking.save("s3cret", for: "closed")
            let snapshot = provider.snapshot()
            #expect(try snapshot.value(forKey: "open", type: .string).value?.content == .string("open"))
            for key: AbsoluteConfigKey in ["closed", "absent"] {
                let error = try #require(throws: KeychainError.self) { try snapshot.value(forKey: key, type: .string) }
                #expect(error.reason == .interactionNotAllowed)
            }
        }

        @Test func snapshot_ofValuesThatChangeMeanwhile_hasOnesThatBelongTogether() throws {
            for name in ["a", "b"] { try store.save(1, for: name) }
            let changing = ChangingStore(memory, changes: 1) { [store] in
                for name in ["a", "b"] { try store.save(2, for: name) }
            }
            let snapshot = KeychainConfigProvider(SecretStore(service: "com.example.app", store: changing)).snapshot()
            for key: AbsoluteConfigKey in ["a", "b"] {
                #expect(try snapshot.value(forKey: key, type: .int).value?.content == .int(2))
            }
        }

        @Test func snapshot_ofValuesThatNeverStandStill_saysThatTheyAreBusy() throws {
            try store.save(1, for: "a")
            let changing = ChangingStore(memory, changes: .max) { [store] in
                try store.save(UUID().uuidString, for: "a")
            }
            let snapshot = KeychainConfigProvider(SecretStore(service: "com.example.app", store: changing)).snapshot()
            let error = try #require(throws: KeychainError.self) { try snapshot.value(forKey: "a", type: .string) }
            #expect(error.reason == .busy)
        }
    }
#endif
