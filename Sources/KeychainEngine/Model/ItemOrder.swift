// SPDX-License-Identifier: Apache-2.0
// The order in which every store lists items.

import Foundation

/// The place of an item in a list: by class, then by the attributes of its primary key, access group first.
///
/// Every store lists the same items in the same order, whatever the order of insertion. The first attribute that
/// differs decides:
///
/// | Class | Attributes |
/// |---|---|
/// | all | access group, synchronizable, view hint, token, sharing group; then, by class: |
/// | generic password | account, service |
/// | internet password | account, security domain, server, protocol, authentication type, port, path |
/// | certificate | type, issuer, serial number |
/// | key | class, application label, application tag, creator, type, size, effective size, start date, end date |
///
/// Text is compared by its UTF-8 bytes, in every locale; data by its bytes; numbers and dates by value. A number in a
/// text attribute is compared by the four bytes that searches use. Text in a number attribute comes after all numbers.
/// An absent attribute counts as empty, as in the primary key, and comes first. Two items with the same position have
/// the same primary key, so no store has both.
public struct ItemOrder: Comparable, Sendable {
    /// These bytes sort in the same order as the items.
    private let bytes: [UInt8]

    public init(_ item: Item) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128)
        Self.append(item, to: &bytes)
        self.bytes = bytes
    }

    fileprivate static func append(_ item: Item, to bytes: inout [UInt8]) {
        bytes.append(UInt8(clamping: ItemClass.allCases.firstIndex(of: item.itemClass) ?? 0))
        item.attributes.look { attributes in
            for (attribute, kind) in item.itemClass.schema.listingKey {
                attributes.withLookupBytes(of: attribute, as: kind) { value in
                    if let value { append(value, kind, to: &bytes) }
                }
                // They end a value, so that "a" comes before "ab" whatever follows.
                bytes.append(0)
                bytes.append(0)
            }
        }
    }

    public static func < (lhs: ItemOrder, rhs: ItemOrder) -> Bool {
        lhs.bytes.withUnsafeBytes { left in rhs.bytes.withUnsafeBytes { left.precedes($0) } }
    }

    /// The lookup bytes of a value, changed where they would not sort like the values.
    private static func append(_ value: UnsafeRawBufferPointer, _ kind: AttributeKind, to bytes: inout [UInt8]) {
        switch kind {
        // A letter and eight bytes of two's complement.
        case .number where value.count == 9 && value[0] == UInt8(ascii: "n"):
            for index in value.indices { append(index == 1 ? value[index] ^ 0x80 : value[index], to: &bytes) }
        // Eight bytes of IEEE 754. For negative dates, larger bytes mean an earlier date.
        case .date where value.count == 8:
            let isNegative = value[0] & 0x80 != 0
            for index in value.indices {
                append(isNegative ? ~value[index] : index == 0 ? value[index] | 0x80 : value[index], to: &bytes)
            }
        default:
            guard value.contains(0) else { return bytes.append(contentsOf: value) }
            for byte in value { append(byte, to: &bytes) }
        }
    }

    /// A zero byte within a value is escaped.
    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(byte)
        if byte == 0 { bytes.append(0xFF) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes come first when they are sorted.
    fileprivate func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
        let length = Swift.min(count, other.count)
        guard length > 0, let own = baseAddress, let others = other.baseAddress else { return count < other.count }
        let order = memcmp(own, others, length)
        return order < 0 || order == 0 && count < other.count
    }
}

extension Sequence<StoredItem> {
    /// The items in the order of ``ItemOrder``; items with the same place keep their order.
    public func inOrder() -> [StoredItem] {
        let items = Array(self)
        // The places of all items in one block: one for each would take longer than the comparisons.
        var (bytes, ends): ([UInt8], [Int]) = ([], [0])
        bytes.reserveCapacity(64 * items.count)
        ends.reserveCapacity(items.count + 1)
        for stored in items {
            ItemOrder.append(stored.item, to: &bytes)
            ends.append(bytes.count)
        }
        return bytes.withUnsafeBytes { bytes in
            func precedes(_ first: Int, _ second: Int) -> Bool {
                UnsafeRawBufferPointer(rebasing: bytes[ends[first]..<ends[first + 1]])
                    .precedes(UnsafeRawBufferPointer(rebasing: bytes[ends[second]..<ends[second + 1]]))
            }
            let isInOrder = !items.indices.dropFirst().contains { precedes($0, $0 - 1) }
            return isInOrder ? items : items.indices.sorted(by: precedes).map { items[$0] }
        }
    }
}
