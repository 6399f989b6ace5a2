// SPDX-License-Identifier: Apache-2.0
// The result of reading, again after each change and after a failure that has passed.

#if Configuration
    public import Configuration
    import KeychainKit

    /// What was read, or why it could not be.
    protocol Reading: Equatable {
        var failure: KeychainError? { get }
    }

    extension Result: Reading where Success: Equatable, Failure == KeychainError {
        var failure: KeychainError? { if case .failure(let failure) = self { failure } else { nil } }
    }

    /// The result of reading now, and again after each change if it differs.
    struct Watching<Content: Reading & Sendable, Element: Sendable>: AsyncSequence, Sendable {
        typealias Failure = Never

        let changes: SecretChanges
        let store: SecretStore
        let read: @Sendable (SecretStore) async -> Content
        let element: @Sendable (Content) -> Element

        func makeAsyncIterator() -> Iterator { Iterator(watching: self, changes: changes.makeAsyncIterator()) }

        struct Iterator: AsyncIteratorProtocol {
            let watching: Watching
            var changes: SecretChanges.Iterator
            var last: Content?
            var retries = ReadRetries()

            mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
                var store = watching.store
                while true {
                    let pause = await retries.pause(
                        after: last?.failure, by: store.clock, endedBy: watching.changes)
                    if last != nil, pause == .noPause, await changes.next(isolation: actor) == nil { return nil }
                    // The user may have left the question unanswered.
                    store.allowsInteraction = watching.store.allowsInteraction && pause != .over
                    let reading = await watching.read(store)
                    // Then the read failed only because of the cancellation.
                    if Task.isCancelled { return nil }
                    defer { last = reading }
                    if reading != last { return watching.element(reading) }
                }
            }
        }
    }

    extension KeychainConfigProvider {
        /// The current value, and each later value, whichever program changes it; an error while it cannot be read.
        ///
        /// A read that failed because the keychain was busy, unavailable or too slow is repeated after a pause, without
        /// asking the user.
        ///
        /// - Throws: `unsupported` if the keychain does not notice changes, and the errors of the handler.
        public nonisolated(nonsending) func watchValue<Return: ~Copyable>(
            forKey key: AbsoluteConfigKey, type: ConfigType,
            updatesHandler:
                nonisolated(nonsending) (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>)
                async throws -> Return
        ) async throws -> Return {
            let watching = Watching(changes: try await store.changes(for: account(key)), store: store) { (store) in
                await reading(store, key, type)
            } element: { (reading) -> Result<LookupResult, any Error> in
                reading.mapError { $0 }
            }
            return try await updatesHandler(ConfigUpdatesAsyncSequence(watching))
        }

        private nonisolated(nonsending) func reading(
            _ store: SecretStore, _ key: AbsoluteConfigKey, _ type: ConfigType
        ) async -> Result<LookupResult, KeychainError> {
            do throws(KeychainError) {
                return .success(try await lookUp(key, type, in: store))
            } catch {
                return .failure(error)
            }
        }

        /// All values now, and again after each change.
        ///
        /// - Throws: `unsupported` if the keychain does not notice changes, and the errors of the handler.
        public nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
            updatesHandler:
                nonisolated(nonsending) (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws ->
                Return
        ) async throws -> Return {
            let watching = Watching(changes: try await store.changes(), store: store) { (store) in
                await SnapshotContent(store)
            } element: { (content) -> any ConfigSnapshot in
                snapshot(content)
            }
            return try await updatesHandler(ConfigUpdatesAsyncSequence(watching))
        }
    }
#endif
