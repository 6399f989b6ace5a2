// SPDX-License-Identifier: Apache-2.0
// A keyed permutation of sixteen bytes.

import Crypto
import CryptoExtras
public import SecretMemory

/// One block of AES-256: maps sixteen bytes to sixteen bytes that look random, and back with the key.
///
/// It hides the content of the bytes, but does not protect them against changes. So it is for names, never for secrets.
public struct BlockPermutation: Sendable {
    private let key: SymmetricKey

    public init(key: SecretBytes) { self.key = symmetric(key) }

    /// - Parameter block: Sixteen bytes; otherwise it is returned unchanged.
    public func forward(_ block: [UInt8]) -> [UInt8] { applied(to: block) { try AES.permute(&$0, key: key) } }

    public func backward(_ block: [UInt8]) -> [UInt8] { applied(to: block) { try AES.inversePermute(&$0, key: key) } }

    /// Reverses ``forward(_:)`` for several blocks. The key is prepared once for all of them.
    ///
    /// - Parameter blocks: Sixteen bytes each; otherwise they are returned unchanged.
    public func backwardAll(_ blocks: [UInt8]) -> [UInt8] {
        do {
            // CBC decrypts each block and XORs the previous one, which is undone here.
            let zero = try AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: 16))
            var result = [UInt8](try AES._CBC.decrypt(blocks, using: key, iv: zero, noPadding: true))
            for index in result.indices.dropFirst(16) { result[index] ^= blocks[index - 16] }
            return result
        } catch {
            return blocks
        }
    }

    private func applied(to block: [UInt8], _ permute: (inout [UInt8]) throws -> Void) -> [UInt8] {
        var result = block
        do {
            try permute(&result)
        } catch {
            return block  // Only for a wrong length.
        }
        return result
    }
}
