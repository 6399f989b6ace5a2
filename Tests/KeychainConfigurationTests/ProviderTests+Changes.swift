// SPDX-License-Identifier: Apache-2.0
// Secrets as configuration: what is watched, and snapshots of all.

#if Configuration
    import Configuration
    import Foundation
    import KeychainConfiguration
    import KeychainKit
    import KeychainTestSupport
    import KeychainTesting
    import Testing

    extension ProviderTests {
        @Test func watchedValue_changedThroughAnotherStore_arrives() async throws {
            try await store.save("old", for: "password")
            let other = SecretStore(service: "com.example.app", store: memory)
            try await ConfigReader(provider: provider).watchString(forKey: "password") { updates in
                var seen: [String?] = []
                for await value in updates {
                    seen.append(value)
                    if seen.count == 1 { try await other.save("new", for: "password") }
                    if seen.count == 2 { try await other.remove(for: "password") }
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

        /// Ends the pause before a failed read is repeated. The other sleeper is the timer of asynchronous calls.
        private static func endPause(_ clock: TestClock) async {
            await clock.untilSleeping(2)
            clock.advance(by: .seconds(1))
        }

        @Test func watchedValue_whoseReadFailedOnce_isReadAgainAfterAPause() async throws {
            let (scripted, clock) = (ScriptedStore(), TestClock())
            var store = SecretStore(service: "com.example.app", store: scripted)
            store.clock = clock
            try await store.save("s3cret", for: "password")
            scripted.fail(.busy, on: [.select])
            try await KeychainConfigProvider(store).watchValue(forKey: "password", type: .string) { updates in
                var seen: [KeychainError.Reason?] = []
                for await update in updates {
                    seen.append(reason(of: update))
                    if seen.count == 2 { break }
                    Task { await Self.endPause(clock) }
                }
                #expect(seen == [.busy, nil])
            }
        }

        /// The clock stands still, so the pause does not end by itself.
        @Test func watchedValue_changedDuringThePauseAfterAFailure_isReadAtOnce() async throws {
            let scripted = ScriptedStore()
            var store = SecretStore(service: "com.example.app", store: scripted)
            store.clock = TestClock()
            try await store.save("old", for: "password")
            scripted.fail(.busy, on: [.select])
            try await KeychainConfigProvider(store).watchValue(forKey: "password", type: .string) { [store] updates in
                var seen: [KeychainError.Reason?] = []
                for await update in updates {
                    seen.append(reason(of: update))
                    if seen.count == 2 { break }
                    try await store.save("new", for: "password")
                }
                #expect(seen == [.busy, nil])
            }
        }

        @Test func watchedValue_whoseReadFailed_asksNobodyWhenItIsRepeated() async throws {
            let (scripted, clock) = (ScriptedStore(over: MemoryStore(passphrase: "p")), TestClock())
            let person = Person(passphrase: "p")
            var store = SecretStore(service: "com.example.app", accessControl: .userPresence, store: scripted)
            store.clock = clock
            store.context = AuthenticationContext { person }
            try await store.save("s3cret", for: "password")
            scripted.fail(.timedOut, on: [.select])
            try await KeychainConfigProvider(store).watchValue(forKey: "password", type: .string) { updates in
                var seen: [KeychainError.Reason?] = []
                for await update in updates {
                    seen.append(reason(of: update))
                    if seen.count == 2 { break }
                    Task { await Self.endPause(clock) }
                }
                #expect(seen == [.timedOut, .interactionNotAllowed])
            }
            #expect(person.questions.isEmpty)
        }

        @Test func watchedSnapshot_whoseReadFailedOnce_isReadAgainAfterAPause() async throws {
            let (scripted, clock) = (ScriptedStore(), TestClock())
            var store = SecretStore(service: "com.example.app", store: scripted)
            store.clock = clock
            try await store.save("s3cret", for: "password")
            scripted.fail(.busy, on: [.select])
            try await KeychainConfigProvider(store).watchSnapshot { snapshots in
                var seen: [ConfigContent?] = []
                for await snapshot in snapshots {
                    let value = try? snapshot.value(forKey: "password", type: .string).value
                    seen.append(value?.content)
                    if seen.count == 2 { break }
                    Task { await Self.endPause(clock) }
                }
                #expect(seen == [nil, .string("s3cret")])
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

        @Test func keychain_thatNoticesNoChanges_isNotWatched() async throws {
            let blind = KeychainConfigProvider(
                SecretStore(service: "com.example.app", store: InterruptedStore(memory)))
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
            let changing = InterruptedStore(memory)
            changing.interrupt(onlyOfValues: true) { [store] in
                for name in ["a", "b"] { try store.save(2, for: name) }
            }
            let snapshot = KeychainConfigProvider(SecretStore(service: "com.example.app", store: changing)).snapshot()
            for key: AbsoluteConfigKey in ["a", "b"] {
                #expect(try snapshot.value(forKey: key, type: .int).value?.content == .int(2))
            }
        }

        @Test func snapshot_ofValuesThatNeverStandStill_saysThatTheyAreBusy() throws {
            try store.save(1, for: "a")
            let changing = InterruptedStore(memory)
            changing.interrupt(.max, onlyOfValues: true) { [store] in
                try store.save(UUID().uuidString, for: "a")
            }
            let snapshot = KeychainConfigProvider(SecretStore(service: "com.example.app", store: changing)).snapshot()
            let error = try #require(throws: KeychainError.self) { try snapshot.value(forKey: "a", type: .string) }
            #expect(error.reason == .busy)
        }
    }
#endif
