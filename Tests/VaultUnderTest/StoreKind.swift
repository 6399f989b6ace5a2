// SPDX-License-Identifier: Apache-2.0
// The stores that every fact about items is held against.

package import KeychainEngine

/// A store to run the same tests on.
package enum StoreKind: String, CaseIterable, Sendable {
    case memory, vault

    /// A fresh, empty store.
    ///
    /// - Parameter passphrase: What proves the user; `nil`: nothing does.
    package func empty(passphrase: String? = nil) throws -> any ItemStore {
        switch self {
        case .memory: MemoryStore(passphrase: passphrase)
        case .vault: try TemporaryVault(passphrase: passphrase)
        }
    }
}
