// SPDX-License-Identifier: Apache-2.0
// The decoders of what the vault stores: what they take, they write again byte by byte.

import Foundation
import SecretMemory

@testable import KeychainCrypto
@testable import KeychainEngine
@testable import KeychainVault

enum StoredBytes {
    static func item(_ bytes: Data) {
        guard let item = try? ItemCodec.decode(bytes, accessibility: .whenUnlocked) else { return }
        require(ItemCodec.encode(item).data == bytes, "an item has one encoding")
        guard let unpadded = try? Padding.unpad(bytes, bucket: Padding.metadataBucket) else { return }
        var writer = ByteWriter(capacity: unpadded.count)
        writer.append(unpadded)
        require(Data(Padding.pad(writer, bucket: Padding.metadataBucket)) == bytes, "content has one padding")
    }

    /// As it is, and padded, or nothing behind the padding would ever be read. The first byte chooses the class, as a record does.
    static func sharedItem(_ bytes: Data) {
        guard let accessibility = bytes.first else { return }
        let content = Data(bytes.dropFirst())
        var writer = ByteWriter(capacity: content.count)
        writer.append(content)
        for bytes in [[UInt8](content), Padding.pad(writer, bucket: Padding.valueBucket)] {
            guard let item = SharedItem.decode(bytes, accessibility: accessibility) else { continue }
            require(SharedItem.encode(item) == bytes, "an item for other machines has one encoding")
            require(!SharedItem.primaryKey(item).isEmpty, "it has an identity")
        }
    }

    /// The checksum of the input is made right, or nothing behind it would ever be read.
    static func keybag(_ bytes: Data) {
        for bytes in [bytes, bytes + Checksum.sha256(bytes).prefix(8)] {
            guard let keybag = try? Keybag(bytes: bytes) else { continue }
            require(keybag.bytes == bytes, "a keybag has one spelling")
            require(keybag.slots.count <= Keybag.slotLimit && keybag.keys.count <= Keybag.keyLimit, "limits hold")
            open(keybag)
        }
    }

    /// Nothing opens with a key that made none of it. Deriving from a passphrase is left out: it takes a second.
    private static func open(_ keybag: Keybag) {
        for slot in keybag.slots where slot.kind == DeviceKeyProtector.kind.number && slot.parameters.count >= 16 {
            let file = Scratch.write(deviceKey(id: slot.parameters.suffix(16)), "device.key")
            guard let key = try? DeviceKey.load(file) else { fatalError("a device key is read") }
            let opened = try? DeviceKeyProtector(deviceKey: key).unwrap(slot, vaultID: keybag.vaultID)
            require(opened == nil, "no slot opens with a foreign key")
        }
    }

    private static func deviceKey(id: Data) -> Data {
        let body = Data("KVDK".utf8) + [1, 0, 0, 0] + id + Data(count: 32)
        return body + Checksum.sha256(body).prefix(8)
    }

    static func reference(_ bytes: Data) {
        guard let reference = try? PersistentReference(bytes) else { return }
        // The form of 12 bytes names a row of another system's keychain, which is not kept.
        require(reference.id == nil || reference.bytes == bytes, "a reference has one spelling")
    }

    static func unlockEntry(_ bytes: Data) {
        guard let entry = UnlockEntry(bytes: bytes.secret) else { return }
        require(entry.bytes.data == bytes, "an entry has one spelling")
    }

    static func wrappingKeys(_ bytes: Data) {
        let vaultID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        guard let keys = WrappingKeys(bytes: bytes.secret, vaultID: vaultID) else { return }
        _ = keys.authentication
    }

    /// With a right checksum too.
    static func deviceKey(_ bytes: Data) {
        for bytes in [bytes, bytes + Checksum.sha256(bytes).prefix(8)] {
            let path = Scratch.write(bytes, "device.key")
            guard let key = try? DeviceKey.load(path) else { continue }
            require(key.secret.count == 32, "a device key has 32 bytes")
        }
    }
}
