// SPDX-License-Identifier: Apache-2.0
// The differences between the items that match queries now and earlier.

public import Foundation

extension Engine {
    /// The differences between the items that match one of these queries now and those known from before. The user is
    /// not asked.
    ///
    /// - Parameter known: The known versions of items.
    /// - Throws: `locked` if this cannot be known while the store is locked; `unsupported` for criteria that are about
    ///   the content of certificates; the errors of a search with each query.
    public func differences(
        _ queries: [Query], from known: [UUID: UInt64], accessGroups: AccessGroups
    ) throws(KeychainError) -> ItemDifferences {
        var selections: [Selection] = []
        for query in queries {
            let selection = try query.searchSelection(accessGroups: accessGroups, dialect: dialect)
            guard selection.itemClass != .certificate || !query.hasCertificateCriteria else { throw .unobserved }
            selections.append(selection)
        }
        return try store.differences(selections, from: known)
    }
}

extension KeychainError {
    fileprivate static let unobserved = KeychainError(
        .unsupported,
        "Changes cannot be observed by the content of certificates. Observe all certificates and search after a change."
    )
}
