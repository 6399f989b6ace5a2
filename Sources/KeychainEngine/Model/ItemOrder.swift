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

    /// Whether `other`, which is not shorter, begins with these bytes.
    fileprivate func begins(_ other: UnsafeRawBufferPointer) -> Bool {
        guard let own = baseAddress, let others = other.baseAddress else { return true }
        return memcmp(own, others, count) == 0
    }
}

extension Sequence<StoredItem> {
    /// The items in the order of ``ItemOrder``; items with the same place keep their order.
    public func inOrder() -> [StoredItem] {
        let items = Array(self)
        guard items.count > 1, let order = Places(of: items).order else { return items }
        return order.map { items[$0] }
    }
}

/// The places of many items in one block: one for each would take longer than the comparisons.
private struct Places {
    private var bytes: [UInt8] = []
    private var ends = [0]

    init(of items: [StoredItem]) {
        bytes.reserveCapacity(64 * items.count)
        ends.reserveCapacity(items.count + 1)
        for stored in items {
            ItemOrder.append(stored.item, to: &bytes)
            ends.append(bytes.count)
        }
    }

    /// The numbers of the items in their order; `nil` if they are in order already.
    var order: [Int]? {
        bytes.withUnsafeBytes { bytes in
            let whole = ends.indices.dropLast().map { UnsafeRawBufferPointer(rebasing: bytes[ends[$0]..<ends[$0 + 1]]) }
            let shared = Self.sharedLength(whole)
            let places = whole.enumerated().map { Place($0.offset, $0.element, from: shared) }
            guard zip(places.dropFirst(), places).contains(where: <) else { return nil }
            return places.sorted().map(\.number)
        }
    }

    /// How many bytes all places begin with: the items of a list usually have one class and one access group.
    private static func sharedLength(_ places: [UnsafeRawBufferPointer]) -> Int {
        guard let first = places.first else { return 0 }
        return places.reduce(first.count) { length, place in
            if length <= place.count, UnsafeRawBufferPointer(rebasing: first[..<length]).begins(place) { return length }
            return zip(first, place).prefix(length).prefix { $0 == $1 }.count
        }
    }

    /// The place of one item without what it shares with all others.
    private struct Place: Comparable {
        let number: Int
        /// The first eight bytes as a number, most significant byte first. They decide most comparisons.
        private let head: UInt64
        private let bytes: UnsafeRawBufferPointer

        init(_ number: Int, _ whole: UnsafeRawBufferPointer, from start: Int) {
            self.number = number
            bytes = UnsafeRawBufferPointer(rebasing: whole[start...])
            // Zeros after a short place come before any byte of a longer one, as its end does.
            head = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - min(bytes.count, 8)))
        }

        static func < (lhs: Place, rhs: Place) -> Bool {
            lhs.head == rhs.head ? lhs.bytes.precedes(rhs.bytes) : lhs.head < rhs.head
        }

        static func == (lhs: Place, rhs: Place) -> Bool { !(lhs < rhs) && !(rhs < lhs) }
    }
}
