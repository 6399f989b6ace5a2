// SPDX-License-Identifier: Apache-2.0
// Reads that are repeated.

import Foundation
package import KeychainEngine

extension Vault: RepeatingStore {
    package func repeated(_ read: UnsafeRawBufferPointer, waits: Bool) -> RepeatedValue? {
        if let session = freshSessionOrTurn() { return session.repeated(read) }
        guard waits else { return nil }
        do throws(KeychainError) {
            return try renewSession()?.repeated(read)
        } catch {
            return nil
        }
    }

    package func remembering(
        _ read: [UInt8], _ search: () throws(KeychainError) -> FoundOnce
    ) throws(KeychainError) -> StoredItem? {
        guard read.count <= ReadCache.longestRead, let session = try renewSession(), let end = session.walHeader,
            let keys = Self.serial(session)
        else { return try search().item }
        let search = try search()
        guard let found = search.item, search.isOnly else { return search.item }
        // The search may have used another session, for another file.
        if freshSession() === session {
            // A failure to cache does not matter.
            do { try session.remember(found, read, since: end, keys: keys) } catch { return found }
        }
        return found
    }

    /// The number of the open keys; `nil` if none are open.
    private static func serial(_ session: Session) -> UInt64? {
        do throws(KeychainError) {
            return try session.keyState.sealer(.looking).serial
        } catch {
            return nil
        }
    }
}
