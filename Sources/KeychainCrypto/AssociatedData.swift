// SPDX-License-Identifier: Apache-2.0
// The context that every sealed blob is bound to, so that a blob that is moved elsewhere cannot be opened there.

public import Foundation

/// The location of a sealed blob, authenticated with it: a blob that is copied to another vault, item, column, class,
/// version or key generation cannot be opened.
public struct AssociatedData: Sendable {
    /// The kind of the blob.
    public enum Role: UInt8, Sendable, CaseIterable {
        case metadata = 1
        case value = 2
        /// The one-time key of a value, wrapped by the class's value key.
        case valueKey = 3
        /// A class key or the index key, wrapped by a key derived from the root key.
        case keybagKey = 4
        /// The layers around the one-time key of a constrained item's value.
        case constrainedValueKey = 5
        /// The head over all rows.
        case head = 6
    }

    private var writer: ByteWriter

    /// The canonical bytes: 54, every field of fixed length, numbers big-endian (Docs/FORMAT.md).
    public var bytes: [UInt8] { writer.bytes }

    /// - Parameters:
    ///   - itemID: Zero in the keybag and in the head, as are all later fields except the class of a key in the keybag.
    ///   - keyClass: Apple's number of the accessibility class, or the keybag's number of another key.
    public init(
        vaultID: UUID, role: Role, itemID: UUID, itemVersion: UInt64, keyClass: UInt8, generation: UInt32
    ) {
        writer = ByteWriter(capacity: 54)
        writer.append(Self.magic)
        writer.append(vaultID)
        writer.append(role.rawValue)
        writer.append(itemID)
        writer.append(bigEndian: itemVersion)
        writer.append(keyClass)
        writer.append(bigEndian: generation)
        writer.append(Suite.aes256GCM)
        writer.append(Format.current)
        writer.append(UInt8(0))  // reserved
    }

    /// The location of another blob of the same item version.
    public func with(_ role: Role) -> AssociatedData {
        var copy = self
        copy.writer.replace(at: Self.magic.count + 16, with: role.rawValue)
        return copy
    }

    /// The same under another generation of the class key.
    public func with(_ role: Role, generation: UInt32) -> AssociatedData {
        var copy = with(role)
        for index in 0..<4 {
            copy.writer.replace(
                at: Self.generationOffset + index, with: UInt8(truncatingIfNeeded: generation >> (24 - 8 * index)))
        }
        return copy
    }

    /// Changes the location to another item version, for the next of many blobs of one role in one vault.
    public mutating func move(toItem id: UUID, version: UInt64, keyClass: UInt8, generation: UInt32) {
        writer.replace(at: Self.itemOffset) { field in
            field.put(id)
            field.put(bigEndian: version)
            field.put(keyClass)
            field.put(bigEndian: generation)
        }
    }

    private static let itemOffset = 22
    private static let generationOffset = 47
    private static let magic: [UInt8] = Array("KVLT1".utf8)
}

/// The numbers of cipher suites. There is one so far.
public enum Suite {
    /// AES-256-GCM, HKDF-SHA-256, HMAC-SHA-256.
    public static let aes256GCM: UInt8 = 1
}

/// The version of the vault's format that this code reads and writes.
public enum Format {
    public static let current: UInt8 = 1
}
