// SPDX-License-Identifier: Apache-2.0
// The four calls of an ItemStore.

import Foundation
import GRDB
public import KeychainEngine

extension Vault {
    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        guard limit ?? 1 > 0 else { return SelectedItems(items: []) }
        return try authorization.satisfying(self) { (proofs) throws(KeychainError) in
            guard let session = try openSession(age: Self.lookInterval) else { return .done(SelectedItems(items: [])) }
            let search = try search(session, selection, limit, .reading(includingValues: includingValues, proofs))
            // Another process may be rotating the class keys.
            if search.metUnknownKey, try closeIfKeybagChanged(session), let session = try openSession() {
                return try self.search(
                    session, selection, limit, .reading(includingValues: includingValues, proofs)
                ).attempt
            }
            return search.attempt
        }
    }

    /// The failure itself, or what it comes from: a vault may be locked because a credential is a wrong one.
    private func cause(of failure: KeychainError) throws(KeychainError) -> KeychainError {
        guard failure.reason == .locked, let path = try openSession()?.keyState.wrongCredential else { return failure }
        return .wrongCredential(path)
    }

    private func search(
        _ session: Session, _ selection: Selection, _ limit: Int?, _ purpose: Search.Purpose
    ) throws(KeychainError) -> Search {
        do throws(KeychainError) {
            var search = Search(selection, try session.keyState.sealer(), purpose)
            return try DatabaseFailure.translating(location.databaseFile) {
                // One statement sees one state of the database, so no transaction is needed around it.
                try session.reader.unsafeRead { db in
                    try search.run(ItemTable(db)) { found in found.items.count < limit ?? .max }
                    return search
                }
            }
        } catch {
            throw try cause(of: error)
        }
    }

    public var hasTransactions: Bool { true }

    public func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try transaction(authorization, isDeletion: false, body)
    }

    /// - Parameter isDeletion: Whether it is known beforehand that it only removes something.
    private func transaction<Result>(
        _ authorization: Authorization, isDeletion: Bool, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try authorization.satisfying(self) { (proofs) throws(KeychainError) in
            var transaction: VaultTransaction?
            do throws(KeychainError) {
                return .done(
                    try write(
                        emptyingLog: transaction?.hasRemoved ?? false,
                        usingReserve: { isDeletion || transaction?.hasOnlyRemoved ?? false }, gate: authorization.gate
                    ) { sealer, items in
                        let current = VaultTransaction(location.databaseFile, sealer, items, proofs)
                        transaction = current
                        let result = try body(current)
                        if let damage = current.damage { throw damage }
                        return result
                    })
            } catch {
                // A body may have caught the refusal, and thrown something else.
                guard error == .interactionNotAllowed, let obstacle = transaction?.obstacle else {
                    throw try cause(of: error)
                }
                return obstacle.attempt()
            }
        }
    }

    public func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try transaction(authorization) { (items) throws(KeychainError) in try items.insert(item, authorization) }
    }

    public func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        guard try openSession() != nil else { return SelectedItems(items: []) }
        return try transaction(authorization) { (items) throws(KeychainError) in
            try items.update(selection, authorization, change)
        }
    }

    public func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        guard try openSession() != nil else { return 0 }
        return try transaction(authorization, isDeletion: true) { (items) throws(KeychainError) in
            try items.delete(selection, authorization)
        }
    }
}

extension KeychainError {
    /// - Parameter path: Of the credential's file.
    static func wrongCredential(_ path: String) -> KeychainError {
        KeychainError(
            .authenticationFailed,
            "The credential '\(path)' is not one that opens this vault. Give the service the right one, or unlock the vault "
                + "with another secret.")
    }
}

extension Search {
    var attempt: Attempt<SelectedItems> { obstacle?.attempt() ?? .done(found) }

    /// What keeps the search from showing what it found.
    var obstacle: Obstacle? {
        if !missing.isEmpty { return .needs(missing) }
        return refused.isEmpty ? nil : .refused(refused)
    }
}
