// SPDX-License-Identifier: Apache-2.0
// The four calls of an ItemStore.

import Foundation
public import KeychainEngine

extension Vault {
    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        guard limit ?? 1 > 0 else { return SelectedItems(items: []) }
        let use: KeyState.Purpose = authorization.isUse ? .using : .looking
        return try authorization.satisfying(self) { (proofs) throws(KeychainError) in
            try undisturbed(age: Self.lookInterval) { (session) throws(KeychainError) -> Attempt<SelectedItems> in
                guard let session else { return .done(SelectedItems(items: [])) }
                return try attempt(
                    session, selection, limit, .reading(includingValues: includingValues, proofs), use)
            }
        }
    }

    private func attempt(
        _ session: Session, _ selection: Selection, _ limit: Int?, _ purpose: Search.Purpose, _ use: KeyState.Purpose
    ) throws(KeychainError) -> Attempt<SelectedItems> {
        let search = try search(session, selection, limit, purpose, use)
        // Another process may be rotating the class keys at this moment.
        if search.metUnknownKey, try closeIfKeybagChanged(session), let session = try openSession() {
            return try self.search(session, selection, limit, purpose, use).attempt
        }
        return search.attempt
    }

    /// The failure itself, or its cause: a vault may be locked because a credential is wrong.
    package func cause(of failure: KeychainError) throws(KeychainError) -> KeychainError {
        guard failure.reason == .locked, let path = try wrongCredential else { return failure }
        return .wrongCredential(path)
    }

    private func search(
        _ session: Session, _ selection: Selection, _ limit: Int?, _ purpose: Search.Purpose, _ use: KeyState.Purpose
    ) throws(KeychainError) -> Search {
        do throws(KeychainError) {
            var search = Search(selection, try session.keyState.sealer(use), purpose)
            return try DatabaseFailure.translating(location.databaseFile) {
                let run = { (connection: Connection) throws in try search.run(ItemTable(connection), limit: limit) }
                // One statement sees one state of the database, so a transaction around it would only cost time.
                try search.looksTwice(limit) ? session.reader.read(run) : session.reader.use(run)
                return search
            }
        } catch {
            throw try cause(of: error)
        }
    }

    public func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var plan = authorization.isShort ? WritePlan.item : .items
        plan.mayOnlyRemove = !authorization.isSave
        return try write(plan, authorization, body)
    }

    public func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try write(.item, authorization) { try $0.insert(item, authorization) }
    }

    public func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        guard try openSession() != nil else { return SelectedItems(items: []) }
        return try write(.items, authorization) { try $0.update(selection, authorization, change) }
    }

    /// On a full disk several transactions may be needed. If the process ends between two of them, or a later one fails, some of
    /// the items are deleted.
    public func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        guard try openSession() != nil else { return 0 }
        do throws(KeychainError) {
            return try write(.removalOfItems, authorization) { try $0.delete(selection, authorization) }
        } catch {
            guard error.reason == .diskFull else { throw error }
            return try deleteInParts(selection, authorization, after: error)
        }
    }

    /// The reserve is too small for the whole deletion, but covers each row: several transactions, each with as many items as there is space for.
    private func deleteInParts(
        _ selection: Selection, _ authorization: Authorization, after failure: KeychainError
    ) throws(KeychainError) -> Int {
        var (limit, count) = (128, 0)
        while true {
            do throws(KeychainError) {
                let deleted = try write(.removalOfItems, authorization) { try $0.deleteSome(selection, limit: limit) }
                count += deleted
                if deleted < limit { return count }
            } catch {
                guard error.reason == .diskFull, limit > 1 else {
                    throw count == 0 ? failure : error.after("Only \(count) of the items were deleted.")
                }
                limit /= 2
            }
        }
    }
}

extension KeychainError {
    /// - Parameter path: The path of the credential's file.
    static func wrongCredential(_ path: String) -> KeychainError {
        KeychainError(
            .authenticationFailed,
            "The credential '\(path)' does not open this vault. Give the service the right one, or unlock the vault "
                + "with another secret.")
    }
}

extension Search {
    var attempt: Attempt<SelectedItems> { requirement?.attempt() ?? .done(found) }

    /// The authentication requirement that prevents the search from returning its results.
    var requirement: UnmetRequirement? {
        if !missing.isEmpty { return .needs(missing) }
        return refused.isEmpty ? nil : .refused(refused)
    }
}
