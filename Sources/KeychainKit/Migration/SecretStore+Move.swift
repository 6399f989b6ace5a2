// SPDX-License-Identifier: Apache-2.0
// Moving items to another service, server, access group or protection.

import KeychainEngine

extension SecretStore {
    /// Moves all items of this store to another store in one step. The items get its service or server, access group,
    /// accessibility and access control.
    ///
    /// ```swift
    /// let shared = SecretStore(service: "com.example.app", accessGroup: "com.example.shared")
    /// try store.move(to: shared)
    /// ```
    ///
    /// The items keep their identity, creation date, labels and values. If the destination sets no access group or
    /// accessibility, the items keep theirs. To change the accessibility of items, move them to the same service with
    /// another accessibility.
    ///
    /// - Returns: The number of moved items.
    /// - Throws: `duplicateItem` if the destination has an item for one of the accounts; then nothing has moved.
    ///   `unsupported` between a service and a server, and between keychains: save the values there, then remove them
    ///   here.
    @discardableResult
    public func move(to destination: SecretStore) throws(KeychainError) -> Int {
        try checkCanMove(to: destination)
        return try call { (requests) throws(KeychainError) in try requests.move(to: destination) }
    }

    /// The asynchronous form.
    @discardableResult
    public nonisolated(nonsending) func move(to destination: SecretStore) async throws(KeychainError) -> Int {
        try checkCanMove(to: destination)
        return try await call { (requests) throws(KeychainError) in try requests.move(to: destination) }
    }

    private func checkCanMove(to destination: SecretStore) throws(KeychainError) {
        guard destination.backing.workerQueue === backing.workerQueue else {
            throw KeychainError(
                .unsupported,
                "The destination is in another keychain. Save the values there, and remove them here afterwards.")
        }
        guard destination.place.itemClass == place.itemClass else {
            throw KeychainError(
                .unsupported,
                "Items of a service and of a server are of different classes. Save the values there, and remove them here."
            )
        }
    }
}

extension StoreRequests {
    fileprivate func move(to destination: SecretStore) throws(KeychainError) -> Int {
        var changes = Changes(destination.place.attributes)
        changes.attributes[.accessGroup] = destination.accessGroup.map { .string($0) }
        changes.attributes[.synchronizable] = .number(destination.synchronizable ? 1 : 0)
        changes.protection = destination.protection
        return try requests.update(query(), with: changes, accessGroups: accessGroups)
    }
}
