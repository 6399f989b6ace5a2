// SPDX-License-Identifier: Apache-2.0
// What a reading gives, again after each change.

#if Configuration
    public import Configuration
    import KeychainKit

    /// What is read at once, and what is read after each change if that is another thing.
    struct Watching<Reading: Equatable & Sendable, Element: Sendable>: AsyncSequence, Sendable {
        typealias Failure = Never

        let changes: SecretChanges
        let read: @Sendable () async -> Reading
        let element: @Sendable (Reading) -> Element

        func makeAsyncIterator() -> Iterator {
            Iterator(changes: changes.makeAsyncIterator(), read: read, element: element)
        }

        struct Iterator: AsyncIteratorProtocol {
            var changes: SecretChanges.Iterator
            let read: @Sendable () async -> Reading
            let element: @Sendable (Reading) -> Element
            var last: Reading?

            mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Element? {
                while true {
                    if last != nil, await changes.next(isolation: actor) == nil { return nil }
                    let reading = await read()
                    // Then that it was cancelled is all that was read.
                    if Task.isCancelled { return nil }
                    defer { last = reading }
                    if reading != last { return element(reading) }
                }
            }
        }
    }

    extension KeychainConfigProvider {
        /// The value now, and each later one, by whatever program it is changed; an error while it cannot be read.
        ///
        /// - Throws: `unsupported` if the keychain does not notice changes, and what the handler throws.
        public nonisolated(nonsending) func watchValue<Return: ~Copyable>(
            forKey key: AbsoluteConfigKey, type: ConfigType,
            updatesHandler:
                nonisolated(nonsending) (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>)
                async throws -> Return
        ) async throws -> Return {
            let watching = Watching(changes: try await store.changes(for: account(key))) {
                await reading(key, type)
            } element: { (reading) -> Result<LookupResult, any Error> in
                reading.mapError { $0 }
            }
            return try await updatesHandler(ConfigUpdatesAsyncSequence(watching))
        }

        private nonisolated(nonsending) func reading(
            _ key: AbsoluteConfigKey, _ type: ConfigType
        ) async -> Result<LookupResult, KeychainError> {
            do throws(KeychainError) {
                return .success(try await lookUp(key, type))
            } catch {
                return .failure(error)
            }
        }

        /// All values now, and again after each change.
        ///
        /// - Throws: `unsupported` if the keychain does not notice changes, and what the handler throws.
        public nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
            updatesHandler:
                nonisolated(nonsending) (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws ->
                Return
        ) async throws -> Return {
            let watching = Watching(changes: try await store.changes()) {
                await SnapshotContent(store)
            } element: { (content) -> any ConfigSnapshot in
                snapshot(content)
            }
            return try await updatesHandler(ConfigUpdatesAsyncSequence(watching))
        }
    }
#endif
