// SPDX-License-Identifier: Apache-2.0
// Removals that do not count, although their authors could not know why.

/// Somebody with a stolen machine that was added before the others can void its removal: with a removal of whoever made it, or of
/// whoever added that one, or through a member that it adds for this. The entries alone do not tell this from a machine that was stolen
/// from the other side. So the evaluation also says which removals this may be about, and a person decides.
extension RingEvaluation {
    /// A member, and whom it has removed.
    typealias ContestedRemoval = (author: MemberID, targets: [MemberID])

    /// The removals that do not count only because of entries that they do not know, in order. If the author itself was never added by an
    /// entry that counts, the member is the one through which it came. So one removed member makes one contest, however many members it
    /// adds.
    mutating func contestedRemovals() throws(Refusal) -> [ContestedRemoval] {
        var contested: [ContestedRemoval] = []
        for index in entries.indices where !counts(index) {
            guard case .remove(let removals) = entries[index].action, try wasAllowed(index) else { continue }
            contested.append((try origin(of: index), removals.map(\.member)))
        }
        return contested
    }

    /// Whether the author was added, as far as it knew, with a role that permits the entry, and not removed.
    ///
    /// What former keys of a machine do without knowledge of the new ones is not allowed: they may be anybody's.
    private mutating func wasAllowed(_ index: Int) throws(Refusal) -> Bool {
        let author = entries[index].author
        let isAllowed = try grounds(of: index).contains {
            entries[$0].action.card.map { entries[index].action.isAllowed(to: $0.role, author) } ?? false
        }
        guard isAllowed else { return false }
        return try removals(of: author).allSatisfy {
            !counts($0)
                || !past.contains($0, before: index)
                    && (entries[$0].author != author || past.contains(index, before: $0))
        }
    }

    /// The first member, from the author of an entry back through those that added it, that an entry that counts has added.
    private mutating func origin(of index: Int) throws(Refusal) -> MemberID {
        var index = index
        while try !isAdded(entries[index].author), let addition = try grounds(of: index).first { index = addition }
        return entries[index].author
    }
}
