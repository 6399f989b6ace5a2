// SPDX-License-Identifier: Apache-2.0
// A store to be checked, its capabilities, and how to lock it.

public import KeychainEngine

/// A fresh, empty store for one ``StoreConformance/Check``, and the facts about it that the checks cannot detect.
///
/// ```swift
/// let store = MemoryStore()
/// var subject = StoreUnderTest(store)
/// subject.setLockState = { store.lockState = $0 }
/// ```
public struct StoreUnderTest: Sendable {
    public var store: any ItemStore
    /// Locks and unlocks the store. Without it the checks of a locked store are skipped.
    public var setLockState: (@Sendable (LockState) throws -> Void)?
    /// Whether failures have the reasons that the contract names; `false` for a store that only gets a status.
    public var keepsReasons = true
    /// Whether the store's `lockState` returns what ``setLockState`` set.
    public var tellsLockState = true
    /// Whether items can be protected with an application password.
    public var takesApplicationPasswords = true
    /// Two access groups that the store may use.
    public var groups = ["com.example.first", "com.example.second"]
    /// How long a check waits for something that should happen at once.
    public var patience = Duration.seconds(60)

    public init(_ store: any ItemStore) { self.store = store }
}
