// SPDX-License-Identifier: Apache-2.0
// The change that a migration comes to: one transaction where the keychain has them.

import Foundation
@_spi(Wrappers) import KeychainKit

struct MigrationChange {
    let pairs: [MigratableKeyValuePair<String>]
    /// What is removed; none if the migration only copies.
    let found: [FoundItem]
    /// Where it is removed.
    let origin: ChosenKeychain
    /// Where the pairs go.
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

    /// What is removed has to be what was copied: a newer value would be lost.
    private func remove(_ removal: Removal, _ source: SecretTransaction) throws {
        let (item, account) = (removal.item, removal.name.account)
        if !item.isCanary, try source.read(Data.self, for: account) != item.value { throw SourceHasChanged() }
        source.remove(for: account)
    }

    // MARK: - At once

    private func makeAtOnce(_ removals: [Removal]) throws {
        try secrets.transaction { transaction in
            for removal in removals { try remove(removal, transaction.in(removal.name.secrets(in: origin))) }
            for pair in pairs { try transaction.create(pair.value, for: pair.key) }
        }
    }

    // MARK: - In steps

    /// For two keychains, and for one without transactions. Items are removed one by one and by their names: what the
    /// query finds by now may be more, and be it what was just created.
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
                // From here on it is no copy any more.
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
                // What has gone wrong before is thrown; that this is left behind, lastFailure tells.
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
