// SPDX-License-Identifier: Apache-2.0
// The side of the machine that joins.

package import Foundation
import KeychainCrypto
package import SecretMemory

/// A ring that this machine is in: its log and its keys, all of it checked.
package struct OpenedRing: Sendable {
    package let log: RingLog
    package let keyring: Keyring

    /// Opens a ring from what lies on a carrier.
    ///
    /// - Parameters:
    ///   - ring: The ring that is expected: no other one is opened.
    ///   - tips: Entries that its log must have: no older state is accepted.
    ///   - wraps: Those for this member; others are passed over.
    ///   - entries: The log, sealed.
    package init(_ ring: RingID, tips: [EntryHash], for keys: DeviceKeys, wraps: [Data], entries: [Data])
        throws(Refusal)
    {
        let member = try keys.publicKeys().member
        let own = wraps.compactMap { try? KeyWrap($0) }.filter { $0.ring == ring && $0.recipient == member }
        var failure = Refusal.noKey
        for wrap in own {
            do {
                self = try OpenedRing(ring, tips, keys, member, own, entries, first: wrap)
                return
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// The ring key comes with the first wrap; what it opens must in the end vouch for the wrap.
    private init(
        _ ring: RingID, _ tips: [EntryHash], _ keys: DeviceKeys, _ member: MemberID, _ wraps: [KeyWrap],
        _ entries: [Data], first: KeyWrap
    ) throws(Refusal) {
        let ringKeys = RingKeys(secret: try first.open(with: keys).ringSecret, ring: ring)
        let opened = entries.prefix(Bounds.entries).compactMap { try? RingEntry.open($0, with: ringKeys) }
        guard let founding = opened.first(where: { $0.hash == ring }) else { throw .noKey }
        var log = try RingLog(founding: founding)
        log.insert(opened)
        guard log.knows(tips), log.ring.isActive(member) else { throw .notAMember }
        var keyring = Keyring(ring: ringKeys)
        _ = try log.keys(from: first, for: keys, ringKeys)
        for wrap in wraps {
            guard let (epoch, root) = try? log.keys(from: wrap, for: keys, ringKeys) else { continue }
            keyring.add(epoch, root: root)
        }
        _ = try keyring.keys(of: log.ring.current)
        (self.log, self.keyring) = (log, keyring)
    }
}

/// A machine on its way into a ring. It gives nothing away before the invitation has proven to be from who made the code.
package struct Joiner: Sendable {
    package let keys: DeviceKeys
    private let invitation: InvitationKeys
    package private(set) var offer: InvitationOffer?

    package init(code: SecretBytes, keys: DeviceKeys) {
        self.keys = keys
        invitation = InvitationKeys(code: code)
    }

    /// Where the invitation is looked for.
    package var objectName: ObjectName { .invitation(invitation.id) }

    package mutating func received(_ bytes: Data) throws(Refusal) {
        offer = try InvitationOffer(bytes, authenticatedBy: invitation.inviter)
    }

    /// What to put on the carrier.
    ///
    /// - Returns: `nil` as long as no invitation has held.
    package func request() throws(Refusal) -> (ObjectName, Data)? {
        guard let offer else { return nil }
        let publicKeys = try keys.publicKeys()
        let request = JoinRequest(ring: offer.ring, keys: publicKeys, invitation: offer.nonce)
        let name = ObjectName.request(invitation.id, RequestID(publicKeys.member.bytes))
        return (name, request.bytes(authenticatedBy: invitation.joiner))
    }

    /// The ring, once this machine is in it.
    package func finish(wraps: [Data], entries: [Data]) throws(Refusal) -> OpenedRing {
        guard let offer else { throw .notAMember }
        return try OpenedRing(offer.ring, tips: offer.tips, for: keys, wraps: wraps, entries: entries)
    }
}
