// SPDX-License-Identifier: Apache-2.0
// The primary key of an item.

/// Bytes that are unique for each item of a store.
package struct PrimaryKey: Hashable, Sendable {
    private let itemClass: ItemClass
    private let parts: [[UInt8]]

    package init(_ item: Item) {
        let schema = item.itemClass.schema
        itemClass = item.itemClass
        parts = schema.primaryKey.map { item.keyBytes($0) }
    }
}
