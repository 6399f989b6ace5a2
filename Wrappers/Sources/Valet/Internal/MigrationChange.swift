// SPDX-License-Identifier: Apache-2.0
// The change that a migration makes, in one transaction if the keychain supports them.

import Foundation
@_spi(Wrappers) import KeychainKit

struct MigrationChange {
    let pairs: [MigratableKeyValuePair<String>]
    /// The items to remove; none if the migration only copies.
    let found: [FoundItem]
    /// The keychain to remove them from.
    let origin: ChosenKeychain
    /// The destination of the pairs.
    let secrets: SecretStore
    let destination: Compartment

    private struct Removal {
        let item: FoundItem
        let name: ItemName
    }

    func make() throws {
        let removals = try found.map { item in
            guard let name = item.name else { throw removalFailed(.nameIsNoText) }
            return Removal(item: item, name: name)
        }
        guard origin.isSame(as: destination.keychain) else { return try makeInSteps(removals) }
        do {
            try makeAtOnce(removals)
        } catch let failure as KeychainKit.KeychainError {
            guard failure.reason == .unsupported else { throw thrown(failure) }
            try makeInSteps(removals)
        }
    }

    /// Only an item with the copied value is removed: otherwise a newer value would be lost.
    private func remove(_ removal: Removal, _ source: SecretTransaction) throws {
        let (item, account) = (removal.item, removal.name.account)
        if !item.isCanary, try source.read(Data.self, for: account) != item.value { throw SourceHasChanged() }
        source.remove(for: account)
    }

    // MARK: - In one transaction

    private func makeAtOnce(_ removals: [Removal]) throws {
        try secrets.transaction { transaction in
            for removal in removals { try remove(removal, transaction.in(removal.name.secrets(in: origin))) }
            for pair in pairs { try transaction.create(pair.value, for: pair.key) }
        }
    }

    // MARK: - In steps

    /// For two keychains, and for one without transactions. Items are removed one by one and by name: the query might
    /// now match more, including the copies.
    private func makeInSteps(_ removals: [Removal]) throws {
        var copies: [Data: String] = [:]
        do throws(KeychainKit.KeychainError) {
            for pair in pairs {
                try secrets.create(pair.value, for: pair.key)
                copies[Data(pair.key.utf8)] = pair.key
            }
        } catch {
            revert(copies)
            throw thrown(error)
        }
        do {
            for removal in removals {
                try removeAlone(removal)
                // From here on this item is the only one, not a copy.
                copies[Data(removal.name.account.utf8)] = nil
            }
        } catch {
            revert(copies)
            throw (error as? KeychainKit.KeychainError).map { removalFailed($0) } ?? error
        }
    }

    /// A change of one item depends on its state in any keychain.
    private func removeAlone(_ removal: Removal) throws {
        var source = removal.name.secrets(in: origin)
        source.context = secrets.context
        try source.transaction { try remove(removal, $0) }
    }

    private func revert(_ copies: [Data: String]) {
        for key in copies.values {
            do throws(KeychainKit.KeychainError) {
                try secrets.remove(for: key)
            } catch {
                // The earlier error is thrown; `lastFailure` reports that this copy remains.
                destination.failures.record(error)
            }
        }
    }

    // MARK: - Failures

    private func thrown(_ failure: KeychainKit.KeychainError) -> any Error {
        let error = destination.recorded(failure)
        return failure.reason == .duplicateItem ? MigrationError.keyToMigrateAlreadyExistsInValet : error
    }

    private func removalFailed(_ failure: KeychainKit.KeychainError) -> MigrationError {
        destination.failures.record(failure)
        return .removalFailed
    }
}

extension KeychainKit.KeychainError {
    fileprivate static let nameIsNoText = KeychainKit.KeychainError(
        .unsupported, "An item to migrate has a service that is not text. Migrate without removing, then remove it.")
}
