// SPDX-License-Identifier: Apache-2.0
// Checks of binary property lists that Foundation's decoders do not make, or that they need to not crash.

package import Foundation

/// The dictionary at the top of a binary property list.
///
/// The list ends with: 6 bytes ‖ size of an offset (1) ‖ size of a reference (1) ‖ number of objects (8) ‖ number of
/// the top object (8) ‖ position of the offset table (8).
package enum BinaryPropertyList {
    /// Whether the list has only types that property lists have, and no array or dictionary with more entries than the
    /// list has bytes. Foundation on Linux crashes when it reads a set, or decodes an array with 2⁶² entries or more.
    ///
    /// - Returns: `true` for other formats too.
    package static func isPlain(_ bytes: Data) -> Bool {
        guard bytes.starts(with: Data("bplist".utf8)) else { return true }
        // In place: the list may be a secret.
        return bytes.withUnsafeBytes { all in
            guard all.count >= 40, let count = number(all, all.count - 24, 8), count <= all.count else { return false }
            return (0..<count).allSatisfy { isPlain($0, all) }
        }
    }

    private static func isPlain(_ object: Int, _ all: UnsafeRawBufferPointer) -> Bool {
        guard let start = offset(of: object, all), let marker = number(all, start, 1) else { return false }
        switch marker >> 4 {
        case 0...7: return true
        case 10, 13: return count(at: start, marker, all).map { $0 <= all.count } ?? false
        // Sets (11 and 12), and unassigned markers.
        default: return false
        }
    }

    /// `nil` for other formats, and for bytes that are not a valid list.
    static func entryCount(_ bytes: Data) -> Int? {
        guard bytes.starts(with: Data("bplist".utf8)), bytes.count >= 40 else { return nil }
        return bytes.withUnsafeBytes { all in
            guard let top = number(all, all.count - 16, 8), let start = offset(of: top, all),
                let marker = number(all, start, 1), marker >> 4 == 0xD
            else { return nil }
            return count(at: start, marker, all)
        }
    }

    /// The number of entries of an array or a dictionary.
    private static func count(at start: Int, _ marker: Int, _ all: UnsafeRawBufferPointer) -> Int? {
        guard marker & 15 == 15 else { return marker & 15 }
        // A count that does not fit into the marker follows as an integer, whose marker holds the power of two of its
        // size.
        guard let integer = number(all, start + 1, 1), integer >> 4 == 1, integer & 15 <= 3 else { return nil }
        return number(all, start + 2, 1 << (integer & 15))
    }

    private static func offset(of object: Int, _ all: UnsafeRawBufferPointer) -> Int? {
        let size = Int(all[all.count - 26])
        guard object < all.count, let table = number(all, all.count - 8, 8) else { return nil }
        let (entry, isTooFar) = table.addingReportingOverflow(object * size)
        return isTooFar ? nil : number(all, entry, size)
    }

    /// A big-endian number; `nil` if it is not within the bytes, or larger than any position in them.
    private static func number(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ size: Int) -> Int? {
        guard (1...8).contains(size), start >= 0, start <= bytes.count - size else { return nil }
        return Int(exactly: bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
