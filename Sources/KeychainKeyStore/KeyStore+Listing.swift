// SPDX-License-Identifier: Apache-2.0
// Keys, certificates and identities as tools list them: synchronizable or not, with the number of items that are missing.

import KeychainEngine
package import KeychainKit

/// What one read found for a list.
package struct FoundEntries<Entry: Sendable>: Sendable {
    package let entries: [Entry]
    /// Items of the class that are none of the entries, since any program may have stored anything.
    package let others: Int
    /// Items of any class that cannot be opened.
    package let damaged: Int
    package let ofAnotherDevice: Int
    /// Locked items of any class, which are left out.
    package let locked: Int
}

extension KeyStore {
    /// The keys as ``keys()`` has them, whatever ``synchronizable`` is.
    ///
    /// - Parameter leavingOutLocked: Whether locked items are left out if a key opens.
    /// - Throws: As ``keys()``.
    package func listedKeys(leavingOutLocked: Bool = false) throws(KeychainError) -> FoundEntries<StoredKey> {
        try call { (requests) throws(KeychainError) in try requests.listedKeys(leavingOutLocked) }
    }

    /// The certificates as ``certificates(matching:)`` has them, whatever ``synchronizable`` is. Locked items are left out
    /// if a certificate opens: they cannot be told apart from locked passwords, so one locked password would hide all
    /// certificates.
    ///
    /// - Throws: As ``certificates(matching:)``.
    package func listedCertificates() throws(KeychainError) -> FoundEntries<StoredCertificate> {
        try call { (requests) throws(KeychainError) in try requests.listedCertificates() }
    }

    /// The identities as ``identities(matching:tag:)`` has them, whatever ``synchronizable`` is; both halves are of one kind.
    ///
    /// - Throws: As ``identities(matching:tag:)``; also `corrupt` if there are keys, and all certificates are damaged.
    package func listedIdentities() throws(KeychainError) -> FoundEntries<KeychainIdentity> {
        try call { (requests) throws(KeychainError) in try requests.listedIdentities() }
    }
}

extension KeyRequests {
    fileprivate func listedKeys(_ leavingOutLocked: Bool) throws(KeychainError) -> FoundEntries<StoredKey> {
        let found = try everyName(leavingOutLocked)
        var keys: [StoredKey] = []
        for stored in found.items { keys.append(try listed(stored)) }
        return try FoundEntries(keys, of: found)
    }

    fileprivate func listedCertificates() throws(KeychainError) -> FoundEntries<StoredCertificate> {
        let found = try everyCertificate(leavingOutLocked: true)
        let certificates = found.items.compactMap { StoredCertificate($0) }
        // What opens may be none.
        guard !certificates.isEmpty || found.locked == 0 else { throw .locked }
        return try FoundEntries(certificates, others: found.items.count - certificates.count, of: found)
    }

    fileprivate func listedIdentities() throws(KeychainError) -> FoundEntries<KeychainIdentity> {
        let keys = try everyName()
        guard !keys.items.isEmpty else { return try FoundEntries([], of: keys) }
        let found = try everyCertificate(leavingOutLocked: false)
        if let failure = found.failure { throw failure }
        let certificates = found.items.compactMap { StoredCertificate($0) }
        let pairs = [false, true].flatMap { isSynchronizable in
            paired(
                keys.items.filter { KeychainItem($0).synchronizable == isSynchronizable },
                with: certificates.filter { $0.synchronizable == isSynchronizable })
        }
        return try FoundEntries(pairs, of: keys.counting(found))
    }

    private func everyName(_ leavingOutLocked: Bool = false) throws(KeychainError) -> SelectedItems {
        var query = Self.everywhere(nameQuery(query()))
        query.leavesOutLocked = leavingOutLocked
        return try requests.select(query, accessGroups: accessGroups)
    }

    private func everyCertificate(leavingOutLocked: Bool) throws(KeychainError) -> SelectedItems {
        var query = Self.everywhere(allCertificates())
        query.leavesOutLocked = leavingOutLocked
        return try requests.select(query, accessGroups: accessGroups)
    }

    private static func everywhere(_ query: Query) -> Query {
        var query = query
        query.attributes[.synchronizable] = nil
        query.synchronizableAny = true
        return query
    }
}

extension SelectedItems {
    /// The same items with the larger counts of two searches. Both count an item whose class is unknown.
    fileprivate func counting(_ other: SelectedItems) -> SelectedItems {
        var result = self
        result.damaged = max(damaged, other.damaged)
        result.ofAnotherDevice = max(ofAnotherDevice, other.ofAnotherDevice)
        return result
    }
}

extension FoundEntries {
    /// - Throws: `corrupt` or `ofAnotherDevice` if only such items were found.
    fileprivate init(_ entries: [Entry], others: Int = 0, of found: SelectedItems) throws(KeychainError) {
        if let failure = found.failure { throw failure }
        self.init(
            entries: entries, others: others, damaged: found.damaged, ofAnotherDevice: found.ofAnotherDevice,
            locked: found.locked)
    }
}
