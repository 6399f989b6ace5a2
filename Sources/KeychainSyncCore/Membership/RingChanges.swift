// SPDX-License-Identifier: Apache-2.0
// Founding a ring, removing members, and new keys.

import Foundation
import KeychainCrypto
package import SecretMemory

/// The result of a change to a ring: entries for the log, and the keys of the epoch for each member.
package struct RingChange: Sendable {
    package let entries: [RingEntry]
    package let wraps: [KeyWrap]
    package let keys: EpochKeys
    /// The root key of the epoch, which a later change wraps for newcomers.
    package let root: SecretBytes
}

extension RingLog {
    /// A new ring with one member.
    package static func found(name: String, keys: DeviceKeys, _ random: Randomness = Randomness()) throws(Refusal) -> (
        RingLog, RingKeys, RingChange
    ) {
        let (root, card) = (
            random.key(), MemberCard(role: .device, keys: try keys.publicKeys(), name: name)
        )
        guard name.utf8.count <= Bounds.name else { throw .tooLarge }
        let start = EpochStart(number: 1, commitment: EpochKeys.commitment(to: root))
        let entry = try RingEntry(ring: .zero, parents: [], author: card.id, action: .found(card, start))
            .signed(by: keys)
        let log = try RingLog(founding: entry)
        let ringKeys = RingKeys(secret: random.key(), ring: log.id)
        let id = log.ring.current
        let wrap = try KeyWrap(root: root, epoch: id, ring: ringKeys, to: card.keys, from: card.id, signer: keys)
        let epoch = EpochKeys(root: root, ring: log.id, id: id)
        return (log, ringKeys, RingChange(entries: [entry], wraps: [wrap], keys: epoch, root: root))
    }

    /// Begins a new epoch, and wraps its keys for all members of the ring.
    package mutating func rotate(
        _ ringKeys: RingKeys, author: MemberID, signer: DeviceKeys, _ random: Randomness = Randomness()
    ) throws(Refusal)
        -> RingChange
    {
        let root = random.key()
        let highest = highestEpoch(before: parents(of: author))
        guard highest < .max else { throw .tooLarge }
        let start = EpochStart(number: highest + 1, commitment: EpochKeys.commitment(to: root))
        let entry = try append(.rotate(start), author: author, signer: signer)
        let id = EpochID(number: start.number, entry: entry.hash.short())
        let wraps = try wraps(of: root, id, ringKeys, author: author, signer: signer)
        let epoch = EpochKeys(root: root, ring: self.id, id: id)
        return RingChange(entries: [entry], wraps: wraps, keys: epoch, root: root)
    }

    /// For all active members that can be given keys.
    private func wraps(
        of root: SecretBytes, _ epoch: EpochID, _ ringKeys: RingKeys, author: MemberID, signer: DeviceKeys
    ) throws(Refusal) -> [KeyWrap] {
        var wraps: [KeyWrap] = []
        for card in ring.active {
            do throws(Refusal) {
                wraps.append(
                    try KeyWrap(root: root, epoch: epoch, ring: ringKeys, to: card.keys, from: author, signer: signer))
            } catch {
                // A member may have added it so that the ring never gets new keys.
                guard error == .malformed else { throw error }
            }
        }
        return wraps
    }

    /// Adds a member, and wraps the keys of the current epoch for it. It reads earlier items from a snapshot.
    package mutating func admit(
        _ card: MemberCard, _ keyring: Keyring, author: MemberID, signer: DeviceKeys
    ) throws(Refusal) -> (entry: RingEntry?, wrap: KeyWrap) {
        guard let root = keyring.roots[ring.current] else { throw .noKey }
        guard card.name.utf8.count <= Bounds.name else { throw .tooLarge }
        guard ring.members[card.id]?.isRemoved != true else { throw .notAMember }
        // First: a member that cannot get the keys must not be in the log.
        let wrap = try KeyWrap(
            root: root, epoch: ring.current, ring: keyring.ring, to: card.keys, from: author, signer: signer)
        let isNew = ring.members[card.id] == nil
        let entry = isNew ? try append(.add(card), author: author, signer: signer) : nil
        return (entry, wrap)
    }

    /// Removes members. Later objects need keys that they do not have, so a rotation follows at once.
    package mutating func remove(
        _ removals: [Removal], _ ringKeys: RingKeys, author: MemberID, signer: DeviceKeys,
        _ random: Randomness = Randomness()
    ) throws(Refusal) -> RingChange {
        guard removals.allSatisfy({ ring.isActive($0.member) && $0.member != author }) else { throw .notAMember }
        let removal = try append(.remove(removals), author: author, signer: signer)
        let rotation = try rotate(ringKeys, author: author, signer: signer, random)
        return RingChange(
            entries: [removal] + rotation.entries, wraps: rotation.wraps, keys: rotation.keys, root: rotation.root)
    }

    /// The keys of an epoch from a wrap, after all checks.
    package func keys(from wrap: KeyWrap, for keys: DeviceKeys, _ ringKeys: RingKeys) throws(Refusal)
        -> (EpochKeys, root: SecretBytes)
    {
        guard wrap.recipient == (try keys.publicKeys().member) else { throw .wrongName }
        return try self.keys(from: wrap, with: keys.wrapping, ringKeys)
    }

    /// - Parameter wrapping: The recipient's key.
    func keys(from wrap: KeyWrap, with wrapping: SecretBytes, _ ringKeys: RingKeys) throws(Refusal)
        -> (EpochKeys, root: SecretBytes)
    {
        guard wrap.ring == id else { throw .wrongRing }
        guard let start = ring.epochs[wrap.epoch] else { throw .contradiction }
        guard let author = ring.members[wrap.author]?.card, author.role != .reader else { throw .notAMember }
        try wrap.check(by: author.keys)
        let (root, secret) = try wrap.open(with: wrapping)
        let isOurs = secret.withUnsafeBytes { secret in
            ringKeys.secret.withUnsafeBytes { secret.elementsEqual($0) }
        }
        guard isOurs, EpochKeys.commitment(to: root) == start.commitment else { throw .notAuthentic }
        return (EpochKeys(root: root, ring: id, id: wrap.epoch), root)
    }
}
