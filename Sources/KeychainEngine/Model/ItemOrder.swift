// SPDX-License-Identifier: Apache-2.0
// The order in which every store lists items.

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
        var bytes = [UInt8(clamping: ItemClass.allCases.firstIndex(of: item.itemClass) ?? 0)]
        bytes.reserveCapacity(128)
        for rule in item.itemClass.schema.listingKey {
            Self.append(Self.sortable(item.keyBytes(rule), rule.kind), to: &bytes)
        }
        self.bytes = bytes
    }

    public static func < (lhs: ItemOrder, rhs: ItemOrder) -> Bool {
        lhs.bytes.lexicographicallyPrecedes(rhs.bytes)
    }

    /// The lookup bytes of a value, changed where they would not sort like the values.
    private static func sortable(_ value: [UInt8], _ kind: AttributeKind) -> [UInt8] {
        var bytes = value
        switch kind {
        // A letter and eight bytes of two's complement.
        case .number where bytes.count == 9 && bytes[0] == UInt8(ascii: "n"): bytes[1] ^= 0x80
        // Eight bytes of IEEE 754. For negative dates, larger bytes mean an earlier date.
        case .date where bytes.count == 8:
            if bytes[0] & 0x80 == 0 { bytes[0] |= 0x80 } else { bytes = bytes.map { ~$0 } }
        default: break
        }
        return bytes
    }

    /// Two zero bytes end a value, so that "a" comes before "ab" whatever follows. A zero byte within a value is
    /// escaped.
    private static func append(_ value: [UInt8], to bytes: inout [UInt8]) {
        for byte in value {
            bytes.append(byte)
            if byte == 0 { bytes.append(0xFF) }
        }
        bytes += [0, 0]
    }
}

extension Sequence<StoredItem> {
    /// The items in the order of ``ItemOrder``; items with the same place keep their order.
    public func inOrder() -> [StoredItem] {
        map { (place: ItemOrder($0.item), stored: $0) }.sorted { $0.place < $1.place }.map { $0.stored }
    }
}
