// SPDX-License-Identifier: Apache-2.0
// The keys of a member as one secret.

import Foundation
package import KeychainCrypto
import SecretMemory

/// All keys of a member: its own keys and former ones, the ring's, and the root keys of the epochs.
package struct StoredKeys: Sendable {
    package let device: DeviceKeys
    package let former: [FormerKeys]
    package let keyring: Keyring

    package init(device: DeviceKeys, former: [FormerKeys] = [], keyring: Keyring) {
        (self.device, self.former, self.keyring) = (device, former, keyring)
    }

    /// The second one has former keys.
    private static let formats: (UInt8, UInt8) = (1, 2)

    /// Format ‖ ring ‖ signing key ‖ wrapping key ‖ ring key ‖ with format 2: number of former keys (1), and the member and the
    /// wrapping key of each ‖ identity and root key of each epoch.
    ///
    /// - Returns: Bytes to wipe after use.
    package func bytes() -> ByteWriter {
        var writer = ByteWriter(capacity: 256 + former.count * 48 + keyring.roots.count * 52)
        writer.append(former.isEmpty ? Self.formats.0 : Self.formats.1)
        keyring.ring.ring.write(to: &writer)
        for key in [device.signing, device.wrapping, keyring.ring.secret] { key.withUnsafeBytes { writer.append($0) } }
        if !former.isEmpty { writer.append(UInt8(former.count)) }
        for keys in former {
            keys.member.write(to: &writer)
            keys.wrapping.withUnsafeBytes { writer.append($0) }
        }
        for (epoch, root) in keyring.roots {
            epoch.write(to: &writer)
            root.withUnsafeBytes { writer.append($0) }
        }
        return writer
    }

    package init(_ bytes: [UInt8]) throws(Refusal) {
        var reader = ByteReader(bytes)
        let format = try reader.byte()
        guard format == Self.formats.0 || format == Self.formats.1 else { throw .newerFormat }
        let ring: RingID = try reader.bytes32()
        device = DeviceKeys(signing: try reader.key(), wrapping: try reader.key())
        var keyring = Keyring(ring: RingKeys(secret: try reader.key(), ring: ring))
        var former: [FormerKeys] = []
        for _ in 0..<(format == Self.formats.1 ? try reader.byte() : 0) {
            former.append(FormerKeys(member: try reader.bytes16(), wrapping: try reader.key()))
        }
        while reader.rest > 0 {
            let (epoch, root) = (try reader.epoch(), try reader.key())
            keyring.add(EpochKeys(root: root, ring: ring, id: epoch), root: root)
        }
        (self.former, self.keyring) = (former, keyring)
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
