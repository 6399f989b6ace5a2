// SPDX-License-Identifier: Apache-2.0
// Opening a row again without searching for it.

import Foundation
import KeychainEngine

extension Session {
    /// - Returns: `nil` if a search is needed: the read is not cached, something has changed, or the row cannot be
    ///   opened.
    func repeated(_ read: UnsafeRawBufferPointer) -> RepeatedValue? {
        do throws(KeychainError) {
            guard let end = walHeader else { return nil }
            let sealer = try keyState.sealer()
            guard let row = reads.row(read, end, keys: sealer.serial) else { return nil }
            do throws(UnreadableRow) {
                return RepeatedValue(try sealer.openValue(row))
            } catch {
                return nil
            }
        } catch {
            // The vault is locked.
            reads.removeAll()
            return nil
        }
    }

    /// Caches the row of an item that was just found, if nothing has changed meanwhile.
    ///
    /// - Parameters:
    ///   - end: The end of the WAL before the item was searched.
    ///   - keys: The number of the sealer before the search.
    func remember(_ found: StoredItem, _ read: [UInt8], since end: WALHeader, keys: UInt64) throws(KeychainError) {
        let isUnchanged = try keyState.sealer(.looking).serial == keys && walHeader == end
        if isUnchanged, let found = found.found as? FoundRow { reads.store(found.row, read, end, keys: keys) }
    }
}
