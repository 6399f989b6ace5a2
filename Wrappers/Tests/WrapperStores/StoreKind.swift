// SPDX-License-Identifier: Apache-2.0
// The stores that every fact about items is held against.

public import KeychainEngine
@_spi(Wrappers) import KeychainSecItem

/// A store to run the same tests on.
public enum StoreKind: String, CaseIterable, Sendable {
    case memory, vault
    /// The system's own keychain, through the four functions: what Apple's platforms have. It knows no transactions.
    case system

    /// Those that can do everything.
    public static let allCases: [StoreKind] = [.memory, .vault]
    /// Those that a wrapper has to work on.
    public static let everywhere: [StoreKind] = [.memory, .vault, .system]

    /// A fresh, empty store.
    ///
    /// - Parameter passphrase: What proves the user; `nil`: nothing does.
    public func empty(passphrase: String? = nil) throws -> any ItemStore {
        switch self {
        case .memory: MemoryStore(passphrase: passphrase)
        case .vault: try TemporaryVault(passphrase: passphrase)
        case .system: SecItemStore(try .over(MemoryStore(passphrase: passphrase), accessGroups: nil))
        }
    }
}
