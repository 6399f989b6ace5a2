// SPDX-License-Identifier: Apache-2.0
// A store in memory, with the same rules as the vault: for tests and previews.

public import Foundation
public import SecretMemory
import Synchronization

/// An ``ItemStore`` that keeps items in memory, unencrypted, until it goes away. It can be locked, and knows one passphrase.
///
/// Does not protect against anything: it is for tests and previews.
///
/// ```swift
/// let engine = Engine(store: MemoryStore())
/// ```
public final class MemoryStore: ItemStore, UserVerifier {
    private let content: Mutex<MemoryContent>
    private let observers = StoreObservers()
    public let rateLimit = RateLimit()

    /// - Parameter passphrase: What proves the user, and lets items be stored that ask for it; `nil`: there is none.
    public init(passphrase: String? = nil) {
        content = Mutex(MemoryContent(passphrase: passphrase.map { Data($0.utf8) }))
    }

    /// How far the store is unlocked.
    public var lockState: LockState {
        get { content.withLock { $0.lockState } }
        set {
            content.withLock { $0.lockState = newValue }
            observers.announce()
        }
    }

    /// Sets another passphrase; taking it away takes the items with it that exist only while there is one.
    public func setPassphrase(_ passphrase: String?) {
        content.withLock { content in
            content.passphrase = passphrase.map { Data($0.utf8) }
            guard passphrase == nil else { return }
            content.items = content.items.filter {
                $0.value.item.accessControl.accessibility != .whenPasscodeSetThisDeviceOnly
            }
        }
        observers.announce()
    }

    // MARK: - Items

    public var hasTransactions: Bool { true }

    public func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        defer { authorization.gate?.leave() }
        let result = try authorization.satisfying(self) { (proofs) throws(KeychainError) in
            try content.withLock { (content) throws(KeychainError) -> Attempt<Result> in
                let transaction = MemoryTransaction(content, proofs)
                do throws(KeychainError) {
                    let result = try body(transaction)
                    try authorization.gate?.enter()
                    content = transaction.content
                    return .done(result)
                } catch {
                    // A body may have caught the refusal, and thrown something else.
                    guard error == .interactionNotAllowed, let obstacle = transaction.obstacle else { throw error }
                    return obstacle.attempt()
                }
            }
        }
        observers.announce()
        return result
    }

    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try authorization.satisfying(self) { (proofs) throws(KeychainError) in
            let transaction = MemoryTransaction(content.withLock { $0 }, proofs)
            do throws(KeychainError) {
                return .done(
                    try transaction.select(selection, limit: limit, includingValues: includingValues, authorization))
            } catch {
                guard let obstacle = transaction.obstacle else { throw error }
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
        try transaction(authorization) { (items) throws(KeychainError) in
            try items.update(selection, authorization, change)
        }
    }

    public func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try transaction(authorization) { (items) throws(KeychainError) in
            try items.delete(selection, authorization)
        }
    }

    public func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        observers.add(body)
    }

    public func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) -> ItemDifferences {
        let content = content.withLock { $0 }
        var differences = ItemDifferences(gone: Set(known.keys))
        for stored in content.items.values where selections.contains(where: { $0.matches(stored) }) {
            differences.gone.remove(stored.id)
            guard known[stored.id] != stored.version else { continue }
            if stored.item.accessControl.accessibility.isOpen(in: content.lockState) {
                differences.changed.append(stored.sighting)
            } else {
                differences.closed[stored.id] = stored.version
            }
        }
        return differences
    }

    // MARK: - The user

    public var userVerifier: (any UserVerifier)? { self }

    public func isPasscodeSet() -> Bool { content.withLock { $0.passphrase != nil } }

    /// The passphrase itself stands for the key that a vault would unwrap with it.
    public func userKey(provenBy secret: SecretBytes) throws(KeychainError) -> SecretBytes {
        guard let passphrase = content.withLock({ $0.passphrase }) else { throw .passcodeNotSet }
        guard secret.data == passphrase else {
            throw KeychainError(.authenticationFailed, "The passphrase is wrong.")
        }
        return secret
    }

    public func applicationKey(from password: SecretBytes) -> SecretBytes { password }
}

extension KeychainError {
    /// What needs a passcode has no key while no passphrase is set.
    public static let passcodeNotSet = KeychainError(
        .unavailable,
        "No passphrase is set, so nothing can be stored that needs one. Set one (keychainctl protect add passphrase), or "
            + "use another accessibility class and no access control flags.")
}
