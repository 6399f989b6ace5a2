// SPDX-License-Identifier: Apache-2.0
// What a machine has to remember from when it asks until it has entered the ring.

package import Foundation
package import KeychainCrypto
import SecretMemory

/// The keys of a machine that joins, and the invitation that it has verified. The invitation may be gone when the machine asks again.
package struct AskingKeys: Sendable {
    package let keys: DeviceKeys
    /// The object of the invitation. ``Joiner/received(_:)`` verifies it again.
    package let offer: Data

    package init(keys: DeviceKeys, offer: Data) { (self.keys, self.offer) = (keys, offer) }

    private static let format: UInt8 = 1

    /// Format ‖ signing key ‖ wrapping key ‖ invitation.
    ///
    /// - Returns: Bytes to wipe after use.
    package func bytes() -> ByteWriter {
        var writer = ByteWriter(capacity: 128 + offer.count)
        writer.append(Self.format)
        for key in [keys.signing, keys.wrapping] { key.withUnsafeBytes { writer.append($0) } }
        writer.append(offer)
        return writer
    }

    package init(_ bytes: [UInt8]) throws(Refusal) {
        var reader = ByteReader(bytes)
        defer { reader.wipe() }
        guard try reader.byte() == Self.format else { throw .newerFormat }
        keys = DeviceKeys(signing: try reader.key(), wrapping: try reader.key())
        offer = try reader.remainder()
    }
}
