// SPDX-License-Identifier: Apache-2.0
// What lies beside what is known here, or in its place: a copy of a machine, or damage.

import Foundation

extension Replica {
    /// Names that are listed, but not with what is known to belong there. A carrier that tells no contents is believed.
    func hidden(in listing: Listing) -> Set<ObjectName> {
        Set(listing.contents.filter { $0.value.isEmpty ? false : isHidden($0.key, $0.value) }.keys)
    }

    private func isHidden(_ name: ObjectName, _ contents: Set<ListedContent>) -> Bool {
        switch name {
        case .segment(let id, let number):
            if let mine = own[id]?[number] { return !contents.contains(mine.content) }
            guard let tip = logs[id]?.tip, tip.number == number else { return false }
            return !contents.contains { $0.fingerprint == tip.hash.fingerprint }
        case .entry(let hash): return entries[hash].map { !contents.contains(ListedContent($0)) } ?? false
        case .wrap: return wraps[name].map { !contents.contains(ListedContent($0)) } ?? false
        case .snapshot, .head, .invitation, .request: return false
        }
    }

    /// Notes what has to be looked at: under names of segments that are known, what may be a second one, and entries that are hidden.
    mutating func doubt(_ listing: Listing, _ hidden: Set<ObjectName>) {
        let names = listing.contents.filter { name, contents in
            switch name {
            case .segment(let id, let number):
                hidden.contains(name) || contents.count > 1 && number <= logs[id]?.tip.number ?? 0
            case .entry: hidden.contains(name)
            default: false
            }
        }.keys.sorted().prefix(Bounds.doubts)
        var new: [ObjectName: Doubt] = [:]
        for name in names {
            new[name] = doubts[name] ?? Doubt()
            new[name]?.list(listing.contents[name] ?? [])
        }
        doubts = new
        refusedHeads.formIntersection(listing.names)
        junk = junk.filter { listing.names.contains($0.key) }
    }

    /// Notes that something is not used.
    mutating func refuse(_ name: ObjectName, _ bytes: Data, _ refusal: Refusal, _ effects: inout [Effect]) {
        doubts[name]?.add(.refused(refusal), bytes)
        if refusal.isFinal, junk[name] != nil || junk.count < Bounds.doubts {
            junk[name, default: [:]][ObjectHash.hash(of: bytes).fingerprint] = refusal
        }
        effects.append(.found(.refused(name, refusal)))
    }

    func isJunk(_ name: ObjectName, in listing: Listing) -> Bool {
        guard let junk = junk[name], let contents = listing.contents[name], !contents.isEmpty else { return false }
        return contents.allSatisfy { junk[$0.fingerprint] != nil }
    }

    /// Whether the author of a segment has written another one of the same name: a copy of a machine has.
    func hasCopy(_ writer: WriterID, _ number: UInt64) -> Bool {
        guard let authentic = doubts[.segment(writer, number)]?.authentic else { return false }
        let known = logs[writer]?.tip.number == number ? logs[writer]?.tip.hash.fingerprint : nil
        return Set(authentic.keys).union([known].compactMap(\.self)).count > 1
    }

    /// What there is to say of it, each time that it is listed.
    func doubted(in listing: Listing) -> [Effect] {
        var effects: [Effect] = []
        for (name, refusals) in junk.sorted(by: { $0.key < $1.key })
        where doubts[name] == nil && isJunk(name, in: listing) {
            effects += Set(refusals.values).map { .found(.refused(name, $0)) }
        }
        for (name, doubt) in doubts.sorted(by: { $0.key < $1.key }) {
            effects += doubt.refusals.map { .found(.refused(name, $0)) }
            guard case .segment(let id, let number) = name, let author = doubt.authentic.values.first else { continue }
            var contents = Set(doubt.authentic.keys)
            var known = own[id]?[number].map { [ObjectHash.hash(of: $0.bytes)] } ?? []
            if let tip = logs[id]?.tip, tip.number == number { known.append(tip.hash) }
            contents.formUnion(known.filter { refusals[$0] == nil }.map(\.fingerprint))
            if contents.count > 1 { effects.append(.found(.equivocation(author, number: number))) }
        }
        return effects + snapshotsOfCopies()
    }

    /// Snapshots that stand for another segment than the one that is known here: their authors have followed a copy.
    private func snapshotsOfCopies() -> [Effect] {
        let tips = snapshots.sorted { $0.key < $1.key }.flatMap { $0.value.manifest.logs.sorted { $0.key < $1.key } }
        return tips.compactMap { id, tip in
            var hash = own[id]?[tip.number].map { ObjectHash.hash(of: $0.bytes) }
            if let known = logs[id]?.tip, known.number == tip.number { hash = known.hash }
            guard let hash, isCopy(hash, beside: tip.hash) else { return nil }
            return .found(.equivocation(tip.author, number: tip.number))
        }
    }

    /// Objects that lie there under their names and are damaged. What this machine has is written again.
    package mutating func damaged(_ names: [ObjectName], at now: UInt64) -> [Effect] {
        let useless = removeUselessWrap(names, at: now)
        return useless
            + names.map { name in
                let bytes: Data? =
                    switch name {
                    case .segment(let id, let number): own[id]?[number]?.bytes
                    case .entry(let hash): entries[hash]
                    default: wraps[name]
                    }
                return bytes.map { .writeBeside(name, $0) } ?? .found(.refused(name, .malformed))
            }
    }
}
