// SPDX-License-Identifier: Apache-2.0
// The keybag: slots that each open the root key, and the keys that the root key wraps.

import Foundation
import KeychainCrypto

/// The wrapped keys of a vault, as stored: nothing in it is secret without a protector.
struct Keybag: Equatable {
    /// One way to the root key. Any slot opens the vault.
    struct Slot: Equatable {
        /// Which ``Protector`` made it; numbers that this version does not know are kept and left alone.
        var kind: UInt8
        var id: UUID
        /// Seconds since 2001-01-01 00:00:00 UTC.
        var created: Double
        /// What the protector needs to derive its key; public.
        var parameters: Data
        /// 32 bytes that tell a wrong secret from a damaged slot, before anything is unwrapped.
        var commitment: Data
        var wrappedRootKey: Data
    }

    /// A class key or the index key, wrapped by a key derived from the root key.
    struct WrappedKey: Equatable {
        /// Apple's number of an accessibility class, or ``indexKeyClass``.
        var keyClass: UInt8
        var generation: UInt32
        var created: Double
        var wrapped: Data
    }

    /// Stands in place of a class number for the key of the blind index.
    static let indexKeyClass: UInt8 = 32

    var vaultID: UUID
    /// One more with every change, so that the newer of two copies is known.
    var sequence: UInt64
    var slots: [Slot]
    var keys: [WrappedKey]
    /// HMAC over everything before it, under a key derived from the root key.
    var authentication: Data
}

// MARK: - Bytes

extension Keybag {
    /// More than any real keybag has; a number above it is damage, not a keybag.
    private static let slotLimit = 64
    private static let keyLimit = 1024
    private static let parameterLimit = 4096
    private static let magic = Data("KBAG".utf8)
    static let authenticationLength = 32

    /// Everything that ``authentication`` covers.
    var authenticatedBytes: Data {
        var bytes = Self.magic + [Format.current, Suite.aes256GCM]
        bytes.append(uuid: vaultID)
        bytes.append(bigEndian: sequence)
        bytes.append(bigEndian: UInt16(slots.count))
        for slot in slots { bytes += slot.header + slot.commitment + slot.wrappedRootKey }
        bytes.append(bigEndian: UInt16(keys.count))
        for key in keys {
            bytes.append(key.keyClass)
            bytes.append(bigEndian: key.generation)
            bytes.append(bigEndian: key.created.bitPattern)
            bytes += key.wrapped
        }
        return bytes
    }

    var bytes: Data { authenticatedBytes + authentication }

    /// Reads any bytes without trapping; what it accepts is not yet authenticated.
    init(bytes: Data) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        guard try reader.bytes(4) == Self.magic, try reader.number(UInt8.self) == Format.current,
            try reader.number(UInt8.self) == Suite.aes256GCM
        else { throw MalformedBytes() }
        vaultID = try reader.uuid()
        sequence = try reader.number()
        slots = try Self.list(&reader, limit: Self.slotLimit, Self.slot)
        keys = try Self.list(&reader, limit: Self.keyLimit, Self.wrappedKey)
        authentication = try reader.bytes(Self.authenticationLength)
        guard reader.isAtEnd else { throw MalformedBytes() }
    }

    private static func list<Element>(
        _ reader: inout ByteReader, limit: Int, _ read: (inout ByteReader) throws(MalformedBytes) -> Element
    ) throws(MalformedBytes) -> [Element] {
        let count = Int(try reader.number(UInt16.self))
        guard count <= limit else { throw MalformedBytes() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read(&reader)) }
        return elements
    }

    private static func slot(_ reader: inout ByteReader) throws(MalformedBytes) -> Slot {
        let kind = try reader.number(UInt8.self)
        let id = try reader.uuid()
        let created = try reader.double()
        let parameterLength = Int(try reader.number(UInt16.self))
        guard parameterLength <= parameterLimit else { throw MalformedBytes() }
        return Slot(
            kind: kind, id: id, created: created, parameters: try reader.bytes(parameterLength),
            commitment: try reader.bytes(32), wrappedRootKey: try reader.bytes(Sealing.wrappedKeyLength))
    }

    private static func wrappedKey(_ reader: inout ByteReader) throws(MalformedBytes) -> WrappedKey {
        WrappedKey(
            keyClass: try reader.number(), generation: try reader.number(), created: try reader.double(),
            wrapped: try reader.bytes(Sealing.wrappedKeyLength))
    }
}

extension Keybag.Slot {
    /// The public part, which the commitment and the wrap are bound to.
    var header: Data {
        var bytes = Data([kind])
        bytes.append(uuid: id)
        bytes.append(bigEndian: created.bitPattern)
        bytes.append(bigEndian: UInt16(parameters.count))
        return bytes + parameters
    }

    /// What the commitment and the wrap authenticate besides: this slot, in this vault.
    func context(vaultID: UUID) -> Data { Data("slot".utf8) + vaultID.bytes + header }
}
