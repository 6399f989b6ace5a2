// SPDX-License-Identifier: Apache-2.0
// HMAC-SHA-256 (RFC 2104) that processes the key only once.

import Crypto
import SecretMemory

/// Digests messages with one key. swift-crypto's `HMAC` also copies its state, but reads messages through generic code,
/// which costs twice as much as the digest of a short message.
///
/// The states are in ordinary memory as long as the value exists. They do not reveal the key, but with them an attacker
/// can make digests.
struct KeyedDigest: Sendable {
    /// SHA-256 after the first block: the key xor the inner and the outer pad.
    private var inner: SHA256
    private var outer: SHA256

    /// In bytes.
    private static let blockLength = 64

    init(key: SecretBytes) {
        // The words that SHA-256 derives from the padded key remain in registers and on the stack, and reveal the key.
        defer { scrubStack() }
        self = key.withUnsafeBytes { KeyedDigest(keyOnStack: $0) }
    }

    /// For a caller that overwrites the stack when it no longer needs the key.
    init(keyOnStack key: UnsafeRawBufferPointer) {
        (inner, outer) =
            key.count > Self.blockLength
            ? SHA256.digest(of: key).withUnsafeBytes(Self.states) : Self.states(key)
    }

    private static func states(_ key: UnsafeRawBufferPointer) -> (SHA256, SHA256) {
        (state(key, pad: 0x36), state(key, pad: 0x5C))
    }

    private static func state(_ key: UnsafeRawBufferPointer, pad: UInt8) -> SHA256 {
        withUnsafeTemporaryAllocation(byteCount: blockLength, alignment: 16) { block in
            defer { wipeMemory(block) }
            for index in block.indices { block[index] = (index < key.count ? key[index] : 0) ^ pad }
            var state = SHA256()
            state.update(bufferPointer: UnsafeRawBufferPointer(block))
            return state
        }
    }

    /// The digest of a message.
    func code(for message: UnsafeRawBufferPointer) -> SHA256Digest {
        var copy = self
        return copy.finish(message)
    }

    /// The digest of a secret message with a key that nothing else is digested with. Nothing remains in the states.
    static func code(forSecret message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> SHA256Digest {
        var keyed = KeyedDigest(keyOnStack: key)
        defer {
            keyed.inner.overwrite()
            keyed.outer.overwrite()
        }
        return keyed.finish(message)
    }

    private mutating func finish(_ message: UnsafeRawBufferPointer) -> SHA256Digest {
        inner.update(bufferPointer: message)
        inner.finalize().withUnsafeBytes { outer.update(bufferPointer: $0) }
        return outer.finalize()
    }
}
