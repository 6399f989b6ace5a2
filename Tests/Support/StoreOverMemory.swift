// SPDX-License-Identifier: Apache-2.0
// What stores with one oddity have in common.

package import KeychainEngine

/// A store that leaves to one in memory whichever of the four calls it does not answer itself, and nothing else.
package protocol StoreOverMemory: ItemStore {
    var memory: MemoryStore { get }
}

extension StoreOverMemory {
    package func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try memory.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    package func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try memory.insert(item, authorization)
    }

    package func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try memory.update(selection, authorization, change)
    }

    package func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try memory.delete(selection, authorization)
    }
}
