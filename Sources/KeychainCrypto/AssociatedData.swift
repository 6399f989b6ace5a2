// SPDX-License-Identifier: Apache-2.0
// What every sealed byte is bound to, so that a blob moved elsewhere does not open there.

public import Foundation

/// The place of a sealed blob, authenticated with it: a blob copied to another vault, item, column, class, version or key
/// generation does not open.
public struct AssociatedData: Sendable {
    /// What the blob is.
    public enum Role: UInt8, Sendable, CaseIterable {
        case metadata = 1
        case value = 2
        /// The one-time key of a value, wrapped by the class's value key.
        case valueKey = 3
        /// A class key or the index key, wrapped by a key derived from the root key.
        case keybagKey = 4
    }

    /// The canonical bytes: 54, every field of fixed length, numbers big-endian (Docs/FORMAT.md).
    public private(set) var bytes: Data

    /// - Parameters:
    ///   - itemID: Zero in the keybag.
    ///   - keyClass: Apple's number of the accessibility class, or the keybag's number of another key.
    public init(
        vaultID: UUID, role: Role, itemID: UUID, itemVersion: UInt64, keyClass: UInt8, generation: UInt32
    ) {
        bytes = Data(capacity: 54)
        bytes.append(contentsOf: Self.magic)
        bytes.append(uuid: vaultID)
        bytes.append(role.rawValue)
        bytes.append(uuid: itemID)
        bytes.append(bigEndian: itemVersion)
        bytes.append(keyClass)
        bytes.append(bigEndian: generation)
        // The last byte is reserved.
        bytes.append(contentsOf: [Suite.aes256GCM, Format.current, 0])
    }

    /// The place of another blob of the same item version.
    public func with(_ role: Role) -> AssociatedData {
        var copy = self
        copy.bytes[Self.magic.count + 16] = role.rawValue
        return copy
    }

    private static let magic: [UInt8] = Array("KVLT1".utf8)
}

/// The numbers of cipher suites; one so far.
public enum Suite {
    /// AES-256-GCM, HKDF-SHA-256, HMAC-SHA-256.
    public static let aes256GCM: UInt8 = 1
}

/// The version of the vault's format that this code reads and writes.
public enum Format {
    public static let current: UInt8 = 1
}

extension Data {
    /// Appends a number's bytes, most significant first.
    public mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    public mutating func append(uuid: UUID) {
        Swift.withUnsafeBytes(of: uuid.uuid) { append(contentsOf: $0) }
    }
}
