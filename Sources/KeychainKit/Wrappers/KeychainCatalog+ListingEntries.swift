// SPDX-License-Identifier: Apache-2.0
// Listing items without asking the user.

public import KeychainEngine

extension KeychainCatalog {
    /// The items of a class that match, without asking the user. For items that require authentication only the name is
    /// included. Apple's keychain leaves these items out.
    ///
    /// - Throws: `locked` if an item that matches, or may match, is locked.
    @_spi(Wrappers) public func listingEntries(
        _ itemClass: ItemClass, matching filter: ItemFilter
    ) throws(KeychainError) -> [KeychainItem] {
        let backing = backing
        return try backing.call(timeout) { (_) throws(KeychainError) in try backing.listingEntries(itemClass, filter) }
    }

    @_spi(Wrappers) public nonisolated(nonsending) func listingEntries(
        _ itemClass: ItemClass, matching filter: ItemFilter
    ) async throws(KeychainError) -> [KeychainItem] {
        let backing = backing
        return try await backing.call(timeout) { (_) throws(KeychainError) in
            try backing.listingEntries(itemClass, filter)
        }
    }
}

extension Backing {
    fileprivate func listingEntries(
        _ itemClass: ItemClass, _ filter: ItemFilter
    ) throws(KeychainError) -> [KeychainItem] {
        guard let query = filter.query(itemClass) else { return [] }
        let seen = try engine.differences([query], from: [:], accessGroups: accessGroups)
        guard seen.closed.isEmpty else { throw .locked }
        return seen.changed.inOrder().map { KeychainItem($0) }
    }
}
