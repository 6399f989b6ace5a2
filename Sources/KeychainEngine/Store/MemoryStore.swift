// SPDX-License-Identifier: Apache-2.0
// A store in memory, with the same rules as the vault: for tests and previews.

public import Foundation
public import SecretMemory

/// An ``ItemStore`` that keeps items in memory, unencrypted, until it is released. It can be locked, and can have one
/// passphrase.
///
/// Does not protect against anything: it is for tests and previews.
///
/// ```swift
/// let engine = Engine(store: MemoryStore())
/// ```
public final class MemoryStore: TransactionalStore, UserVerifier {
    private let content: Guarded<MemoryContent>
    private let observers = StoreObservers()
    public let rateLimit = RateLimit()

    /// - Parameter passphrase: The passphrase that authenticates the user. `nil`: there is none, and items that require
    ///   the user cannot be stored.
    public init(passphrase: String? = nil) {
        content = Guarded(MemoryContent(passphrase: passphrase.map { Data($0.utf8) }))
    }

    /// The lock state of the store.
    public var lockState: LockState {
        get { content.withLock { $0.lockState } }
        set {
            content.withLock { $0.lockState = newValue }
            observers.announce()
        }
    }

    /// Sets another passphrase. Removing it removes the items of the class `whenPasscodeSetThisDeviceOnly`.
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
                    // The body may have caught the refusal and thrown another error.
                    guard error == .interactionNotAllowed, let requirement = transaction.requirement else {
                        throw error
                    }
                    return requirement.attempt()
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
                guard let requirement = transaction.requirement else { throw error }
                return requirement.attempt()
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
                differences.changed.append(stored.listingEntry)
            } else {
                differences.closed[stored.id] = stored.version
            }
        }
        return differences
    }

    // MARK: - The user

    public var userVerifier: (any UserVerifier)? { self }

    public func isPasscodeSet() -> Bool { content.withLock { $0.passphrase != nil } }

    /// The passphrase itself is used as the key that a vault would unwrap with it.
    public func userKey(provenBy secret: SecretBytes) throws(KeychainError) -> SecretBytes {
        guard let passphrase = content.withLock({ $0.passphrase }) else { throw .passcodeNotSet }
        guard secret.data == passphrase else {
            throw KeychainError(.authenticationFailed, "The passphrase is wrong.")
        }
        return secret
    }

    public func applicationKey(from password: SecretBytes) -> SecretBytes { password }
}
