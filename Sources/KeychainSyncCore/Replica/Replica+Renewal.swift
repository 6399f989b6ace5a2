// SPDX-License-Identifier: Apache-2.0
// A machine whose keys may be known to an attacker continues as another member.

import Foundation

extension Replica {
    /// Replaces the keys of this machine, and makes new keys for the ring. An attacker with the former keys can read nothing that is
    /// written from now on, and write nothing.
    ///
    /// The former member adds the new one and removes itself. An attacker with its keys cannot undo that: the removal counts in any case,
    /// and entries of the former member that it has not seen do not. If the attacker does the same, both removals count, and neither
    /// addition, which the other removal has not seen: see ``wasRemovedByFormerKeys``.
    ///
    /// - Throws: ``Refusal/notAMember`` if this machine may not add members; then it has to join again.
    package mutating func renewIdentity(at now: UInt64) throws(Refusal) -> [Effect] {
        guard ring.mayWrite(member), let card = ring.members[member]?.card else { throw .notAMember }
        let new = DeviceKeys.make(random)
        var copy = self
        let effects = try copy.become(
            MemberCard(role: card.role, keys: try new.publicKeys(), name: card.name), new, at: now)
        self = copy
        return effects
    }

    /// Whether this machine is no member because somebody with its former keys has removed the former member too, without having seen
    /// the new one. The same happens to a machine whose addition is by a member with such former keys.
    package var wasRemovedByFormerKeys: Bool {
        guard ring.members[member] == nil else { return false }
        // Any other removal that voids the addition would void these too.
        let removals = ring.counted.compactMap { log.entries[$0] }.filter { $0.action.removesOnly($0.author) }
        var (next, seen) = ([member], Set<MemberID>())
        while let id = next.popLast() {
            guard seen.insert(id).inserted else { continue }
            if removals.count(where: { $0.author == id }) > 1 { return true }
            next += log.entries.values.filter { $0.action.card?.id == id }.map(\.author)
        }
        return false
    }

    private mutating func become(
        _ card: MemberCard, _ new: DeviceKeys, at now: UInt64
    ) throws(Refusal) -> [Effect] {
        // The new member is given the current keys first.
        var effects = hasLostItsKeys ? try rotate() : []
        effects += try admit(card)
        let cuts = logs.filter { $0.value.tip.author == member }.mapValues {
            Removal.Cut(number: $0.tip.number, hash: $0.tip.hash)
        }
        let removal = try log.append(.remove([Removal(member: member, cuts: cuts)]), author: member, signer: keys)
        effects += try store([removal])
        former = (former + [FormerKeys(member: member, wrapping: keys.wrapping)]).suffix(Bounds.formerKeys)
        (keys, member, lastHead) = (new, card.id, (0, .zero))
        effects += try rotate()
        try reissue(from: (logs[writer]?.tip.number ?? 0) + 1, at: now)
        return effects
    }
}
