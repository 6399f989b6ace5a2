// SPDX-License-Identifier: Apache-2.0
// Keyed digests of attribute values: what lookups compare instead of the values.

import Crypto
public import Foundation
public import SecretMemory

/// Keyed digests (HMAC-SHA-256) with the vault's index key: equal values of one attribute have equal digests. Without
/// the key they reveal nothing else.
///
/// Does not hide that two items share a value of the same attribute, nor how many do.
public struct BlindIndex: Sendable {
    private let keyed: KeyedDigest

    public init(key: SecretBytes) { keyed = KeyedDigest(key: key) }

    /// The first `length` bytes of the digest of `message`, whose first bytes state the kind of message.
    public func digest(_ message: [UInt8], length: Int) -> Data {
        let code = message.withUnsafeBytes { keyed.code(for: $0) }
        return code.withUnsafeBytes { bytes in
            bytes.baseAddress.map { Data(bytes: $0, count: min(length, bytes.count)) } ?? Data()
        }
    }
}
