// SPDX-License-Identifier: Apache-2.0
// The change that a migration comes to: one transaction where the keychain has them.

import Foundation
import KeychainKit

struct MigrationChange {
    let pairs: [String: Data]
    /// What is removed; none if the migration only copies.
    let found: [FoundItem]
    /// Where it is removed.
    let sources: [MigrationSource]
    /// Where the pairs go.
    let secrets: SecretStore
    let destination: Compartment

    func make() throws {
        guard sources.allSatisfy({ $0.keychain.isSame(as: destination.keychain) }) else { return try makeInSteps() }
        do {
            try makeAtOnce(removing: found)
        } catch let failure as KeychainKit.KeychainError {
            guard failure.reason == .unsupported else { throw thrown(failure) }
            try makeInSteps()
        }
    }

    // MARK: - At once

    private func makeAtOnce(removing found: [FoundItem]) throws {
        try secrets.transaction { transaction in
            for item in found { try remove(item, transaction) }
            for (key, value) in pairs { try transaction.create(value, for: key) }
        }
    }

    /// What is removed has to be what was copied: a newer value would be lost.
    private func remove(_ item: FoundItem, _ transaction: SecretTransaction) throws {
        guard let name = item.name else { throw removalFailed(.nameIsNoText) }
        guard item.isCanary || item.value != nil else { return }
        let source = try transaction.in(name.secrets(in: destination.keychain))
        if !item.isCanary, try source.read(Data.self, for: name.account) != item.value { throw SourceHasChanged() }
        source.remove(name.account)
    }

    // MARK: - In steps

    /// For two keychains, and for one without transactions. Removing comes last, and is one call for each source.
    private func makeInSteps() throws {
        var created: [String] = []
        do throws(KeychainKit.KeychainError) {
            for (key, value) in pairs {
                try secrets.create(value, for: key)
                created.append(key)
            }
        } catch {
            revert(created)
            throw thrown(error)
        }
        do {
            for source in sources { try source.removeAll() }
        } catch let failure as KeychainKit.KeychainError {
            revert(created)
            throw removalFailed(failure)
        }
    }

    private func revert(_ created: [String]) {
        for key in created {
            do throws(KeychainKit.KeychainError) {
                try secrets.remove(key)
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
        .unsupported, "An item to migrate has a service that is no text. Migrate without removing, then remove it.")
}
