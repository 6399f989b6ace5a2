// SPDX-License-Identifier: Apache-2.0
// A vault that says how often it was searched, and which reads were repeated.

package import KeychainEngine
import Synchronization

package final class RecordingStore: RepeatingStore {
    private struct Record {
        var searches = 0
        var repeated = 0
        var names: Set<[UInt8]> = []
    }

    private let record = Mutex(Record())
    private let store: any RepeatingStore

    package init(_ store: any RepeatingStore) { self.store = store }

    package var searches: Int { record.withLock { $0.searches } }
    /// How many reads were answered without a search.
    package var repeated: Int { record.withLock { $0.repeated } }
    /// The reads that may have been remembered.
    package var names: Set<[UInt8]> { record.withLock { $0.names } }

    package func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        record.withLock { $0.searches += 1 }
        return try store.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    package func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try store.insert(item, authorization)
    }

    package func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try store.update(selection, authorization, change)
    }

    package func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try store.delete(selection, authorization)
    }

    package func repeated(_ read: UnsafeRawBufferPointer, waits: Bool) -> RepeatedValue? {
        let found = store.repeated(read, waits: waits)
        if found != nil { record.withLock { $0.repeated += 1 } }
        return found
    }

    package func remembering(
        _ read: [UInt8], _ search: () throws(KeychainError) -> FoundOnce
    ) throws(KeychainError) -> StoredItem? {
        record.withLock { _ = $0.names.insert(read) }
        return try store.remembering(read, search)
    }

    package var userVerifier: (any UserVerifier)? { store.userVerifier }
}
