// SPDX-License-Identifier: Apache-2.0
// Stores that change a vault in their own way.

package import Foundation
package import KeychainEngine

/// Reads the vault, and makes changes in a way of its own: keeps what it replaces, or has changes confirmed.
package protocol StoreOverVault: TransactionalStore {
    var vault: Vault { get }
}

extension StoreOverVault {
    package func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try vault.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    package var lockState: LockState {
        get throws(KeychainError) { try vault.lockState }
    }

    package func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        try vault.observe(body)
    }

    package func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences {
        try vault.differences(selections, from: known)
    }

    package var userVerifier: (any UserVerifier)? { vault.userVerifier }
}
