// SPDX-License-Identifier: Apache-2.0
// Keyed digests of attribute values: what lookups compare instead of the values.

import Crypto
public import Foundation
public import SecretMemory

/// Keyed digests (HMAC-SHA-256) under the vault's index key: equal values of one attribute have equal digests, and without
/// the key nothing else can be told.
///
/// Does not hide that two items share a value of the same attribute, nor how many do.
public struct BlindIndex: Sendable {
    // The keyed state is made once: it costs as much as the digest itself.
    private let keyed: HMAC<SHA256>

    public init(key: SecretBytes) {
        keyed = HMAC(key: symmetric(key))
    }

    /// The first `length` bytes of the digest of `message`, whose first byte or bytes tell what kind of message it is.
    public func digest(_ message: [UInt8], length: Int) -> Data {
        var code = keyed
        code.update(data: message)
        return code.finalize().withUnsafeBytes { Data($0.prefix(length)) }
    }
}
