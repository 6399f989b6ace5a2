// SPDX-License-Identifier: Apache-2.0
// Removals that do not count, although their authors could not know why.

extension Ring {
    /// Members about which a person has to decide.
    package struct Contest: Hashable, Sendable {
        package enum Subject: Hashable, Sendable {
            /// The removals by a member and by those that it has added, which do not count.
            case removals(by: MemberID)
            /// A member that was removed on this machine and is there again, or that has come through one that was removed.
            case returned(MemberID)
        }

        /// The author of the removals, or the member through which the author came; the member itself if it has returned.
        package let author: MemberCard
        package fileprivate(set) var targets: Set<MemberID>

        init(returned card: MemberCard) { (author, targets) = (card, [card.id]) }

        fileprivate init(author: MemberCard, targets: Set<MemberID>) { (self.author, self.targets) = (author, targets) }
    }
}

/// Somebody with a stolen machine that was added before the others can void its removal: with a removal of its author, or of the member
/// that added the author, or through members that it adds for this. The entries alone do not tell this from a machine that was stolen from
/// the other side. So these are the removals that it may be about, and a person decides.
///
/// A machine that has heard of the removal before also sees that a member returns: see ``RingLog/returned``. This is for those that hear of
/// both at once.
struct ContestedRemovals {
    private(set) var contests: [Ring.Contest.Subject: Ring.Contest] = [:]
    private var evaluation: RingEvaluation
    /// The counting entries of each member that add another one.
    private var additions: [MemberID: [Int]] = [:]
    private var added: Set<MemberID> = []
    private var active: Set<MemberID> = []
    /// What the search may take beside the evaluation. If it takes more, it no longer asks whether a removal could be made.
    private(set) var work: Work

    init(_ evaluation: RingEvaluation, _ work: Work) throws(Refusal) {
        (self.evaluation, self.work) = (evaluation, work)
        // What takes too long here must not keep an entry out.
        self.evaluation.allow(Work(.max))
        (added, active) = evaluation.members
        for index in evaluation.counted where evaluation.entries[index].action.card != nil {
            additions[evaluation.entries[index].author, default: []].append(index)
        }
        for index in evaluation.entries.indices where !evaluation.counts(index) {
            guard case .remove(let removals) = evaluation.entries[index].action else { continue }
            try look(at: index, removals.map(\.member))
        }
    }

    private mutating func look(at index: Int, _ removed: [MemberID]) throws(Refusal) {
        // Looking at what the author knew takes long.
        guard !targets(of: index, removed, left: []).isEmpty, let known = try known(to: index) else { return }
        let targets = targets(of: index, removed, left: known.active)
        guard !targets.isEmpty, let card = try origin(of: index, removed, known.counted) else { return }
        let subject = Ring.Contest.Subject.removals(by: card.id)
        contests[subject] = Ring.Contest(author: card, targets: (contests[subject]?.targets ?? []).union(targets))
    }

    /// The members that would not be there if a removal counted: whom it removes, and those that they have added, directly or through
    /// others.
    ///
    /// - Parameter left: The members that its author has left there.
    private mutating func targets(of index: Int, _ removed: [MemberID], left: Set<MemberID>) -> Set<MemberID> {
        var (reached, next) = (Set(removed), removed)
        while let member = next.popLast() {
            for addition in additions[member] ?? [] {
                work.use(1)
                guard let card = evaluation.entries[addition].action.card, !reached.contains(card.id) else { continue }
                let isKnown = removed.contains(member) && evaluation.past.contains(addition, before: index)
                if isKnown, left.contains(card.id) { continue }
                reached.insert(card.id)
                next.append(card.id)
            }
        }
        return reached.intersection(active).subtracting([evaluation.entries[index].author])
    }

    /// The entries that counted for the author of a removal, and the members; `nil` if the removal did not count for it. Nothing, if it takes
    /// too long.
    ///
    /// What former keys of a machine do without knowledge of the new ones does not count: they may be anybody's.
    private mutating func known(to index: Int) throws(Refusal) -> (counted: Set<EntryHash>, active: Set<MemberID>)? {
        let author = evaluation.entries[index].author
        let isOfFormerKeys = try evaluation.removals(of: author).contains { other in
            guard other != index, evaluation.counts(other), !evaluation.past.contains(index, before: other) else {
                return false
            }
            return evaluation.entries[other].author == author && !evaluation.past.contains(other, before: index)
        }
        guard !isOfFormerKeys, !(try evaluation.grounds(of: index)).isEmpty else { return nil }
        work.use(index)
        guard !work.isUsedUp else { return ([], []) }
        do throws(Refusal) {
            let then = try evaluation.known(to: index, work)
            work = then.work
            guard then.counts(then.entries.count - 1) else { return nil }
            return (Set(then.counted.map { then.hashes[$0] }), then.members.active)
        } catch {
            work.use(.max)
            return ([], [])
        }
    }

    /// The first member, from the author of a removal back through those that added it, that an entry that counts has added. A target of the
    /// removal is none of them: it would be the one to decide about.
    ///
    /// - Parameter counted: An addition that did not count for the author could be made by anybody who was ever a member.
    private mutating func origin(
        of index: Int, _ targets: [MemberID], _ counted: Set<EntryHash>
    ) throws(Refusal) -> MemberCard? {
        var (index, card) = (index, MemberCard?.none)
        while true {
            let grounds = try evaluation.grounds(of: index)
            let known = grounds.first { counted.contains(evaluation.hashes[$0]) }
            guard let addition = known ?? (card == nil ? grounds.first : nil) else { return card }
            card = evaluation.entries[addition].action.card
            let adder = evaluation.entries[addition].author
            if added.contains(evaluation.entries[index].author) || targets.contains(adder) { return card }
            index = addition
        }
    }
}
