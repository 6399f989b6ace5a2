// SPDX-License-Identifier: Apache-2.0
// The meaning of the entries of a ring log: members, epochs, cuts and policy.

/// A ring as a machine knows it.
package struct Ring: Sendable {
    package struct Member: Sendable {
        package let card: MemberCard
        package let isRemoved: Bool
    }

    package private(set) var members: [MemberID: Member] = [:]
    /// The epochs whose keys may have sealed something. They include epochs whose entry does not count, because members
    /// may have written before they knew.
    package private(set) var epochs: [EpochID: EpochStart] = [:]
    package private(set) var countedEpochs: Set<EpochID> = []
    /// The epoch for new writes: the one with the highest number, then the smallest entry.
    package private(set) var current = EpochID(number: 0, entry: Bytes16(EmptyCollection()))
    /// Which segments of removed members are accepted.
    package private(set) var cuts: [MemberID: [WriterID: Removal.Cut]] = [:]
    package private(set) var policy = Policy.allGroups
    /// The entries that count.
    package private(set) var counted: Set<EntryHash> = []
    /// Members of which the log cannot tell whether they were stolen.
    package private(set) var contests: [Contest.Subject: Contest] = [:]
    /// Entries that follow one of a newer version that does not count, and that one. No other entry can follow them and count.
    private(set) var unusable: Set<EntryHash> = []
    /// How long the evaluation took.
    private(set) var steps = 0
    /// A newer version performed an action that this version does not know. Only reading is safe.
    package private(set) var isReadOnly = false
    /// A removed member may know the keys of the current epoch.
    package private(set) var isCurrentKnownToRemoved = false
    /// A removed member may know the keys of the current epoch, or two epochs began concurrently.
    package private(set) var needsRotation = false
    /// Members that were added while another member began the current epoch, so that its keys were not wrapped for
    /// them.
    package private(set) var withoutKeys: [MemberCard] = []

    init(founder: MemberCard) { members[founder.id] = Member(card: founder, isRemoved: false) }

    init(evaluating log: RingLog) throws(Refusal) {
        let evaluation = try RingEvaluation(log)
        counted = Set(evaluation.counted.map { evaluation.hashes[$0] })
        let unknown = evaluation.entries.indices.filter {
            if case .unknown = evaluation.entries[$0].action { true } else { false }
        }
        isReadOnly = unknown.contains(where: evaluation.counts)
        if !unknown.isEmpty {
            unusable = Set(log.entries.keys).subtracting(evaluation.hashes).union(unknown.map { evaluation.hashes[$0] })
        }
        readMembers(evaluation)
        try readContests(evaluation, log)
        readEpochs(evaluation)
        readPolicy(evaluation)
    }

    package func isActive(_ member: MemberID) -> Bool { members[member]?.isRemoved == false }

    /// Whether a member may write items.
    package func mayWrite(_ member: MemberID) -> Bool { isActive(member) && members[member]?.card.role == .device }

    package var active: [MemberCard] {
        members.values.filter { !$0.isRemoved }.map(\.card).sorted { $0.id < $1.id }
    }

    private mutating func readMembers(_ evaluation: RingEvaluation) {
        var removed: Set<MemberID> = []
        for index in evaluation.counted {
            guard case .remove(let removals) = evaluation.entries[index].action else { continue }
            for removal in removals {
                removed.insert(removal.member)
                // If there are several removals, the one that accepts most counts: what one member accepted reaches all
                // others.
                cuts[removal.member, default: [:]].merge(removal.cuts) { $0.number >= $1.number ? $0 : $1 }
            }
        }
        for index in evaluation.counted {
            guard let card = evaluation.entries[index].action.card, members[card.id] == nil else { continue }
            members[card.id] = Member(card: card, isRemoved: removed.contains(card.id))
        }
    }

    private mutating func readContests(_ evaluation: RingEvaluation, _ log: RingLog) throws(Refusal) {
        // Most logs have no such removals.
        let most = Work(log.limits.work / 10)
        let search = try ContestedRemovals(evaluation, most)
        contests = search.contests
        for member in log.returned where isActive(member) {
            if let card = members[member]?.card { contests[.returned(member)] = Contest(returned: card) }
        }
        steps = log.limits.work - evaluation.work.left + most.left - search.work.left
    }

    private mutating func readEpochs(_ evaluation: RingEvaluation) {
        var (last, begun) = (0, 0)
        let counts = Set(evaluation.counted)
        for index in evaluation.entries.indices {
            guard let start = evaluation.entries[index].action.epoch else { continue }
            let id = EpochID(number: start.number, entry: evaluation.hashes[index].short())
            epochs[id] = start
            guard counts.contains(index) else { continue }
            countedEpochs.insert(id)
            begun = start.number == current.number ? begun + 1 : start.number > current.number ? 1 : begun
            if (start.number, current.entry) > (current.number, id.entry) { (current, last) = (id, index) }
        }
        isCurrentKnownToRemoved = evaluation.counted.contains {
            guard case .remove = evaluation.entries[$0].action else { return false }
            return !evaluation.past.contains($0, before: last)
        }
        needsRotation = begun > 1 || isCurrentKnownToRemoved
        let known = Set(
            evaluation.counted.filter { $0 == last || evaluation.past.contains($0, before: last) }
                .compactMap { evaluation.entries[$0].action.card?.id })
        withoutKeys = evaluation.counted.compactMap { index in
            // One that is added once more has the keys, or was to have none.
            guard let card = evaluation.entries[index].action.card, isActive(card.id), !known.contains(card.id),
                !evaluation.past.contains(last, before: index)
            else { return nil }
            return card
        }
    }

    private mutating func readPolicy(_ evaluation: RingEvaluation) {
        for index in evaluation.counted {
            if case .policy(let policy) = evaluation.entries[index].action { self.policy = policy }
        }
    }
}

extension EpochStart {
    /// The number of an epoch is one more than the highest that its author knew.
    func follows(_ highest: UInt32) -> Bool { number == highest &+ 1 }
}

extension RingAction {
    var card: MemberCard? {
        switch self {
        case .found(let card, _), .add(let card): card
        default: nil
        }
    }

    var epoch: EpochStart? {
        switch self {
        case .found(_, let epoch), .rotate(let epoch): epoch
        default: nil
        }
    }

    /// Whether it removes a member, and nobody else.
    func removesOnly(_ member: MemberID) -> Bool {
        guard case .remove(let removals) = self else { return false }
        return !removals.isEmpty && removals.allSatisfy { $0.member == member }
    }

    /// Whether a member with this role may perform the action.
    func isAllowed(to role: Role, _ author: MemberID) -> Bool {
        switch self {
        case .found: false
        case .unknown: true
        case .add: role != .reader
        case .remove(let removals): role != .reader || removals.allSatisfy { $0.member == author }
        case .rotate, .policy: role == .device
        }
    }
}
