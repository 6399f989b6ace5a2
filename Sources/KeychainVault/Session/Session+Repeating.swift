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

    /// Caches the row of an item that was just found, if it is unchanged.
    ///
    /// - Parameters:
    ///   - end: The end of the WAL before the item was searched.
    ///   - keys: The number of the sealer before the search.
    func remember(_ found: StoredItem, _ read: [UInt8], since end: WALHeader, keys: UInt64) throws {
        // A stored value is larger than what is sealed in it.
        guard found.item.accessControl.needs.isEmpty, found.item.value?.count ?? 0 <= ReadCache.longestValue else {
            return
        }
        // Repeating opens the row itself, and would give out the object of its token.
        guard !found.item.isOnToken else { return }
        let sealer = try keyState.sealer(.looking)
        let row = try reader.use { try ItemTable($0).wholeRow(sealer.rowID(of: found.id)) }
        guard let row, row.id == found.id, UInt64(bitPattern: row.version) == found.version, sealer.serial == keys,
            walHeader == end
        else { return }
        reads.store(row, read, end, keys: keys)
    }
}
