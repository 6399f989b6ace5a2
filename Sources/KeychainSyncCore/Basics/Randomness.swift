// SPDX-License-Identifier: Apache-2.0
// The source of new identities and keys.

import Foundation
import KeychainCrypto
package import SecretMemory

/// Random bytes: from the kernel, or from a simulation that can be repeated.
package struct Randomness: Sendable {
    private let fill: @Sendable (UnsafeMutableRawBufferPointer) -> Void

    package init(fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void = fillWithRandomBytes) {
        self.fill = fill
    }

    package func key() -> SecretBytes { SecretBytes(count: 32, fill: fill) }

    package func writer() -> WriterID { WriterID(bytes(8).reduce(0) { $0 << 8 | UInt64($1) }) }

    package func snapshot() -> SnapshotID { SnapshotID(bytes(16)) }

    private func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { fill($0) }
        return bytes
    }
}
