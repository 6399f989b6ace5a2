// SPDX-License-Identifier: Apache-2.0
// SHA-256 of secrets, which leaves nothing of them in the states that the library frees.

import Crypto
import SecretMemory

extension SHA256 {
    /// The digest of a public text followed by a secret.
    ///
    /// What remains on the stack is the caller's to overwrite.
    static func digest(of secret: UnsafeRawBufferPointer, after text: String = "") -> SHA256Digest {
        var state = SHA256()
        defer { state.overwrite() }
        state.update(data: Array(text.utf8))
        state.update(bufferPointer: secret)
        return state.finalize()
    }

    /// Overwrites what the state reveals: up to 63 bytes of the message as they are, or a key that was its first block.
    ///
    /// swift-crypto frees states as they are. A freed block may become part of a larger one, where no later allocation is certain
    /// to find it. One more block clears the buffer in place, and the chaining value does not lead back. The state must have no
    /// copy, else the library would make another one and overwrite that.
    mutating func overwrite() {
        withUnsafeTemporaryAllocation(byteCount: Self.blockByteCount, alignment: 16) { zeros in
            zeros.initializeMemory(as: UInt8.self, repeating: 0)
            update(bufferPointer: UnsafeRawBufferPointer(zeros))
        }
    }
}
