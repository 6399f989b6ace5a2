// SPDX-License-Identifier: Apache-2.0
// The primitives of the format by name, as this package computes them.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

@testable import KeychainVault

extension FormatVector {
    /// What this package makes of the input.
    ///
    /// - Throws: only for a vector that makes no sense; a refusal is `null`.
    func evaluate() throws -> JSON {
        let known = [Self.primitives, Self.primitivesOfFormat2, Self.primitivesOfFormat3]
        guard let primitive = known.lazy.compactMap({ $0[primitive] }).first else {
            throw BadVector(what: primitive)
        }
        do {
            return try primitive(input)
        } catch let error as BadVector {
            throw error
        } catch {
            return namesFailures ? .object(["failure": .text(Self.word(error))]) : .null
        }
    }

    private static let primitives: [String: @Sendable (VectorInput) throws -> JSON] = [
        "associatedData": { .hex(try $0.place().bytes) },
        "derive": derive, "context": context, "comparison": comparison, "digests": digests,
        "identity": identity, "rowID": rowID, "bucket": bucket, "unpad": unpad, "item": item,
        "deviceKey": deviceKey, "keybag": keybag, "openKeybag": openKeybag, "open": open, "openOneTime": openOneTime,
        "row": row, "userPublicKey": userPublicKey, "openUserKey": openUserKey, "normalised": normalised,
        "passphraseKeys": passphraseKeys, "recoveryText": recoveryText, "readRecovery": readRecovery,
    ]

    // MARK: - Keys

    @Sendable private static func derive(_ input: VectorInput) throws -> JSON {
        guard let purpose = Derivation.Purpose(rawValue: try input.text("purpose")) else {
            throw BadVector(what: "purpose")
        }
        let key = Derivation.key(
            from: try input.secret("secret"), salt: try input.bytes("salt"), purpose,
            context: try input.bytes("context"))
        return key.hex
    }

    @Sendable private static func context(_ input: VectorInput) throws -> JSON {
        .hex(
            Derivation.context(
                keyClass: try input.number("keyClass"), generation: try input.number("generation"),
                accessGroup: try input.text("accessGroup")))
    }

    @Sendable private static func deviceKey(_ input: VectorInput) throws -> JSON {
        let key = try loadDeviceKey(input.bytes("bytes"))
        return .object(["id": .hex(key.id.bytes), "key": key.secret.hex])
    }

    /// Through a file, as there is no other way in.
    static func loadDeviceKey(_ bytes: Data) throws -> DeviceKey {
        let path = NSTemporaryDirectory() + "vector-\(UUID().uuidString).key"
        try PrivateFile.createEmpty(path)
        defer { unlink(path) }
        try bytes.write(to: URL(fileURLWithPath: path))
        guard let key = try DeviceKey.load(path) else { throw BadVector(what: "device key") }
        return key
    }

    @Sendable private static func keybag(_ input: VectorInput) throws -> JSON {
        let keybag = try Keybag(bytes: input.bytes("bytes"))
        let common = JSON.object([
            "vault": .hex(keybag.vaultID.bytes), "sequence": .number(keybag.sequence),
            "slots": .list(keybag.slots.map(\.json)), "keys": .list(keybag.keys.map(\.json)),
        ])
        guard keybag.format >= 2 else { return common }
        return common.merging(
            .object(["userKey": keybag.userKey?.json ?? .null, "always": keybag.always?.json ?? .null]))
    }

    private static func open(_ keybag: Keybag, _ deviceKey: DeviceKey) throws -> ClassKeys {
        guard let authority = try keybag.authority(DeviceKeyProtector(deviceKey: deviceKey), deviceKey) else {
            throw KeychainError(.authenticationFailed, "The device key does not fit.")
        }
        return try ClassKeys(keybag, authority)
    }

    @Sendable private static func openKeybag(_ input: VectorInput) throws -> JSON {
        let keybag = try Keybag(bytes: input.bytes("keybag"))
        let keys = try open(keybag, loadDeviceKey(input.bytes("deviceKey")))
        var pairs: [String: JSON] = [:]
        for entry in keybag.keys {
            guard case .open(let pair) = keys.availability(entry.keyClass, entry.generation) else { continue }
            pairs["\(entry.keyClass).\(entry.generation)"] = .list([pair.metadata.hex, pair.value.hex])
        }
        return .object([
            "pairs": .object(pairs), "index": .hex(keys.index.digest(Array("vector".utf8), length: 16)),
            "reference": .hex(keys.references.forward([UInt8](repeating: 0, count: 16))),
        ])
    }

    // MARK: - Digests and identities

    @Sendable private static func comparison(_ input: VectorInput) throws -> JSON {
        let kinds: [String: AttributeKind] = ["blob": .blob, "number": .number, "date": .date]
        guard let kind = kinds[try input.text("kind")] else { throw BadVector(what: "kind") }
        return .hex(try input.value().lookupBytes(as: kind))
    }

    @Sendable private static func digests(_ input: VectorInput) throws -> JSON {
        let digests = ItemDigests(index: BlindIndex(key: try input.secret("key")))
        let item = try ItemCodec.decode(input.bytes("encoding"), accessibility: .whenUnlocked)
        let key = digests.key(item)
        return .object([
            "major": .hex(key.major), "minor": .hex(key.minor), "scope": .hex(key.scope),
            "lookups": .list(digests.lookups(item).map(\.hexadecimal).sorted().map { .text($0) }),
        ])
    }

    @Sendable private static func identity(_ input: VectorInput) throws -> JSON {
        let row: Int64 = try input.number("rowID")
        let block = withUnsafeBytes(of: row.bigEndian) { Array($0) } + (try input.bytes("random"))
        return .hex(BlockPermutation(key: try input.secret("key")).forward(block))
    }

    @Sendable private static func rowID(_ input: VectorInput) throws -> JSON {
        let block = BlockPermutation(key: try input.secret("key")).backward(Array(try input.bytes("identity")))
        var reader = ByteReader(Data(block))
        return .number(try reader.number(Int64.self))
    }

    // MARK: - Items

    @Sendable private static func bucket(_ input: VectorInput) throws -> JSON {
        let length: Int = try input.number("length")
        let isValue = try input.text("content") == "value"
        return .number(isValue ? Padding.valueBucket(length) : Padding.metadataBucket(length))
    }

    @Sendable private static func unpad(_ input: VectorInput) throws -> JSON {
        let bucket = try input.text("content") == "value" ? Padding.valueBucket : Padding.metadataBucket
        return .hex(try Padding.unpad(input.bytes("padded"), bucket: bucket))
    }

    @Sendable private static func item(_ input: VectorInput) throws -> JSON {
        guard let accessibility = Accessibility(number: try input.number("keyClass")) else {
            throw BadVector(what: "keyClass")
        }
        return .item(try ItemCodec.decode(input.bytes("encoding"), accessibility: accessibility)) { $0.hexadecimal }
    }

    // MARK: - Sealed

    @Sendable private static func open(_ input: VectorInput) throws -> JSON {
        .hex(try Sealing.open(input.bytes("sealed"), with: input.secret("key"), input.place()))
    }

    @Sendable private static func openOneTime(_ input: VectorInput) throws -> JSON {
        .hex(
            try Sealing.openWithOneTimeKey(
                input.bytes("sealed"), wrappingKey: input.secret("key"), keyPlace: input.place(.valueKey),
                input.place(.value)))
    }

    @Sendable private static func row(_ input: VectorInput) throws -> JSON {
        let keybag = try Keybag(bytes: input.bytes("keybag"))
        let keys = try open(keybag, loadDeviceKey(input.bytes("deviceKey")))
        let sealer = RowSealer(keys, userPublicKey: keybag.userKey?.publicKey)
        let row = try SealedRow(input.member("row"))
        var stored = try sealer.open(row)
        stored.item.value = try sealer.openValue(row, stored.item.accessControl.needs, input.proofs())
        guard sealer.digests.key(stored.item) == row.key, sealer.rowID(of: row.id) == row.rowID else { return .null }
        return .stored(stored) { $0.hexadecimal }
    }
}

extension SealedRow {
    init(_ input: VectorInput) throws {
        self.init(
            rowID: try input.number("id"), id: UUID(bytes: try input.bytes("uuid")),
            version: try input.number("version"), keyClass: try input.number("class"),
            generation: try input.number("generation"),
            key: KeyDigests(
                major: try input.bytes("major"), minor: try input.bytes("minor"), scope: try input.bytes("scope")),
            metadata: try input.bytes("metadata"), value: try input.bytes("value"))
    }
}

extension SecretBytes {
    var hex: JSON { withUnsafeBytes { .hex($0) } }
}

extension Keybag.Slot {
    fileprivate var json: JSON {
        .object([
            "kind": .number(kind), "id": .hex(id.bytes), "created": .number(created), "parameters": .hex(parameters),
            "commitment": .hex(commitment), "wrapped": .hex(wrappedKey),
        ])
    }
}

extension Keybag.WrappedKey {
    fileprivate var json: JSON {
        .object([
            "keyClass": .number(keyClass), "generation": .number(generation), "created": .number(created),
            "wrapped": .hex(wrapped),
        ])
    }
}

extension Keybag.UserKeyEntry {
    fileprivate var json: JSON { .object(["publicKey": .hex(publicKey), "wrapped": .hex(wrappedRootKey)]) }
}

extension Keybag.AlwaysSection {
    fileprivate var json: JSON {
        .object(["device": .hex(deviceKeyID.bytes), "salt": .hex(salt), "sealed": .hex(sealed)])
    }
}
