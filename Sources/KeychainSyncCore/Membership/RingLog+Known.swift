// SPDX-License-Identifier: Apache-2.0
// A ring as it was known when some entries were its last.

extension RingLog {
    /// What was contested when these entries were the last, as the machine knew it that has made an invitation.
    package func contests(knownTo tips: [EntryHash]) throws(Refusal) -> Set<Ring.Contest.Subject> {
        guard let founding = entries[id] else { throw .malformed }
        var (known, next): ([EntryHash: RingEntry], [EntryHash]) = ([:], tips)
        while let hash = next.popLast() {
            guard known[hash] == nil, let entry = entries[hash] else { continue }
            known[hash] = entry
            next += entry.parents
        }
        return try Set(RingLog(founding: founding, taken: Array(known.values)).ring.contests.keys)
    }
}
