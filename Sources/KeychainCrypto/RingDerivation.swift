// SPDX-License-Identifier: Apache-2.0
// derive for sync: the keys of a ring of machines, of its invitations and of its recovery key.

public import Foundation
public import SecretMemory

extension Derivation {
    /// The names that keep the derived keys of a ring apart; they go into `info` (Docs/FORMAT.md).
    public enum RingPurpose: String, Sendable, CaseIterable {
        /// Of the root key of an epoch: seals segments, snapshots and heads.
        case transport = "sync transport"
        /// Of the root key of an epoch: seals records of one accessibility class.
        case records = "sync records"
        /// Of the root key of an epoch: public, tells whether a root key is the right one.
        case commitment = "sync commitment"
        /// Of the ring key: names of items.
        case names = "sync names"
        /// Of the ring key: seals entries of the ring log.
        case log = "sync log"
        /// Of the ring key: digests that the state of a member adds up to.
        case state = "sync state"
        /// Of the recovery key: the seeds of its two key pairs.
        case recoverySigning = "sync recovery signing"
        case recoveryWrapping = "sync recovery wrapping"
        /// Of a machine's signing key: seals what it stores of the ring.
        case stored = "sync stored"
        /// Of an invitation's code: public, where the invitation lies; and what authenticates each side.
        case invitationName = "sync invitation name"
        case invitationInviter = "sync invitation inviter"
        case invitationJoiner = "sync invitation joiner"
    }

    /// - Parameters:
    ///   - salt: The ring's identity; empty where there is none yet.
    ///   - context: What the key is for within its purpose; every field of fixed length.
    public static func key(
        from secret: SecretBytes, salt: Data, _ purpose: RingPurpose, context: [UInt8] = []
    ) -> SecretBytes {
        key(from: secret, salt: salt, info: Array("swift-keychain/1 \(purpose.rawValue)\0".utf8) + context)
    }
}
