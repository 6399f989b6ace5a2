// SPDX-License-Identifier: Apache-2.0
// All values of a store at one moment.

#if Configuration
    import Configuration
    import KeychainKit

    struct KeychainConfigSnapshot: ConfigSnapshot {
        let providerName: String
        let account: @Sendable (AbsoluteConfigKey) -> String
        let conversion: SecretConversion
        let content: SnapshotContent

        func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
            let account = account(key)
            return try conversion.result(account, try content.value(account), type)
        }
    }

    /// Values by the bytes of their accounts: the keychain compares bytes, and Swift's text compares characters. An
    /// item that cannot be read has its error, and does not affect the others.
    typealias SnapshotValues = [[UInt8]: Result<SecretValue, KeychainError>]

    /// The content of a snapshot, or the reason why it has none.
    enum SnapshotContent: Equatable, Sendable {
        case complete(SnapshotValues)
        /// There are also items that require authentication.
        case withoutProtected(SnapshotValues)
        case unreadable(KeychainError)

        func value(_ account: String) throws(KeychainError) -> SecretValue? {
            switch self {
            case .complete(let values): return try values[Array(account.utf8)]?.get()
            case .withoutProtected(let values):
                guard let value = values[Array(account.utf8)] else { throw .notInSnapshot }
                return try value.get()
            case .unreadable(let error): throw error
            }
        }
    }

    extension SnapshotContent: Reading {
        var failure: KeychainError? { if case .unreadable(let failure) = self { failure } else { nil } }

        init(_ store: SecretStore) {
            var store = store
            store.allowsInteraction = false
            do throws(KeychainError) {
                self = .complete(try values(of: store, .all))
            } catch {
                self = error.reason == .interactionNotAllowed ? Self.unprotected(store) : .unreadable(error)
            }
        }

        nonisolated(nonsending) init(_ store: SecretStore) async {
            var store = store
            store.allowsInteraction = false
            do throws(KeychainError) {
                self = .complete(try await values(of: store, .all))
            } catch {
                self = error.reason == .interactionNotAllowed ? await Self.unprotected(store) : .unreadable(error)
            }
        }

        private static func unprotected(_ store: SecretStore) -> SnapshotContent {
            do throws(KeychainError) {
                return .withoutProtected(try values(of: store, .unprotected))
            } catch {
                return .unreadable(error)
            }
        }

        private nonisolated(nonsending) static func unprotected(_ store: SecretStore) async -> SnapshotContent {
            do throws(KeychainError) {
                return .withoutProtected(try await values(of: store, .unprotected))
            } catch {
                return .unreadable(error)
            }
        }
    }

    /// Reads again until nothing has changed meanwhile, so that all values are of the same moment.
    private func values(of store: SecretStore, _ filter: ItemFilter) throws(KeychainError) -> SnapshotValues {
        var items = Set(try store.items(matching: filter))
        for _ in 1...maximumReadings {
            var values: SnapshotValues = [:]
            for account in items.compactMap(\.account) {
                do throws(KeychainError) {
                    values[Array(account.utf8)] = try store.read(for: account).map { .success($0) }
                } catch {
                    values[Array(account.utf8)] = .failure(try ofOneItem(error))
                }
            }
            let now = Set(try store.items(matching: filter))
            if now == items { return values }
            items = now
        }
        throw .alwaysChanging
    }

    private nonisolated(nonsending) func values(
        of store: SecretStore, _ filter: ItemFilter
    ) async throws(KeychainError) -> SnapshotValues {
        var items = Set(try await store.items(matching: filter))
        for _ in 1...maximumReadings {
            var values: SnapshotValues = [:]
            for account in items.compactMap(\.account) {
                do throws(KeychainError) {
                    values[Array(account.utf8)] = try await store.read(for: account).map { .success($0) }
                } catch {
                    values[Array(account.utf8)] = .failure(try ofOneItem(error))
                }
            }
            let now = Set(try await store.items(matching: filter))
            if now == items { return values }
            items = now
        }
        throw .alwaysChanging
    }

    /// - Throws: The error, if it concerns the keychain and not only one item.
    private func ofOneItem(_ error: KeychainError) throws(KeychainError) -> KeychainError {
        guard failuresOfItems.contains(error.reason) else { throw error }
        return error
    }

    /// An item without a value, a damaged one, and an account that several items have.
    private let failuresOfItems: Set<KeychainError.Reason> = [.typeMismatch, .corrupt, .duplicateItem]

    /// More than enough, unless another program writes continuously.
    private let maximumReadings = 20

    extension ItemFilter {
        fileprivate static let unprotected = {
            var filter = ItemFilter.all
            filter.skipsProtected = true
            return filter
        }()
    }

    extension KeychainError {
        fileprivate static let notInSnapshot = KeychainError(
            .interactionNotAllowed,
            "This item may require authentication. Snapshots do not contain such items. Read or fetch the value without a snapshot."
        )
        fileprivate static let alwaysChanging = KeychainError(
            .busy, "Other programs keep changing these items, so they cannot be read in one state. Try again.")
    }
#endif
