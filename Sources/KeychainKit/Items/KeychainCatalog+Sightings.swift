// SPDX-License-Identifier: Apache-2.0
// What can be listed when nobody is asked.

package import Foundation
package import KeychainEngine

extension KeychainCatalog {
    /// The items of a class that match, without asking anybody: of those that ask for the user or a password nothing but
    /// the name is there. Apple's keychain leaves those out.
    ///
    /// - Throws: `locked` if one of them is, or may be, meant and closed.
    package func sightings(
        _ itemClass: ItemClass, matching filter: ItemFilter
    ) throws(KeychainError) -> [KeychainItem] {
        let backing = backing
        return try backing.call(deadline) { (_) throws(KeychainError) in try backing.sightings(itemClass, filter) }
    }

    package nonisolated(nonsending) func sightings(
        _ itemClass: ItemClass, matching filter: ItemFilter
    ) async throws(KeychainError) -> [KeychainItem] {
        let backing = backing
        return try await backing.call(deadline) { (_) throws(KeychainError) in
            try backing.sightings(itemClass, filter)
        }
    }
}

extension Backing {
    fileprivate func sightings(_ itemClass: ItemClass, _ filter: ItemFilter) throws(KeychainError) -> [KeychainItem] {
        guard let query = filter.query(itemClass) else { return [] }
        let seen = try engine.differences([query], from: [:], caller: caller)
        guard seen.closed.isEmpty else { throw .locked }
        return seen.changed.map { KeychainItem($0) }
    }
}

extension KeychainItem {
    /// When it was made and changed; `nil` for an item whose name alone was seen.
    package var datesIfSeen: (created: Date?, modified: Date?) {
        (created == .distantPast ? nil : created, modified == .distantPast ? nil : modified)
    }
}
