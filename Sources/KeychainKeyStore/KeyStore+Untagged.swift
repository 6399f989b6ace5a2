// SPDX-License-Identifier: Apache-2.0
// Keys that no tag names, such as those of an identity that was imported without one, by their application label.

package import Foundation
import KeychainEngine
package import KeychainKit

extension KeyStore {
    /// The key without a tag that has this application label.
    ///
    /// - Throws: `duplicateItem` if several access groups have it; otherwise as ``privateKey(tag:)``.
    package func privateKey(untagged label: Data) throws(KeychainError) -> UntypedKey? {
        try call { (requests) throws(KeychainError) in
            let found = try requests.untagged(label)
            guard found.count < 2 else { throw .severalItems }
            guard let only = found.first else { return nil }
            return try requests.privateKey(of: StoredKey(only, publicKey: nil))
        }
    }

    /// Removes the keys without a tag that have this application label, and their public halves.
    ///
    /// - Parameter check: As that of ``remove(tag:if:)``.
    /// - Returns: Whether there was a key.
    package func remove(
        untagged label: Data, if check: @escaping @Sendable ([StoredKey]) throws(KeychainError) -> Void
    ) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.remove(untagged: label, if: check) }
    }
}

extension KeyRequests {
    /// Also keys whose tag is not text: no option names those either.
    fileprivate func untagged(_ label: Data, keyClass: Int64 = privateClass) throws(KeychainError) -> [StoredItem] {
        var query = query(keyClass: keyClass)
        query.attributes[.applicationLabel] = .data(label)
        return try names(query).filter { KeychainItem($0).keyTag == nil }
    }

    fileprivate func remove(
        untagged label: Data, if check: ([StoredKey]) throws(KeychainError) -> Void
    ) throws(KeychainError) -> Bool {
        try inTransaction(query()) { (requests) throws(KeychainError) in
            let keys = try requests.untagged(label)
            guard !keys.isEmpty else { return false }
            try check(keys.map { StoredKey($0, publicKey: nil) })
            for item in try keys + requests.untagged(label, keyClass: Self.publicClass) {
                _ = try requests.requests.delete(requests.query(item), accessGroups: accessGroups)
            }
            return true
        }
    }
}
