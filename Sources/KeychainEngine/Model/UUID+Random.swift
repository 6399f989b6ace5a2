// SPDX-License-Identifier: Apache-2.0
// New identities.

package import Foundation
import SecretMemory

extension UUID {
    /// A new identity, from the same source as keys.
    ///
    /// `UUID()` of Foundation reads a file in `/dev`. In a root folder without `/dev` it gives the same value each time.
    package static func random() -> UUID {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes, fillWithRandomBytes)
        // Version 4 and the variant of RFC 9562.
        bytes.6 = bytes.6 & 0x0F | 0x40
        bytes.8 = bytes.8 & 0x3F | 0x80
        return UUID(uuid: bytes)
    }
}
