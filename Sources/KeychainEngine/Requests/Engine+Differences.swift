// SPDX-License-Identifier: Apache-2.0
// The differences between the items that match queries now and earlier.

public import Foundation

extension Engine {
    /// The differences between the items that match one of these queries now and those known from before. The user is
    /// not asked.
    ///
    /// - Parameter known: The known versions of items.
    /// - Throws: `locked` if this cannot be known while the store is locked; the errors of a search with each query.
    public func differences(
        _ queries: [Query], from known: [UUID: UInt64], accessGroups: AccessGroups
    ) throws(KeychainError) -> ItemDifferences {
        var selections: [Selection] = []
        for query in queries {
            selections.append(try query.searchSelection(accessGroups: accessGroups, dialect: dialect))
        }
        return try store.differences(selections, from: known)
    }
}
