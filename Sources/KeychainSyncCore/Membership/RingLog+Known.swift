// SPDX-License-Identifier: Apache-2.0
// A ring as it was known to the author of an entry.

extension RingLog {
    /// The log that the author of an entry knew, with that entry.
    func known(to hash: EntryHash) throws(Refusal) -> RingLog {
        guard let founding = entries[id] else { throw .malformed }
        var (known, next): ([EntryHash: RingEntry], [EntryHash]) = ([:], [hash])
        while let hash = next.popLast() {
            guard known[hash] == nil, let entry = entries[hash] else { continue }
            known[hash] = entry
            next += entry.parents
        }
        return try RingLog(founding: founding, taken: Array(known.values))
    }

    /// What was contested already when a member was added, as those knew it that have added it.
    package func contests(whenAdding member: MemberID) -> Set<Ring.Contest.Subject> {
        let additions = ring.counted.filter { entries[$0]?.action.card?.id == member }
        let contests = additions.map { (hash) -> Set<Ring.Contest.Subject> in
            do throws(Refusal) { return Set(try self.known(to: hash).ring.contests.keys) } catch { return [] }
        }
        return contests.dropFirst().reduce(contests.first ?? []) { $0.intersection($1) }
    }
}
