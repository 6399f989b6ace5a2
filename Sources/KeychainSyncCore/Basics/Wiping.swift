// SPDX-License-Identifier: Apache-2.0
// Overwrites secrets that several values share.

package import Foundation
import SecretMemory

/// Overwrites the blocks in which the library had expanded X-Wing keys: 7,840 bytes, and the header of an object. It frees them as
/// they are, and each begins with the key and ends with its seed.
///
/// The allocator may have merged a block with its neighbours; then the next blocks of that size come from there.
func scrubExpandedKeys() { scrubFreedBlocks(of: 7840 + 16, count: 4) }

extension Data {
    /// Overwrites the bytes of this value and of all its copies, for a secret of which no copy is used any more.
    package func wipeWithCopies() {
        withUnsafeBytes { wipeMemory(UnsafeMutableRawBufferPointer(mutating: $0)) }
    }
}

extension [UInt8] {
    /// The same. `wipe()` would make a copy of bytes that another value shares, and overwrite that.
    package func wipeWithCopies() {
        withUnsafeBytes { wipeMemory(UnsafeMutableRawBufferPointer(mutating: $0)) }
    }
}
