// SPDX-License-Identifier: Apache-2.0
// What is read first if there is no room for everything. What waits for ever keeps nothing else back.

import Foundation

extension ObjectName {
    var isSegment: Bool { if case .segment = self { true } else { false } }
}

// MARK: - Segments

extension Replica {
    /// As many segments as there is room for. The next listing goes on behind them, and begins again after the last one.
    ///
    /// - Parameter segments: In ascending order.
    func inTurn(_ segments: [ObjectName], of listing: Listing) -> [ObjectName] {
        let first = readThrough.flatMap { last in segments.firstIndex { $0 > last } } ?? 0
        var size = 0
        return (segments[first...] + segments[..<first]).prefix { name in
            defer { size += listing.size(of: name) }
            return size < Bounds.waiting
        }
    }

    /// Whether the last listing had more segments than there is room for at once.
    package var readsInTurn: Bool { readThrough != nil }

    /// Notes up to where segments are read, if there is not room for all of them.
    mutating func noteWanted(_ names: [ObjectName], in listing: Listing) {
        if names.isEmpty { waiting.lacksRoom = false }
        let size = names.reduce(0) { $0 + ($1.isSegment ? listing.size(of: $1) : 0) }
        guard size >= Bounds.waiting else {
            readThrough = nil
            return
        }
        // Not all processes live long enough to read everything, and they should not all read the same part.
        readThrough = readThrough == nil ? .segment(random.writer(), 0) : names.last
    }
}

extension Listing {
    /// Of all contents of one name; 0 if the carrier does not tell. It may lie: what it says decides only about the order.
    fileprivate func size(of name: ObjectName) -> Int {
        (contents[name] ?? []).reduce(0) { $0 + min($1.size, Bounds.object) }
    }
}

// MARK: - Snapshots

/// How far a snapshot was at the last listing.
struct Collecting: Sendable {
    var parts = 0
    /// Whether parts of it were read after that.
    var isInTurn = false
    /// How often its turn brought nothing.
    var pauses = 0
}

extension Replica {
    /// The snapshots whose parts are collected: as many as there is room for, and one of those that are larger.
    var collected: Set<SnapshotID> {
        var (ids, room, hasLarge) = (Set<SnapshotID>(), Bounds.snapshotParts, false)
        for snapshot in snapshots.values.filter({ !$0.isJoined }).sorted(by: isBefore) {
            let count = snapshot.manifest.parts.count
            guard count <= room || !hasLarge else { continue }
            if count <= room { room -= count } else { hasLarge = true }
            ids.insert(snapshot.header.id)
        }
        return ids
    }

    /// Those that go no further come last. What was begun is ended before something else begins.
    private func isBefore(_ one: KnownSnapshot, _ other: KnownSnapshot) -> Bool {
        func place(_ snapshot: KnownSnapshot) -> (Int, Int, Int, SnapshotID) {
            let (id, pauses) = (snapshot.header.id, collecting[snapshot.header.id]?.pauses ?? 0)
            return (pauses, snapshot.parts.isEmpty ? 1 : 0, snapshot.manifest.parts.count, id)
        }
        return place(one) < place(other)
    }

    /// Notes how far snapshots are, and drops the parts of those whose turn is over.
    mutating func noteCollected(_ listing: Listing) {
        collecting = collecting.filter { snapshots[$0.key]?.isJoined == false }
        for (id, snapshot) in snapshots where !snapshot.isJoined {
            var state = collecting[id] ?? Collecting()
            // One that is still being copied, or never will be whole, comes after those that are whole.
            if !snapshot.names.allSatisfy(listing.names.contains) { state.pauses = max(state.pauses, 1) }
            if state.isInTurn, snapshot.parts.count <= state.parts { state.pauses += 1 }
            state.parts = snapshot.parts.count
            collecting[id] = state
        }
        let collected = collected
        for id in collecting.keys {
            collecting[id]?.isInTurn = collected.contains(id)
            if !collected.contains(id), snapshots[id]?.parts.isEmpty == false { snapshots[id]?.parts = [:] }
        }
    }
}
