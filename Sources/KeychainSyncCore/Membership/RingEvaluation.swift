// SPDX-License-Identifier: Apache-2.0
// Which entries of a ring log count.

/// Decides for each entry whether it counts.
///
/// An entry counts if two conditions hold. First, an entry that counts, in its past, added the author with a role that
/// permits the action. Second, no removal that counts and that does not know the entry removes the author. So a removal
/// voids what the removed member did without knowledge of the others, including adding and removing members.
///
/// A member that removes itself and nobody else is out in any case: none of its own removals voids that. So its keys cannot
/// undo it.
///
/// Such rules can contradict each other when members remove each other at the same time. Contradictions that no other
/// entry can decide are resolved first: in each of them, the entry of the member who was added first counts.
struct RingEvaluation {
    private enum Verdict { case open, counts, void }

    /// Parents first.
    let entries: [RingEntry]
    let hashes: [EntryHash]
    let past: CausalPast
    /// The indices of the entries that count, in order.
    private(set) var counted: [Int] = []

    private var verdicts: [Verdict]
    /// The entries that add a member, and those that remove one.
    private var additions: [MemberID: [Int]] = [:]
    private var removals: [MemberID: [Int]] = [:]
    private(set) var work: Work

    init(_ log: RingLog) throws(Refusal) {
        let (hashes, entries) = Self.ordered(log)
        try self.init(hashes, entries, Work(log.limits.work))
    }

    /// - Parameter entries: Parents first. Those that are not among them count as unknown.
    init(_ hashes: [EntryHash], _ entries: [RingEntry], _ work: Work) throws(Refusal) {
        (self.hashes, self.entries, self.work) = (hashes, entries, work)
        let positions = Dictionary(uniqueKeysWithValues: hashes.enumerated().map { ($0.element, $0.offset) })
        let parents = entries.map { $0.parents.compactMap { positions[$0] } }
        past = try CausalPast(parents: parents, work: &self.work)
        verdicts = [Verdict](repeating: .open, count: entries.count)
        verdicts[0] = .counts
        readTargets()
        voidWrongEpochs(parents)
        try decide()
        counted = verdicts.indices.filter { verdicts[$0] == .counts }
    }

    /// Sets what further questions may take.
    mutating func allow(_ work: Work) { self.work = work }

    func counts(_ index: Int) -> Bool { verdicts[index] == .counts }

    /// The entries that remove a member.
    mutating func removals(of member: MemberID) throws(Refusal) -> [Int] {
        let all = removals[member] ?? []
        try work.spend(1 + all.count)
        return all
    }

    /// The members that entries that count have added, and those that none has removed.
    var members: (added: Set<MemberID>, active: Set<MemberID>) {
        var (added, removed): (Set<MemberID>, Set<MemberID>) = ([], [])
        for index in counted {
            if let card = entries[index].action.card { added.insert(card.id) }
            if case .remove(let removals) = entries[index].action { removed.formUnion(removals.map(\.member)) }
        }
        return (added, added.subtracting(removed))
    }

    /// The same as if only an entry and what it knows were there.
    func known(to index: Int, _ work: Work) throws(Refusal) -> RingEvaluation {
        let known = entries.indices.filter { past.contains($0, before: index) } + [index]
        return try RingEvaluation(known.map { hashes[$0] }, known.map { entries[$0] }, work)
    }

    /// Parents first, in the same order on all machines. Entries after an unknown action are omitted.
    private static func ordered(_ log: RingLog) -> ([EntryHash], [RingEntry]) {
        let all = log.entries.map { (depth: log.depth[$0.key] ?? 0, hash: $0.key, entry: $0.value) }
            .sorted { ($0.depth, $0.hash) < ($1.depth, $1.hash) }
        var (hashes, entries): ([EntryHash], [RingEntry]) = ([], [])
        var blocked: Set<EntryHash> = []
        for (_, hash, entry) in all {
            if entry.parents.contains(where: blocked.contains) {
                blocked.insert(hash)
                continue
            }
            if case .unknown = entry.action { blocked.insert(hash) }
            hashes.append(hash)
            entries.append(entry)
        }
        return (hashes, entries)
    }

    private mutating func readTargets() {
        for (index, entry) in entries.enumerated() {
            if let card = entry.action.card { additions[card.id, default: []].append(index) }
            guard case .remove(let targets) = entry.action else { continue }
            for target in targets { removals[target.member, default: []].append(index) }
        }
    }

    /// See ``EpochStart/follows(_:)``.
    private mutating func voidWrongEpochs(_ parents: [[Int]]) {
        var highest = [UInt32](repeating: 0, count: entries.count)
        for (index, entry) in entries.enumerated() {
            highest[index] = parents[index].map { highest[$0] }.max() ?? 0
            guard let start = entry.action.epoch else { continue }
            if start.follows(highest[index]) {
                highest[index] = start.number
            } else if index > 0 {
                verdicts[index] = .void
            }
        }
    }

    private mutating func decide() throws(Refusal) {
        var open = verdicts.indices.filter { verdicts[$0] == .open }
        while !open.isEmpty {
            let before = open.count
            for index in open { verdicts[index] = try verdict(index) }
            open.removeAll { verdicts[$0] != .open }
            if open.count == before { verdicts[try first(of: open)] = .counts }
            open.removeAll { verdicts[$0] != .open }
        }
    }

    private mutating func verdict(_ index: Int) throws(Refusal) -> Verdict {
        let objections = try objections(to: index)
        if objections.contains(where: { verdicts[$0] == .counts }) { return .void }
        guard let role = try role(for: index) else { return .void }
        switch role {
        case .undecided: return .open
        case .known(let role):
            guard entries[index].action.isAllowed(to: role, entries[index].author) else { return .void }
            return objections.allSatisfy { verdicts[$0] == .void } ? .counts : .open
        }
    }

    /// The removals of the author that do not know the entry, and can void it.
    private mutating func objections(to index: Int) throws(Refusal) -> [Int] {
        let author = entries[index].author
        let all = try removals(of: author)
        let leaves = entries[index].action.removesOnly(author)
        return all.filter {
            $0 != index && !past.contains(index, before: $0) && !(leaves && entries[$0].author == author)
        }
    }

    private enum KnownRole {
        case undecided
        case known(Role)
    }

    /// The role with which the author was added before the entry; `nil` if it was not added.
    private mutating func role(for index: Int) throws(Refusal) -> KnownRole? {
        for addition in try grounds(of: index) {
            switch verdicts[addition] {
            case .void: continue
            case .open: return .undecided
            case .counts: return entries[addition].action.card.map { .known($0.role) }
            }
        }
        return nil
    }

    /// The entries in the past of the entry that add the author.
    mutating func grounds(of index: Int) throws(Refusal) -> [Int] {
        let all = additions[entries[index].author] ?? []
        try work.spend(1 + all.count)
        return all.filter { past.contains($0, before: index) }
    }

    /// The entry with which a contradiction is resolved: among those that depend on the fewest others, so that no other
    /// entry could decide it, the one whose author was added first.
    private mutating func first(of open: [Int]) throws(Refusal) -> Int {
        var best: (size: Int, seniority: Int, index: Int)?
        for index in open {
            guard case .known = try role(for: index) else { continue }
            let seniority = try seniority(of: entries[index].author)
            let candidate = (size: try dependencies(of: index), seniority: seniority, index: index)
            if best.map({ candidate < $0 }) ?? true { best = candidate }
        }
        // The earliest open entry has an author whose addition is decided.
        return best?.index ?? open[0]
    }

    /// The first addition of a member that counts. One that does not could be made by anybody who was ever a member.
    private mutating func seniority(of member: MemberID) throws(Refusal) -> Int {
        let all = additions[member] ?? []
        try work.spend(all.count)
        return all.first { verdicts[$0] == .counts } ?? entries.count
    }

    /// How many open entries the verdict on one depends on, directly or indirectly.
    private mutating func dependencies(of index: Int) throws(Refusal) -> Int {
        var (seen, next): (Set<Int>, [Int]) = ([index], [index])
        while let current = next.popLast() {
            for other in try objections(to: current) + grounds(of: current) where verdicts[other] == .open {
                if seen.insert(other).inserted { next.append(other) }
            }
        }
        return seen.count
    }
}
