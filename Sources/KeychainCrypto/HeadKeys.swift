// SPDX-License-Identifier: Apache-2.0
// The keys of the head: to seal it, to sum up its rows, and to authenticate anchors.

import Crypto
public import Foundation
public import SecretMemory

/// Three keys that are derived from the index key, which every writing process has. A class, because each write passes them on
/// several times.
public final class HeadKeys: Sendable {
    public let vaultID: UUID
    /// Makes the digests that the head sums up.
    public let rows: RowDigests
    private let sealing: SecretBytes
    // An attacker who reads its state can forge anchors, but cannot open anything.
    private let anchor: KeyedDigest
    private let place: AssociatedData

    public init(indexKey: SecretBytes, vaultID: UUID) {
        func key(_ purpose: Derivation.Purpose) -> SecretBytes {
            let salt = withUnsafeBytes(of: vaultID.uuid) { Data($0) }
            return Derivation.key(from: indexKey, salt: salt, purpose)
        }
        self.vaultID = vaultID
        sealing = key(.head)
        anchor = KeyedDigest(key: key(.headAnchor))
        rows = RowDigests(key: key(.headRows))
        place = AssociatedData(
            vaultID: vaultID, role: .head, itemID: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
            itemVersion: 0, keyClass: 0, generation: 0)
    }

    /// Seals a head: nonce ‖ ciphertext ‖ tag.
    ///
    /// - Parameter random: The source of the nonce; `nil`: directly from the kernel.
    public func seal(_ head: [UInt8], _ random: RandomBatch? = nil) throws(CipherFailure) -> Data {
        try Sealing.seal(head, with: sealing, place, random)
    }

    public func open(_ sealed: Data) throws(CipherFailure) -> Data { try Sealing.open(sealed, with: sealing, place) }

    /// The code that proves that an anchor was written with the index key.
    public func anchorCode(_ message: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        anchor.code(for: message).withUnsafeBytes(body)
    }

    /// Compares in constant time, as the library does with all its digests.
    public func isValid(anchorCode code: Data, _ message: [UInt8]) -> Bool {
        message.withUnsafeBytes { anchor.code(for: $0) } == code
    }
}

/// Keyed digests (HMAC-SHA-256) of rows.
public struct RowDigests: Sendable {
    private let keyed: KeyedDigest

    public init(key: SecretBytes) { keyed = KeyedDigest(key: key) }

    /// - Parameter message: Its first byte states the kind of row.
    public func digest(_ message: [UInt8]) -> SetSum {
        message.withUnsafeBytes { keyed.code(for: $0) }.withUnsafeBytes { SetSum(digest: $0) }
    }
}
