// SPDX-License-Identifier: Apache-2.0
// The keybag: slots that each open the vault, and the wrapped keys.

import Foundation
import KeychainCrypto

/// The wrapped keys of a vault, as stored. Without a protector it reveals no secret.
struct Keybag: Equatable {
    /// One way to the root key. Any slot opens the vault.
    struct Slot: Equatable {
        /// The kind of slots that a passphrase opens, which have a separate limit.
        static let passphraseKind: UInt8 = 2

        /// Which ``Protector`` made it; numbers that this version does not know are kept unchanged.
        var kind: UInt8
        var id: UUID
        /// Seconds since 2001-01-01 00:00:00 UTC.
        var created: Double
        /// What the protector needs to derive its key; public.
        var parameters: Data
        /// 32 bytes that distinguish a wrong secret from a damaged slot, before anything is unwrapped.
        var commitment: Data
        /// The wrapped root key; in slots of passphrases and recovery keys the wrapped user key.
        var wrappedKey: Data
    }

    /// A class key or the index key, wrapped by a key derived from the root key.
    struct WrappedKey: Equatable {
        /// Apple's number of an accessibility class, or ``indexKeyClass``.
        var keyClass: UInt8
        var generation: UInt32
        var created: Double
        var wrapped: Data
    }

    /// The user key, which only passphrases and recovery keys unwrap: its public half, and the root key wrapped under
    /// it.
    ///
    /// All slots of passphrases and recovery keys contain the same user key. Data sealed to its public half opens only
    /// with such a secret, entered again, even while the vault is unlocked.
    struct UserKeyEntry: Equatable {
        var publicKey: Data
        var wrappedRootKey: Data
    }

    /// The keys that the device key opens by itself when it does not open the root key: those of the always-open
    /// classes, and of the index.
    struct AlwaysSection: Equatable {
        var deviceKeyID: UUID
        var salt: Data
        /// The wrapping keys of ``AlwaysSection/keyClasses``, one after the other.
        var sealed: Data

        static let keyClasses: [UInt8] = [8, 11, indexKeyClass]
        static let saltLength = 32
        static let sealedLength = keyClasses.count * 32 + Sealing.overhead
    }

    /// Used as a class number for the key of the blind index.
    static let indexKeyClass: UInt8 = 32

    /// Format 1 has neither of the two sections nor a checksum; every change of a keybag writes format 2.
    var format: UInt8
    var vaultID: UUID
    /// Incremented with every change, so that the newer of two copies is known.
    var sequence: UInt64
    var slots: [Slot]
    var keys: [WrappedKey]
    var userKey: UserKeyEntry?
    var always: AlwaysSection?
    /// HMAC over everything before it, under a key derived from the root key.
    var authentication: Data
}

// MARK: - Bytes

extension Keybag {
    /// More than any valid keybag has; a larger number means damage.
    static let slotLimit = 64
    static let passphraseLimit = 8
    static let keyLimit = 1024
    private static let parameterLimit = 4096
    private static let magic = Data([UInt8]("KBAG".utf8))
    static let newestFormat: UInt8 = 2
    static let authenticationLength = 32
    private static let checksumLength = 8

    /// Everything that ``authentication`` covers.
    var authenticatedBytes: [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        writer.append(Self.magic)
        writer.append(format)
        writer.append(Suite.aes256GCM)
        writer.append(vaultID)
        writer.append(bigEndian: sequence)
        writer.append(bigEndian: UInt16(slots.count))
        for slot in slots {
            slot.writeHeader(to: &writer)
            writer.append(slot.commitment)
            writer.append(slot.wrappedKey)
        }
        writer.append(bigEndian: UInt16(keys.count))
        for key in keys {
            writer.append(key.keyClass)
            writer.append(bigEndian: key.generation)
            writer.append(bigEndian: key.created.bitPattern)
            writer.append(key.wrapped)
        }
        if format >= 2 { appendSections(to: &writer) }
        return writer.bytes
    }

    private func appendSections(to writer: inout ByteWriter) {
        writer.append(UInt8(userKey == nil ? 0 : 1))
        if let userKey {
            writer.append(userKey.publicKey)
            writer.append(userKey.wrappedRootKey)
        }
        writer.append(UInt8(always == nil ? 0 : 1))
        if let always {
            writer.append(always.deviceKeyID)
            writer.append(always.salt)
            writer.append(always.sealed)
        }
    }

    /// The checksum detects damage before any key is available: a passphrase must not be reported as wrong when the
    /// keybag is damaged.
    var bytes: Data {
        let body = Data(authenticatedBytes) + authentication
        return format >= 2 ? body + Self.checksum(body) : body
    }

    private static func checksum(_ body: Data) -> Data { Checksum.sha256(body).prefix(checksumLength) }

    /// Whether the bytes begin like a keybag of a newer format.
    static func isOfNewerFormat(_ bytes: Data) -> Bool {
        bytes.starts(with: magic) && bytes.dropFirst(magic.count).first.map { $0 > newestFormat } == true
    }

    /// Reads any bytes without trapping; what it accepts is not yet authenticated.
    init(bytes: Data) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        guard try reader.bytes(4) == Self.magic else { throw MalformedBytes() }
        format = try reader.number()
        guard (1...Self.newestFormat).contains(format), try reader.number(UInt8.self) == Suite.aes256GCM else {
            throw MalformedBytes()
        }
        vaultID = try reader.uuid()
        sequence = try reader.number()
        slots = try Self.list(&reader, limit: Self.slotLimit, Self.slot)
        keys = try Self.list(&reader, limit: Self.keyLimit, Self.wrappedKey)
        userKey = format >= 2 ? try Self.optional(&reader, Self.userKeyEntry) : nil
        always = format >= 2 ? try Self.optional(&reader, Self.alwaysSection) : nil
        authentication = try reader.bytes(Self.authenticationLength)
        if format >= 2 {
            let body = bytes.dropLast(Self.checksumLength)
            guard try reader.bytes(Self.checksumLength) == Self.checksum(body) else { throw MalformedBytes() }
        }
        guard reader.isAtEnd, hasSensibleLists else { throw MalformedBytes() }
    }

    /// Rules that every keybag written by this program follows. A NaN date would make a keybag unequal to itself; a
    /// second key of the same name could replace the first; and each passphrase slot may take half a second to try.
    private var hasSensibleLists: Bool {
        let names = keys.map(\.name.number).sorted()
        let areDifferent = zip(names, names.dropFirst()).allSatisfy { $0 < $1 }
        return areDifferent && keys.allSatisfy { $0.generation > 0 && $0.created.isFinite }
            && keys.filter { $0.keyClass == Self.indexKeyClass }.count <= 1
            && slots.allSatisfy(\.created.isFinite)
            && slots.filter { $0.kind == Slot.passphraseKind }.count <= Self.passphraseLimit
    }

    private static func optional<Section>(
        _ reader: inout ByteReader, _ read: (inout ByteReader) throws(MalformedBytes) -> Section
    ) throws(MalformedBytes) -> Section? {
        switch try reader.number(UInt8.self) {
        case 0: return nil
        case 1: return try read(&reader)
        default: throw MalformedBytes()
        }
    }

    private static func userKeyEntry(_ reader: inout ByteReader) throws(MalformedBytes) -> UserKeyEntry {
        UserKeyEntry(
            publicKey: try reader.bytes(UserKey.publicKeyLength),
            wrappedRootKey: try reader.bytes(Sealing.wrappedKeyLength))
    }

    private static func alwaysSection(_ reader: inout ByteReader) throws(MalformedBytes) -> AlwaysSection {
        AlwaysSection(
            deviceKeyID: try reader.uuid(), salt: try reader.bytes(AlwaysSection.saltLength),
            sealed: try reader.bytes(AlwaysSection.sealedLength))
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
            commitment: try reader.bytes(32), wrappedKey: try reader.bytes(Sealing.wrappedKeyLength))
    }

    private static func wrappedKey(_ reader: inout ByteReader) throws(MalformedBytes) -> WrappedKey {
        WrappedKey(
            keyClass: try reader.number(), generation: try reader.number(), created: try reader.double(),
            wrapped: try reader.bytes(Sealing.wrappedKeyLength))
    }
}

extension Keybag.Slot {
    /// The public part, to which the commitment and the wrap are bound.
    func writeHeader(to writer: inout ByteWriter) {
        writer.append(kind)
        writer.append(id)
        writer.append(bigEndian: created.bitPattern)
        writer.append(bigEndian: UInt16(parameters.count))
        writer.append(parameters)
    }

    /// The data that the commitment and the wrap authenticate: this slot, in this vault.
    func context(vaultID: UUID) -> [UInt8] {
        var writer = ByteWriter(capacity: 128)
        writer.append("slot")
        writer.append(vaultID)
        writeHeader(to: &writer)
        return writer.bytes
    }
}
