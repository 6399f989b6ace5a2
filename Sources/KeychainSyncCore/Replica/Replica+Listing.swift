// SPDX-License-Identifier: Apache-2.0
// Compares a carrier's listing: what to fetch, what to write again, what to report.

import Foundation

extension Replica {
    /// Compares the objects of a carrier with what is known here.
    package mutating func listed(_ listing: Listing, at now: UInt64) -> [Effect] {
        let covered = covered(by: listing)
        let findings = observations.compare(
            listing, logs: knownNumbers, covered: covered, entries: Set(entries.keys))
        var effects = findings.map { Effect.found($0) }
        for (id, snapshot) in snapshots.sorted(by: { $0.key < $1.key })
        where !snapshot.names.allSatisfy(listing.names.contains) {
            forget(id, snapshot, listing, &effects)
        }
        wrapForNewcomers(listing)
        effects += putBack(listing, covered)
        effects += removeCovered(listing, covered)
        let wanted = wanted(from: listing, covered)
        return wanted.isEmpty ? effects : effects + [.read(wanted)]
    }

    /// Findings for everything that is overdue.
    package func overdue(at now: UInt64) -> [Effect] {
        let others = ring.active.map(\.id).filter { $0 != member }
        return observations.overdue(at: now, here: items.vector, members: others).map { .found($0) }
    }

    /// The last segment of each log that a complete snapshot of the listing covers.
    ///
    /// - Parameter epoch: Only of snapshots under its keys.
    private func covered(by listing: Listing, under epoch: EpochID? = nil) -> [WriterID: UInt64] {
        snapshots.values.filter { $0.isJoined && $0.names.allSatisfy(listing.names.contains) }
            .filter { epoch == nil || $0.header.epoch == epoch }
            .flatMap { $0.manifest.logs.map { ($0.key, $0.value.number) } }
            .reduce(into: [:]) { $0[$1.0] = max($0[$1.0] ?? 0, $1.1) }
    }

    private var knownNumbers: [WriterID: UInt64] {
        logs.mapValues(\.tip.number).filter { id, number in
            id != writer || own[id]?[number]?.isPublished ?? true
        }
    }

    private mutating func forget(
        _ id: SnapshotID, _ snapshot: KnownSnapshot, _ listing: Listing, _ effects: inout [Effect]
    ) {
        guard snapshot.isJoined else {
            if !listing.names.contains(.snapshot(id, part: 0)) { snapshots[id] = nil }
            return
        }
        let isReplaced = snapshots.values.contains {
            $0.header.id != id && $0.isJoined && $0.manifest.vector.covers(snapshot.manifest.vector)
        }
        if !isReplaced { effects.append(.found(.snapshotMissing(id))) }
        snapshots[id] = nil
    }

    private mutating func wrapForNewcomers(_ listing: Listing) {
        guard let root = keyring.roots[ring.current], ring.mayWrite(member) else { return }
        let cards = ring.withoutKeys.filter { $0.id != member }
        for card in cards where !listing.names.contains(.wrap(ring.current, card.id)) {
            let wrap = try? KeyWrap(
                root: root, epoch: ring.current, ring: ringKeys, to: card.keys, from: member, signer: keys)
            // It is published together with everything else that the carrier lacks.
            if let wrap { wraps[.wrap(ring.current, card.id)] = wrap.bytes }
        }
    }

    /// Uploads again what this machine wrote and the carrier lacks, including gaps.
    private mutating func putBack(_ listing: Listing, _ covered: [WriterID: UInt64]) -> [Effect] {
        var effects: [Effect] = []
        func put(_ name: ObjectName, _ bytes: Data) {
            if !listing.names.contains(name) { effects.append(.write(name, bytes)) }
        }
        for (name, bytes) in wraps.sorted(by: { $0.key < $1.key }) { put(name, bytes) }
        for (hash, bytes) in entries.sorted(by: { $0.key < $1.key }) { put(.entry(hash), bytes) }
        for (id, segments) in own.sorted(by: { $0.key < $1.key }) {
            for (number, segment) in segments.sorted(by: { $0.key < $1.key }) where number > covered[id] ?? 0 {
                put(.segment(id, number), segment.bytes)
            }
        }
        needsSnapshot = !isComplete(listing, covered) || !isReadable(listing)
        return effects
    }

    /// Whether the carrier has everything that is known here, or will have it after the uploads.
    private func isComplete(_ listing: Listing, _ covered: [WriterID: UInt64]) -> Bool {
        var there = (own as [WriterID: [UInt64: OwnSegment]]).mapValues { Set($0.keys) }
        for case .segment(let id, let number) in listing.names { there[id, default: []].insert(number) }
        return logs.allSatisfy { id, state in
            let (first, last) = (covered[id] ?? 0, state.tip.number)
            guard first < last else { return true }
            return UInt64((there[id] ?? []).filter { $0 > first && $0 <= last }.count) == last - first
        }
    }

    /// Whether a member with only the keys of the current epoch could read everything.
    private func isReadable(_ listing: Listing) -> Bool {
        let covered = covered(by: listing, under: ring.current)
        return logs.allSatisfy { id, state in
            state.sealed.allSatisfy { $0.key == ring.current || $0.value <= covered[id] ?? 0 }
        }
    }

    /// Own segments and snapshots that a complete snapshot covers, and own heads except the last two.
    private mutating func removeCovered(_ listing: Listing, _ covered: [WriterID: UInt64]) -> [Effect] {
        var names: [ObjectName] = []
        for id in own.keys.sorted() {
            for number in (own[id] ?? [:]).keys.sorted() where number <= covered[id] ?? 0 {
                own[id]?[number] = nil
                names.append(.segment(id, number))
            }
        }
        for (id, snapshot) in snapshots.sorted(by: { $0.key < $1.key }) where snapshot.manifest.author == member {
            let isReplaced = snapshots.values.contains {
                $0.isJoined && $0.header.id != id && $0.names.allSatisfy(listing.names.contains)
                    && $0.manifest.vector.covers(snapshot.manifest.vector)
                    && ($0.manifest.vector != snapshot.manifest.vector || $0.header.id < id)
            }
            if isReplaced { names += snapshot.names }
        }
        for case .head(member, let number) in listing.names where number + 1 < lastHead.number {
            names.append(.head(member, number))
        }
        names = names.filter(listing.names.contains)
        return names.isEmpty ? [] : [.remove(names)]
    }

    private func wanted(from listing: Listing, _ covered: [WriterID: UInt64]) -> [ObjectName] {
        listing.names.filter { name in
            switch name {
            case .entry(let hash): entries[hash] == nil
            case .wrap(let epoch, let recipient): recipient == member && keyring.epochs[epoch] == nil
            case .segment(let id, let number): isWanted(id, number)
            case .snapshot(let id, let part): isWanted(id, part)
            case .head(let member, let number):
                member != self.member && number > observations.heads[member]?.number ?? 0
            case .invitation, .request: false
            }
        }.sorted()
    }

    private func isWanted(_ writer: WriterID, _ number: UInt64) -> Bool {
        if writer == self.writer, let mine = own[writer]?[number], !mine.isPublished { return true }
        return number > logs[writer]?.tip.number ?? 0 && waiting[writer, number] == nil
    }

    private func isWanted(_ id: SnapshotID, _ part: UInt16) -> Bool {
        guard let known = snapshots[id] else { return part == 0 }
        return !known.isJoined && part > 0 && Int(part) <= known.manifest.parts.count && known.parts[Int(part)] == nil
    }
}
