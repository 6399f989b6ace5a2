// SPDX-License-Identifier: Apache-2.0
// The keys of the head: what seals it, what its sums are made with, and what vouches for anchors.

import Crypto
public import Foundation
public import SecretMemory

/// Three keys derived from the index key, which every process that may write has at hand.
public struct HeadKeys: Sendable {
    public let vaultID: UUID
    /// Makes the digests that the head adds up.
    public let rows: RowDigests
    private let sealing: SecretBytes
    private let anchor: SecretBytes

    public init(indexKey: SecretBytes, vaultID: UUID) {
        func key(_ purpose: Derivation.Purpose) -> SecretBytes {
            let salt = withUnsafeBytes(of: vaultID.uuid) { Data($0) }
            return Derivation.key(from: indexKey, salt: salt, purpose)
        }
        self.vaultID = vaultID
        (sealing, anchor) = (key(.head), key(.headAnchor))
        rows = RowDigests(key: key(.headRows))
    }

    /// Seals a head: nonce ‖ ciphertext ‖ tag.
    public func seal(_ head: [UInt8]) throws(CipherFailure) -> Data { try Sealing.seal(head, with: sealing, place) }

    public func open(_ sealed: Data) throws(CipherFailure) -> Data { try Sealing.open(sealed, with: sealing, place) }

    private var place: AssociatedData {
        AssociatedData(
            vaultID: vaultID, role: .head, itemID: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
            itemVersion: 0, keyClass: 0, generation: 0)
    }

    /// What shows that an anchor was written by somebody who has the index key.
    public func anchorCode(_ message: [UInt8]) -> Data { Authentication.code(for: message, key: anchor) }

    public func isValid(anchorCode code: Data, _ message: [UInt8]) -> Bool {
        Authentication.isValid(code, for: message, key: anchor)
    }
}

/// Keyed digests (HMAC-SHA-256) of rows.
public struct RowDigests: Sendable {
    // The keyed state is made once: it costs as much as the digest itself.
    private let keyed: HMAC<SHA256>

    public init(key: SecretBytes) { keyed = HMAC(key: symmetric(key)) }

    /// - Parameter message: Its first byte tells what kind of row it is of.
    public func digest(_ message: [UInt8]) -> SetSum {
        var code = keyed
        code.update(data: message)
        return SetSum(bytes: code.finalize())
    }
}
