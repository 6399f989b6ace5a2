// SPDX-License-Identifier: Apache-2.0
// derive for sync: the keys of a ring of machines, of its invitations and of its recovery key.

public import Foundation
public import SecretMemory

extension Derivation {
    /// The names that separate the derived keys of a ring; they are part of `info` (Docs/FORMAT.md).
    public enum RingPurpose: String, Sendable, CaseIterable {
        /// From the root key of an epoch: seals segments, snapshots and heads.
        case transport = "sync transport"
        /// From the root key of an epoch: seals records of one accessibility class.
        case records = "sync records"
        /// From the root key of an epoch: public, identifies the right root key.
        case commitment = "sync commitment"
        /// From the ring key: names of items.
        case names = "sync names"
        /// From the ring key: seals entries of the ring log.
        case log = "sync log"
        /// From the ring key: digests that sum up the state of a member.
        case state = "sync state"
        /// From the recovery key: the seeds of its two key pairs.
        case recoverySigning = "sync recovery signing"
        case recoveryWrapping = "sync recovery wrapping"
        /// From a machine's signing key: seals the stored state of the ring.
        case stored = "sync stored"
        /// From an invitation's code: its public name on the carrier, and the keys that authenticate each side.
        case invitationName = "sync invitation name"
        case invitationInviter = "sync invitation inviter"
        case invitationJoiner = "sync invitation joiner"
    }

    /// - Parameters:
    ///   - salt: The ring's identity; empty if there is none yet.
    ///   - context: The purpose within `purpose`; every field of fixed length.
    public static func key(
        from secret: SecretBytes, salt: Data, _ purpose: RingPurpose, context: [UInt8] = []
    ) -> SecretBytes {
        key(from: secret, salt: salt, info: Array("swift-keychain/1 \(purpose.rawValue)\0".utf8) + context)
    }
}
