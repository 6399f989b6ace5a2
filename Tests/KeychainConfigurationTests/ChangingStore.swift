// SPDX-License-Identifier: Apache-2.0
// A store in which somebody changes items right after one was read.

#if Configuration
    import KeychainEngine
    import Synchronization

    final class ChangingStore: ItemStore {
        private let store: MemoryStore
        private let changes: Mutex<Int>
        private let change: @Sendable () throws -> Void

        /// - Parameter changes: After how many readings of values there is a change.
        init(_ store: MemoryStore, changes: Int, _ change: @escaping @Sendable () throws -> Void) {
            self.store = store
            self.changes = Mutex(changes)
            self.change = change
        }

        func select(
            _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
        ) throws(KeychainError) -> SelectedItems {
            let found = try store.select(selection, limit: limit, includingValues: includingValues, authorization)
            if includingValues, takeTurn() { try makeChange() }
            return found
        }

        private func takeTurn() -> Bool {
            changes.withLock { changes in
                defer { changes = max(changes - 1, 0) }
                return changes > 0
            }
        }

        private func makeChange() throws(KeychainError) {
            do {
                try change()
            } catch {
                throw KeychainError(.inputOutput, "The test's change failed: \(error)")
            }
        }

        func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
            try store.insert(item, authorization)
        }

        func update(
            _ selection: Selection, _ authorization: Authorization,
            _ change: (StoredItem) throws(KeychainError) -> Item
        ) throws(KeychainError) -> SelectedItems {
            try store.update(selection, authorization, change)
        }

        func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
            try store.delete(selection, authorization)
        }
    }
#endif
