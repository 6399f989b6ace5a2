// SPDX-License-Identifier: Apache-2.0
// Removals that do not count, although their authors could not know why.

extension Ring {
    /// Members that would not be there if a removal counted.
    package struct Contest: Hashable, Sendable {
        /// Which removals it is about.
        package enum Subject: Hashable, Sendable {
            /// Those of a member and of those that it has added. So a removed member makes one contest, whatever it adds or removes.
            case member(MemberID)
            /// One that counted on this machine once.
            case entry(EntryHash)
        }

        /// The author of the removals, or the member through which the author came.
        package let author: MemberCard
        package fileprivate(set) var targets: Set<MemberID>
    }
}

/// Somebody with a stolen machine that was added before the others can void its removal: with a removal of its author, or of the member
/// that added the author, or through members that it adds for this. The entries alone do not tell this from a machine that was stolen from
/// the other side. So these are the removals that it may be about, and a person decides.
struct ContestedRemovals {
    private(set) var contests: [Ring.Contest.Subject: Ring.Contest] = [:]
    private var evaluation: RingEvaluation
    /// The counting entries of each member that add another one.
    private var additions: [MemberID: [Int]] = [:]
    /// What the search may take beside the evaluation. If it takes more, it no longer asks whether a removal could be made.
    private var work: Work

    /// - Parameter undone: Removals that counted on this machine once. Those are contested whoever made them.
    init(_ evaluation: RingEvaluation, undone: Set<EntryHash>, _ work: Work) throws(Refusal) {
        (self.evaluation, self.work) = (evaluation, work)
        self.evaluation.allow(work)
        for index in evaluation.counted where evaluation.entries[index].action.card != nil {
            additions[evaluation.entries[index].author, default: []].append(index)
        }
        for index in evaluation.entries.indices where !evaluation.counts(index) {
            guard case .remove(let removals) = evaluation.entries[index].action else { continue }
            let isUndone = undone.contains(evaluation.hashes[index])
            try look(at: index, removals.map(\.member), isUndone)
        }
    }

    private mutating func look(at index: Int, _ removed: [MemberID], _ isUndone: Bool) throws(Refusal) {
        let author = evaluation.entries[index].author
        var targets: Set<MemberID> = []
        for member in reach(of: index, removed) where member != author {
            if try evaluation.isActive(member) { targets.insert(member) }
        }
        guard !targets.isEmpty, let card = try origin(of: index, removed) else { return }
        let subject: Ring.Contest.Subject = isUndone ? .entry(evaluation.hashes[index]) : .member(card.id)
        let known = contests[subject]?.targets ?? []
        guard !targets.isSubset(of: known) else { return }
        if !isUndone { guard try couldBeMade(index) else { return } }
        contests[subject] = Ring.Contest(author: card, targets: known.union(targets))
    }

    /// Whom a removal would put out: its targets, and those that they have added without its knowledge, directly or through others.
    private mutating func reach(of index: Int, _ targets: [MemberID]) -> Set<MemberID> {
        var (reached, next) = (Set(targets), targets)
        while let member = next.popLast() {
            for addition in additions[member] ?? [] {
                work.use(1)
                let isKnown = targets.contains(member) && evaluation.past.contains(addition, before: index)
                guard !isKnown, let card = evaluation.entries[addition].action.card else { continue }
                if reached.insert(card.id).inserted { next.append(card.id) }
            }
        }
        return reached
    }

    /// Whether the removal counts among the entries that its author knew.
    ///
    /// What former keys of a machine do without knowledge of the new ones does not: they may be anybody's.
    private mutating func couldBeMade(_ index: Int) throws(Refusal) -> Bool {
        let author = evaluation.entries[index].author
        let isOfFormerKeys = try evaluation.removals(of: author).contains { other in
            other != index && evaluation.counts(other) && evaluation.entries[other].author == author
                && !evaluation.past.contains(other, before: index) && !evaluation.past.contains(index, before: other)
        }
        guard !isOfFormerKeys, !(try evaluation.grounds(of: index)).isEmpty else { return false }
        work.use(index)
        guard !work.isUsedUp else { return true }
        do throws(Refusal) {
            let then = try evaluation.known(to: index, work)
            work = then.work
            return then.counted.last == then.entries.count - 1
        } catch {
            work.use(.max)
            return true
        }
    }

    /// The first member, from the author of a removal back through those that added it, that an entry that counts has added. A target of the
    /// removal is none of them: it would be the one to decide about.
    private mutating func origin(of index: Int, _ targets: [MemberID]) throws(Refusal) -> MemberCard? {
        var (index, card) = (index, MemberCard?.none)
        while let addition = try evaluation.grounds(of: index).first {
            card = evaluation.entries[addition].action.card
            let isAdded = try evaluation.isAdded(evaluation.entries[index].author)
            guard !isAdded, !targets.contains(evaluation.entries[addition].author) else { break }
            index = addition
        }
        return card
    }
}
