// SPDX-License-Identifier: Apache-2.0
// The current keys, wrapped for members whose wrap the carrier lacks.

import SecretMemory

extension Replica {
    /// Makes what members need to get the current keys, if nobody else does. It is published together with everything else that the carrier
    /// lacks. A machine without these keys notes since when something lies there that does not give it them.
    mutating func checkWraps(in listing: Listing, at now: UInt64, wrapping isWrapping: Bool) -> [Effect] {
        guard let root = keyring.roots[ring.current] else { return noteOwnWrap(in: listing, at: now) }
        guard isWrapping, ring.mayWrite(member) else {
            observations.wraps = [:]
            return []
        }
        let missing = ring.active.filter { card in
            let name = ObjectName.wrap(ring.current, card.id)
            return wraps[name] == nil && !listing.mayHave(name)
        }
        let lost = observations.missingWraps(Set(missing.map { .wrap(ring.current, $0.id) }), at: now)
        let newcomers = Set(ring.withoutKeys.map(\.id)).subtracting([member])
        for card in missing {
            let name = ObjectName.wrap(ring.current, card.id)
            // The machine that has made the lost ones may have been restored from a backup, or be gone.
            guard newcomers.contains(card.id) || lost.contains(name) else { continue }
            makeWrap(for: card, root)
            observations.wraps[name] = nil
        }
        return []
    }

    /// Makes the wrap of the current keys for a member, unless nothing can be sealed to its keys.
    mutating func makeWrap(for card: MemberCard, _ root: SecretBytes) {
        let wrap = try? KeyWrap(
            root: root, epoch: ring.current, ring: ringKeys, to: card.keys, from: member, signer: keys)
        guard let wrap else { return }
        wraps[.wrap(ring.current, card.id)] = wrap.bytes
    }

    private mutating func noteOwnWrap(in listing: Listing, at now: UInt64) -> [Effect] {
        let name = ObjectName.wrap(ring.current, member)
        let isThere = ring.isActive(member) && listing.names.contains(name)
        _ = observations.missingWraps(isThere ? [name] : [], at: now)
        // It is not read once more.
        return isThere && isJunk(name, in: listing) ? removeUselessWrap([name], at: now) : []
    }

    /// What has lain for some time under the name of the wrap that this machine needs, and was just refused, keeps the others from writing
    /// it again. Only this machine can tell.
    mutating func removeUselessWrap(_ names: [ObjectName], at now: UInt64) -> [Effect] {
        let name = ObjectName.wrap(ring.current, member)
        guard names.contains(name), keyring.epochs[ring.current] == nil, let since = observations.wraps[name],
            now >= since, now - since >= Observations.grace
        else { return [] }
        // The next one has as much time.
        observations.wraps = [:]
        return [.remove([name])]
    }

    /// When the first of the wraps that are missing counts as lost; `nil` if none is.
    package var wrapsDueTime: UInt64? { observations.wraps.values.min().map { $0 &+ Observations.grace } }
}
