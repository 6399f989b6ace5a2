// SPDX-License-Identifier: Apache-2.0
// Items that get another service, server, access group or protection.

import KeychainEngine

extension SecretStore {
    /// Gives all items of this store the name and the protection of another: its service or server, access group, accessibility
    /// and access control. All of them at once, or none.
    ///
    /// ```swift
    /// let shared = SecretStore(service: "com.example.app", accessGroup: "com.example.shared")
    /// try store.move(to: shared)
    /// ```
    ///
    /// The items stay what they are: identity, dates of creation, labels and values are kept. What the destination leaves open
    /// (access group, accessibility) stays too. The same service with another accessibility moves items to that class.
    ///
    /// - Returns: How many items there were.
    /// - Throws: `duplicateItem`, and nothing has moved, if the destination has an item for one of the accounts; `unsupported`
    ///   between a service and a server, and to another keychain: save the values there, and remove them here afterwards.
    @discardableResult
    public func move(to destination: SecretStore) throws(KeychainError) -> Int {
        try checkCanMove(to: destination)
        return try call { (requests) throws(KeychainError) in try requests.move(to: destination) }
    }

    /// The same without blocking a thread.
    @discardableResult
    public nonisolated(nonsending) func move(to destination: SecretStore) async throws(KeychainError) -> Int {
        try checkCanMove(to: destination)
        return try await call { (requests) throws(KeychainError) in try requests.move(to: destination) }
    }

    private func checkCanMove(to destination: SecretStore) throws(KeychainError) {
        guard destination.backing.lane === backing.lane else {
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
        return try changeAll(changes)
    }
}
