// SPDX-License-Identifier: Apache-2.0
// Questions about the past of a ring.

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

    /// Whether another member has removed one of these, or one that has come through them. A machine that replaces its own keys is added
    /// by its former member, which removes itself.
    func hasRemoved(anyOf members: Set<MemberID>) -> Bool {
        guard !members.isEmpty, ring.members.values.contains(where: \.isRemoved) else { return false }
        let counted = ring.counted.sorted { depth[$0] ?? 0 < depth[$1] ?? 0 }.compactMap { entries[$0] }
        var through = members
        for entry in counted where through.contains(entry.author) {
            if let card = entry.action.card { through.insert(card.id) }
        }
        return counted.contains { entry in
            guard case .remove(let removals) = entry.action else { return false }
            return removals.contains { through.contains($0.member) && $0.member != entry.author }
        }
    }
}
