// SPDX-License-Identifier: Apache-2.0
// What is known here and others still need, read again: a listing does not show damage that leaves name and length as they were.

package import Foundation

extension Replica {
    /// Names without which nobody joins, or opens the ring with a recovery key: entries of the ring log, and the wraps of the current keys.
    /// Only those that this machine can write again.
    package func essentials(in listing: Listing) -> [ObjectName] {
        let canWrap = ring.mayWrite(member) && keyring.roots[ring.current] != nil
        return listing.names.filter { name in
            switch name {
            case .entry(let hash): entries[hash] != nil
            case .wrap(let epoch, let recipient): canWrap && epoch == ring.current && ring.isActive(recipient)
            default: false
            }
        }.sorted()
    }

    /// The part of them that this machine reads on a day. All machines that may write read everything together each day, and one that is
    /// alone comes to everything in as many days as there are of them. Readers, which write no wraps and may be thousands, read nothing.
    package func essentials(in listing: Listing, onDay day: UInt64) -> [ObjectName] {
        let machines = ring.active.filter { $0.role == .device }.map(\.id).sorted()
        guard let place = machines.firstIndex(of: member) else { return [] }
        let turn = (UInt64(place) + day % UInt64(machines.count)) % UInt64(machines.count)
        return essentials(in: listing).enumerated()
            .filter { UInt64($0.offset) % UInt64(machines.count) == turn }.map(\.element)
    }

    /// Takes in what was read again, and writes again what is not whole.
    ///
    /// - Parameters:
    ///   - names: What was asked for. Where this machine has the very bytes, it writes them also if they are still arriving: that harms
    ///     nothing.
    ///   - damaged: What has been damaged for a while.
    ///   - isWrapping: Whether members may get keys.
    package mutating func reread(
        _ names: [ObjectName], as objects: [(name: ObjectName, bytes: Data)], damaged: [ObjectName], at now: UInt64,
        wrapping isWrapping: Bool
    ) -> [Effect] {
        let whole = Set(objects.filter { isWhole($0.name, $0.bytes) }.map(\.name))
        let broken = Set(objects.map(\.name)).union(damaged).subtracting(whole)
        if isWrapping { for name in broken.sorted() { makeWrapAgain(name) } }
        return self.damaged(
            names.filter { !whole.contains($0) && (hasBytes(of: $0) || broken.contains($0)) }, at: now)
    }

    private func hasBytes(of name: ObjectName) -> Bool {
        if case .entry(let hash) = name { entries[hash] != nil } else { wraps[name] != nil }
    }

    /// Whether others can use it: the same entry may be sealed in other bytes, and a wrap may be another member's.
    private func isWhole(_ name: ObjectName, _ bytes: Data) -> Bool {
        switch name {
        case .entry(let hash): entries[hash] == bytes || (try? RingEntry.open(bytes, with: ringKeys))?.hash == hash
        case .wrap: wraps[name] == bytes || isSignedWrap(name, bytes)
        default: true
        }
    }

    private func isSignedWrap(_ name: ObjectName, _ bytes: Data) -> Bool {
        guard let wrap = try? KeyWrap(bytes), .wrap(wrap.epoch, wrap.recipient) == name,
            let author = log.publicKeys(of: wrap.author)
        else { return false }
        return (try? wrap.check(by: author)) != nil
    }

    /// The machine that has made it may be gone.
    private mutating func makeWrapAgain(_ name: ObjectName) {
        guard wraps[name] == nil, ring.mayWrite(member), let root = keyring.roots[ring.current],
            let card = ring.active.first(where: { .wrap(ring.current, $0.id) == name })
        else { return }
        makeWrap(for: card, root)
    }
}
