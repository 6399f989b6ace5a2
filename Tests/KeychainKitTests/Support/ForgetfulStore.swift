// SPDX-License-Identifier: Apache-2.0
// A store that takes everything, keeps nothing and notices no changes.

import Foundation
import KeychainEngine

struct ForgetfulStore: TransactionalStore {
    func transaction<Result>(
        _: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try body(self)
    }

    func select(
        _: Selection, limit _: Int?, includingValues _: Bool, _: Authorization
    ) throws(KeychainError) -> SelectedItems { SelectedItems(items: []) }

    func insert(_ item: Item, _: Authorization) throws(KeychainError) -> StoredItem {
        StoredItem(id: UUID(), version: 1, item: item)
    }

    func update(
        _: Selection, _: Authorization, _: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems { SelectedItems(items: []) }

    func delete(_: Selection, _: Authorization) throws(KeychainError) -> Int { 0 }
}
