// SPDX-License-Identifier: Apache-2.0
// A keyed permutation of sixteen bytes.

import Crypto
import CryptoExtras
public import SecretMemory

/// One block of AES-256: maps sixteen bytes to sixteen that look random, and back, with the key.
///
/// It hides what the bytes say and protects nothing against change, so it is for names and never for secrets.
public struct BlockPermutation: Sendable {
    private let key: SymmetricKey

    public init(key: SecretBytes) { self.key = symmetric(key) }

    /// - Parameter block: Sixteen bytes; others come back unchanged.
    public func forward(_ block: [UInt8]) -> [UInt8] { applied(to: block) { try AES.permute(&$0, key: key) } }

    public func backward(_ block: [UInt8]) -> [UInt8] { applied(to: block) { try AES.inversePermute(&$0, key: key) } }

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
