// SPDX-License-Identifier: Apache-2.0
// Reads that a store has answered before, and answers again without searching.

package import Foundation

/// A store that can give the value of an item again, as long as nothing in the store has changed.
///
/// A read is named by bytes that hold everything its result depends on, apart from the contents and the lock state of the store.
package protocol RepeatingStore: ItemStore {
    /// The value that ``remembering(_:_:)`` found for the same read, if nothing has changed since. Opens the item again.
    ///
    /// - Parameter waits: Whether the store may ask the file system. If not, the call blocks for nothing.
    /// - Returns: `nil` if the store has to be searched. Errors are found, and thrown, by that search.
    func repeated(_ read: UnsafeRawBufferPointer, waits: Bool) -> RepeatedValue?

    /// Runs `search`, and remembers what it found: an item without constraints, with its value.
    func remembering(
        _ read: [UInt8], _ search: () throws(KeychainError) -> FoundOnce
    ) throws(KeychainError) -> StoredItem?
}

/// What a search for one item has found.
package struct FoundOnce {
    package let item: StoredItem?
    /// Whether no other item was opened. Only then is the answer remembered: another item may require the user, who is
    /// asked at each search.
    package let isOnly: Bool

    package init(_ item: StoredItem?, isOnly: Bool) { (self.item, self.isOnly) = (item, isOnly) }
}

/// The value of an item; `nil` if it has none.
package struct RepeatedValue: Sendable {
    package let value: Data?

    package init(_ value: Data?) { self.value = value }
}
