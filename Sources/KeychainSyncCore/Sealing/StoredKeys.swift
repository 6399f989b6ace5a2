// SPDX-License-Identifier: Apache-2.0
// The keys of a member as one secret.

import Foundation
package import KeychainCrypto
import SecretMemory

/// All keys of a member: its own keys, the ring's, and the root keys of the epochs.
package struct StoredKeys: Sendable {
    package let device: DeviceKeys
    package let keyring: Keyring

    package init(device: DeviceKeys, keyring: Keyring) { (self.device, self.keyring) = (device, keyring) }

    private static let format: UInt8 = 1

    /// Format ‖ ring ‖ signing key ‖ wrapping key ‖ ring key ‖ identity and root key of each epoch.
    ///
    /// - Returns: Bytes to wipe after use.
    package func bytes() -> ByteWriter {
        var writer = ByteWriter(capacity: 256 + keyring.roots.count * 52)
        writer.append(Self.format)
        keyring.ring.ring.write(to: &writer)
        for key in [device.signing, device.wrapping, keyring.ring.secret] { key.withUnsafeBytes { writer.append($0) } }
        for (epoch, root) in keyring.roots {
            epoch.write(to: &writer)
            root.withUnsafeBytes { writer.append($0) }
        }
        return writer
    }

    package init(_ bytes: [UInt8]) throws(Refusal) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.format else { throw .newerFormat }
        let ring: RingID = try reader.bytes32()
        device = DeviceKeys(signing: try reader.key(), wrapping: try reader.key())
        var keyring = Keyring(ring: RingKeys(secret: try reader.key(), ring: ring))
        while reader.rest > 0 {
            let (epoch, root) = (try reader.epoch(), try reader.key())
            keyring.add(EpochKeys(root: root, ring: ring, id: epoch), root: root)
        }
        self.keyring = keyring
    }
}

extension ByteReader {
    /// Reads a key of 32 bytes.
    mutating func key() throws(Refusal) -> SecretBytes {
        var bytes = try bytes(32)
        defer { bytes.wipe() }
        return bytes.withUnsafeBytes { SecretBytes(copying: $0) }
    }
}
