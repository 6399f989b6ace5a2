// SPDX-License-Identifier: Apache-2.0
// The vault as a store that keeps what is replaced and deleted, in the same transaction.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainVault

/// All changes that a command makes go through it.
final class KeepingStore: StoreOverVault {
    let vault: Vault
    private let command: ChangingCommand
    private let isQuiet: Bool
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - isQuiet: Whether there are no messages.
    ///   - now: The clock for the bounds.
    init(
        _ vault: Vault, _ command: ChangingCommand, isQuiet: Bool = false,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.vault, self.command, self.isQuiet, self.now) = (vault, command, isQuiet, now)
    }

    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try keepingTransaction(authorization) { (items) throws(KeychainError) in try body(items) }
    }

    /// The same for commands that change the history too.
    func keepingTransaction<Result>(
        _ authorization: Authorization, _ body: (KeepingOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var authorization = authorization
        // It changes several items.
        authorization.isShort = false
        let (result, notes) = try run(authorization, body)
        if !isQuiet { for note in notes { Output.note(note) } }
        return result
    }

    private func run<Result>(
        _ authorization: Authorization, _ body: (KeepingOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> (Result, notes: [String]) {
        let progress = ProgressLine(isQuiet: isQuiet)
        defer { progress.end() }
        return try vault.transaction(authorization) { (items) throws(KeychainError) in
            // It may run again after the user was asked.
            let keeping = KeepingOperations(items, command, authorization, at: now(), progress)
            let result = try body(keeping)
            return (result, keeping.notes)
        }
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        // What is kept of a deleted item of the name may be changed too.
        guard !item.accessControl.needs.isEmpty else { return try vault.insert(item, authorization) }
        return try transaction(authorization) { (items) throws(KeychainError) in try items.insert(item, authorization) }
    }

    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        // A transaction would make a vault.
        guard try !vault.protectors.isEmpty else { return SelectedItems(items: []) }
        return try transaction(authorization) { (items) throws(KeychainError) in
            try items.update(selection, authorization, change)
        }
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        guard try !vault.protectors.isEmpty else { return 0 }
        do throws(KeychainError) {
            return try transaction(authorization) { (items) throws(KeychainError) in
                try items.delete(selection, authorization)
            }
        } catch {
            // There is a reserve for deletions, and none for what is kept.
            guard error.reason == .diskFull, command.keeps else { throw error }
            let count = try vault.delete(selection, authorization)
            if count > 0, !isQuiet {
                Output.note("There is no space to keep what was deleted, so it cannot be undone.")
            }
            return count
        }
    }
}
