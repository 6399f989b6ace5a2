// SPDX-License-Identifier: Apache-2.0
// A vault as a store whose changes are confirmed.

import Foundation
import KeychainEngine
import KeychainVault

/// Reads like the vault, and makes each change as one that is confirmed.
final class ConfirmingStore: StoreOverVault {
    private let change: ConfirmedChange
    private let keepsUnconfirmed: Bool
    var vault: Vault { change.member.vault }

    init(_ change: ConfirmedChange, keepsUnconfirmed: Bool) {
        (self.change, self.keepsUnconfirmed) = (change, keepsUnconfirmed)
    }

    func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        do throws(KeychainError) {
            return try change.run(authorization, body)
        } catch {
            guard error.reason == .unavailable else { throw error }
            guard keepsUnconfirmed, try vault.isInRing else { throw .unconfirmed(error, "Nothing was changed.") }
            _ = try vault.transaction(authorization) { (items) throws(KeychainError) in
                try body(SharedOperations(base: items, policy: nil))
            }
            throw .unconfirmed(
                error, "The change is kept on this machine, not confirmed, and goes out with the next exchange.")
        }
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try transaction(authorization) { (items) throws(KeychainError) in try items.insert(item, authorization) }
    }

    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try transaction(authorization) { (items) throws(KeychainError) in
            try items.update(selection, authorization, change)
        }
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try transaction(authorization) { (items) throws(KeychainError) in try items.delete(selection, authorization) }
    }
}

extension KeychainError {
    fileprivate static func unconfirmed(_ cause: KeychainError, _ fate: String) -> KeychainError {
        KeychainError(.unavailable, "The change is not confirmed. \(fate) \(cause.message)")
    }
}
