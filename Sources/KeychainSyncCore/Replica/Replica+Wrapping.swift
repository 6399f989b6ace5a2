// SPDX-License-Identifier: Apache-2.0
// The current keys, wrapped for members whose wrap the carrier lacks.

extension Replica {
    /// Makes what members need to get the current keys, if nobody else does. It is published together with everything else that the carrier
    /// lacks.
    mutating func wrapMissing(in listing: Listing, at now: UInt64) {
        guard let root = keyring.roots[ring.current], ring.mayWrite(member) else { return }
        let missing = ring.active.filter { card in
            let name = ObjectName.wrap(ring.current, card.id)
            return wraps[name] == nil && !listing.names.contains(name)
        }
        let lost = observations.missingWraps(Set(missing.map { .wrap(ring.current, $0.id) }), at: now)
        let newcomers = Set(ring.withoutKeys.map(\.id)).subtracting([member])
        for card in missing {
            let name = ObjectName.wrap(ring.current, card.id)
            // The machine that has made the lost ones may have been restored from a backup, or be gone.
            guard newcomers.contains(card.id) || lost.contains(name) else { continue }
            // After a failure it is tried again with the next listing, which lacks it too.
            let wrap = try? KeyWrap(
                root: root, epoch: ring.current, ring: ringKeys, to: card.keys, from: member, signer: keys)
            guard let wrap else { continue }
            wraps[name] = wrap.bytes
            observations.wraps[name] = nil
        }
    }

    /// What has lain for some time under the name of the wrap that this machine needs, and gives it no key, keeps the others from writing it
    /// again. Only this machine can tell.
    mutating func removeUselessWrap(in listing: Listing, at now: UInt64) -> [Effect] {
        guard ring.isActive(member), keyring.epochs[ring.current] == nil else { return [] }
        let name = ObjectName.wrap(ring.current, member)
        let useless = observations.missingWraps(listing.names.contains(name) ? [name] : [], at: now)
        guard !useless.isEmpty else { return [] }
        // The next one has as much time.
        observations.wraps = [:]
        return [.remove([name])]
    }

    /// When the first of the wraps that are missing counts as lost; `nil` if none is.
    package var wrapsAreDue: UInt64? { observations.wraps.values.min().map { $0 &+ Observations.grace } }
}
