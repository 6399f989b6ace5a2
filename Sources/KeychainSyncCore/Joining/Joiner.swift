// SPDX-License-Identifier: Apache-2.0
// The side of the machine that joins.

package import Foundation
import KeychainCrypto
package import SecretMemory

/// A ring that this machine has entered: its log and its keys, verified.
package struct OpenedRing: Sendable {
    package let log: RingLog
    package let keyring: Keyring

    /// Opens a ring from the objects on a carrier.
    ///
    /// - Parameters:
    ///   - ring: The expected ring; any other is rejected.
    ///   - tips: Entries that its log must contain, so that an older state is rejected.
    ///   - wraps: The wraps for this member; others are ignored.
    ///   - entries: The log, sealed.
    /// - Throws: `noKey` if there is no wrap for this member, or if an entry is missing; `notAMember` if it was removed.
    package init(_ ring: RingID, tips: [EntryHash], for keys: DeviceKeys, wraps: [Data], entries: [Data])
        throws(Refusal)
    {
        let member = try keys.publicKeys().member
        var (own, failure) = ([KeyWrap](), Refusal.noKey)
        for bytes in wraps {
            do {
                let wrap = try KeyWrap(bytes)
                if wrap.ring == ring, wrap.recipient == member { own.append(wrap) }
            } catch {
                failure = error
            }
        }
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

    /// The ring key comes with the first wrap. The log that it opens must then confirm the wrap.
    private init(
        _ ring: RingID, _ tips: [EntryHash], _ keys: DeviceKeys, _ member: MemberID, _ wraps: [KeyWrap],
        _ entries: [Data], first: KeyWrap
    ) throws(Refusal) {
        let ringKeys = RingKeys(secret: try first.open(with: keys.wrapping).ringSecret, ring: ring)
        // Entries that the ring key does not open are not of this ring.
        let opened = entries.prefix(Bounds.entries).compactMap { try? RingEntry.open($0, with: ringKeys) }
        guard let founding = opened.first(where: { $0.hash == ring }) else { throw .noKey }
        var log = try RingLog(founding: founding)
        log.insert(opened)
        guard log.knows(tips), let own = log.ring.members[member] else { throw .noKey }
        guard !own.isRemoved else { throw .notAMember }
        var keyring = Keyring(ring: ringKeys)
        _ = try log.keys(from: first, for: keys, ringKeys)
        for wrap in wraps {
            // A wrap that the log does not confirm gives no key; whether the current one is missing is checked below.
            guard let (epoch, root) = try? log.keys(from: wrap, for: keys, ringKeys) else { continue }
            keyring.add(epoch, root: root)
        }
        _ = try keyring.keys(of: log.ring.current)
        (self.log, self.keyring) = (log, keyring)
    }
}

/// A machine that is joining a ring. It reveals nothing before it has verified that the creator of the code made the
/// invitation.
package struct Joiner: Sendable {
    package let keys: DeviceKeys
    private let invitation: InvitationKeys
    package private(set) var offer: InvitationOffer?

    package init(code: SecretBytes, keys: DeviceKeys) {
        self.keys = keys
        invitation = InvitationKeys(code: code)
    }

    /// The name under which to look for the invitation.
    package var objectName: ObjectName { .invitation(invitation.id) }

    package mutating func received(_ bytes: Data) throws(Refusal) {
        offer = try InvitationOffer(bytes, authenticatedBy: invitation.inviter)
    }

    /// The object to publish on the carrier.
    ///
    /// - Returns: `nil` until an invitation was verified.
    package func request() throws(Refusal) -> (ObjectName, Data)? {
        guard let offer else { return nil }
        let publicKeys = try keys.publicKeys()
        let request = JoinRequest(ring: offer.ring, keys: publicKeys, invitation: offer.nonce)
        let name = ObjectName.request(invitation.id, RequestID(publicKeys.member.bytes))
        return (name, request.bytes(authenticatedBy: invitation.joiner))
    }

    /// The ring, once this machine was admitted.
    package func finish(wraps: [Data], entries: [Data]) throws(Refusal) -> OpenedRing {
        guard let offer else { throw .notAMember }
        return try OpenedRing(offer.ring, tips: offer.tips, for: keys, wraps: wraps, entries: entries)
    }
}
