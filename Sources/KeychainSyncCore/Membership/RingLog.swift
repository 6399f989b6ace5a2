// SPDX-License-Identifier: Apache-2.0
// The known entries of a ring, and what follows from them.

/// The signed entries of a ring. Their meaning is a function of their set: see ``Ring``.
package struct RingLog: Sendable {
    package let id: RingID
    package private(set) var entries: [EntryHash: RingEntry]
    /// Entries whose parents have not arrived yet.
    private var waiting: [EntryHash: RingEntry] = [:]
    /// The length of the longest path from the first entry.
    private(set) var depth: [EntryHash: Int]
    /// Entries that no other entry follows.
    private var open: Set<EntryHash>
    /// The keys of all members that were ever added. An identity is a digest of the keys, so each has exactly one set.
    private var keys: [MemberID: PublicKeys]
    /// In bytes.
    private var size = 0
    private var sizeOfAuthor: [MemberID: Int] = [:]
    private var entriesOfAuthor: [MemberID: Int] = [:]
    /// Those that do not count, of authors that are no members.
    private var entriesOfOther: [MemberID: Int] = [:]
    /// The same for removals by those that were members once: one of them may be the removal of a machine that has put its author out.
    private var removalsOfOther: [MemberID: Int] = [:]
    /// Entries that are taken beyond these bounds, because entries of members follow them.
    private var followed: Set<EntryHash> = []
    /// The last entries that count, in ascending order.
    private var countingTips: [EntryHash] = []
    /// Members that were removed here once and are there again, and those that have come through them, until a person decides. The owner
    /// stores them.
    package private(set) var returned: Set<MemberID> = []
    /// The most that it takes. Tests have less.
    struct Limits {
        var (entries, entriesOfAuthor) = (Bounds.entries, Bounds.entriesOfAuthor)
        var (bytes, bytesOfAuthor) = (Bounds.log, Bounds.logOfAuthor)
        var members = Bounds.members
        /// Steps of an evaluation.
        var work = Bounds.evaluation
        /// Off for entries that were taken before.
        var isOtherBounded = true
    }

    var limits = Limits()
    /// What the entries mean.
    package private(set) var ring: Ring

    /// A log with its first entry.
    package init(founding entry: RingEntry) throws(Refusal) {
        guard case .found(let card, _) = entry.action, card.id == entry.author, card.role == .device else {
            throw .malformed
        }
        try card.keys.hasSigned(entry.message, entry.signature)
        id = entry.hash
        entries = [id: entry]
        depth = [id: 0]
        open = [id]
        keys = [card.id: card.keys]
        ring = Ring(founder: card)
        try update()
    }

    /// A log of entries that were taken before. What they mean depends on no order, so none of them is refused.
    package init(founding entry: RingEntry, taken entries: [RingEntry]) throws(Refusal) {
        try self.init(founding: entry)
        let empty = self
        let taken = Dictionary(entries.map { ($0.hash, $0) }) { first, _ in first }
        var offered = taken
        limits.isOtherBounded = false
        while true {
            var refused: [EntryHash: Refusal] = [:]
            let count = self.entries.count
            accept(&offered, &refused) { _ in true }
            // The keys of its author may have come with one that it does not follow.
            guard self.entries.count > count, !refused.isEmpty else { break }
            for hash in refused.keys { offered[hash] = taken[hash] }
        }
        limits.isOtherBounded = true
        do throws(Refusal) {
            try update()
        } catch {
            self = empty
            insert(entries)
        }
    }

    /// - Parameter members: As ``returned`` was stored, or without those about which a person has decided.
    package mutating func setReturned(_ members: Set<MemberID>) throws(Refusal) {
        guard members != returned else { return }
        returned = members
        try update()
    }

    package func knows(_ entries: [EntryHash]) -> Bool { entries.allSatisfy { self.entries[$0] != nil } }

    package func publicKeys(of member: MemberID) -> PublicKeys? { keys[member] }

    /// The entries that the next one follows, in ascending order: those that count first, so that nobody can displace them. One that
    /// follows an unknown action would not count.
    package var tips: [EntryHash] {
        let counting = countingTips.prefix(Bounds.tips)
        let others = open.subtracting(counting).subtracting(ring.unusable).sorted()
        return (counting + others.prefix(Bounds.tips - counting.count)).sorted()
    }

    package var isWaiting: Bool { !waiting.isEmpty }

    /// Missing parents of waiting entries.
    package var missing: Set<EntryHash> {
        Set(waiting.values.flatMap(\.parents)).filter { entries[$0] == nil && waiting[$0] == nil }
    }

    /// Those of them that entries of members follow. Nobody else can make such entries.
    var missingBeforeMembers: Set<EntryHash> {
        guard isWaiting else { return [] }
        let authentic = waiting.values.filter { entry in
            guard ring.isActive(entry.author), let author = keys[entry.author] else { return false }
            return (try? author.hasSigned(entry.message, entry.signature)) != nil
        }
        return missing.intersection(authentic.flatMap(\.parents))
    }

    /// Adds received entries, in any order.
    ///
    /// - Returns: The refused entries, and the reasons.
    @discardableResult
    package mutating func insert(_ new: [RingEntry]) -> [EntryHash: Refusal] {
        guard !new.isEmpty else { return [:] }
        var offered = waiting
        for entry in new { offered[entry.hash] = entry }
        let before = self
        defer { noteReturned(since: before.ring) }
        do throws(Refusal) {
            return try take(offered)
        } catch {
            self = before
            return insertByAuthor(offered, error)
        }
    }

    /// A member was there before, or is new and has come through one that was, also through others that have gone since. All others are there
    /// because a removal was undone.
    private mutating func noteReturned(since before: Ring) {
        let active = Set(ring.active.map(\.id))
        var vouched = Set(before.active.map(\.id)).subtracting(returned)
        if !active.isSubset(of: vouched) { vouch(for: &vouched, since: before) }
        let back = active.subtracting(vouched)
        guard back != returned else { return }
        returned = back
        // The same entries took no longer a moment ago.
        do throws(Refusal) { try update() } catch {}
    }

    private func vouch(for vouched: inout Set<MemberID>, since before: Ring) {
        for hash in ring.counted.sorted(by: { depth[$0] ?? 0 < depth[$1] ?? 0 }) {
            guard let entry = entries[hash], let card = entry.action.card, before.members[card.id] == nil else {
                continue
            }
            if vouched.contains(entry.author) { vouched.insert(card.id) }
        }
    }

    /// Somebody has made entries that take too long to evaluate. Those of everybody else are heard: of each author's, all or none.
    private mutating func insertByAuthor(_ offered: [EntryHash: RingEntry], _ refusal: Refusal) -> [EntryHash: Refusal]
    {
        var refused: [EntryHash: Refusal] = [:]
        waiting = [:]
        let groups = Dictionary(grouping: offered, by: \.value.author)
            .sorted { ($0.value.count, $0.key) < ($1.value.count, $1.key) }
        for (_, entries) in groups {
            let before = self
            do throws(Refusal) {
                refused.merge(try take(waiting.merging(entries.map { ($0.key, $0.value) }) { $1 })) { $1 }
            } catch {
                self = before
                for (hash, _) in entries { refused[hash] = refusal }
            }
        }
        return refused
    }

    /// How much longer than one evaluation it may take to look for members that other new entries have added.
    private static let mostWork = 4

    /// Takes the entries of members first, then a few of everybody else, and evaluates all. What has no parents yet waits.
    private mutating func take(_ new: [EntryHash: RingEntry]) throws(Refusal) -> [EntryHash: Refusal] {
        var (offered, refused, spent) = (new, [EntryHash: Refusal](), 0)
        var count: Int
        repeat {
            count = entries.count
            let members = ring
            accept(&offered, &refused) { members.isActive($0) }
            if entries.count > count { try update() }
            spent += ring.steps
        } while entries.count > count && spent < Self.mostWork * limits.work
        count = entries.count
        accept(&offered, &refused) { _ in true }
        if entries.count > count { try update() }
        try acceptFollowed(new, &offered, &refused)
        waiting = [:]
        for (hash, entry) in offered.sorted(by: { $0.key < $1.key }) {
            if waiting.count < Bounds.waitingEntries { waiting[hash] = entry } else { refused[hash] = .tooLarge }
        }
        return refused
    }

    /// What an entry of a member follows is taken, however much there is of its author. Otherwise machines that took different entries of a
    /// removed member, up to the bounds, would not hear each other any more.
    private mutating func acceptFollowed(
        _ new: [EntryHash: RingEntry], _ offered: inout [EntryHash: RingEntry], _ refused: inout [EntryHash: Refusal]
    ) throws(Refusal) {
        defer { followed = [] }
        var spent = 0
        while refused.values.contains(.afterRemoval), spent < Self.mostWork * limits.work {
            followed.formUnion(pastOfMembers(in: offered, among: new))
            let again = refused.filter { $0.value == .afterRemoval && followed.contains($0.key) }.keys
            guard !again.isEmpty else { return }
            for hash in again { (offered[hash], refused[hash]) = (new[hash], nil) }
            accept(&offered, &refused) { _ in true }
            try update()
            spent += ring.steps
        }
    }

    /// Of new entries, those that waiting entries of members follow.
    private func pastOfMembers(in waiting: [EntryHash: RingEntry], among new: [EntryHash: RingEntry]) -> Set<EntryHash>
    {
        var (past, next): (Set<EntryHash>, [EntryHash]) = ([], [])
        for entry in waiting.values where ring.isActive(entry.author) {
            do throws(Refusal) {
                try keys[entry.author]?.hasSigned(entry.message, entry.signature)
                next += entry.parents
            } catch {}
        }
        while let hash = next.popLast() {
            if let entry = new[hash], past.insert(hash).inserted { next += entry.parents }
        }
        return past
    }

    private mutating func accept(
        _ offered: inout [EntryHash: RingEntry], _ refused: inout [EntryHash: Refusal], by isAuthor: (MemberID) -> Bool
    ) {
        let candidates = offered.filter { isAuthor($0.value.author) }
        let followers = Self.followers(candidates)
        var next = candidates.keys.filter { knows(candidates[$0]?.parents ?? []) }.sorted()
        while let hash = next.popLast() {
            guard let entry = offered.removeValue(forKey: hash), entries[hash] == nil else { continue }
            do {
                try accept(entry, hash)
                next += (followers[hash] ?? []).filter { knows(candidates[$0]?.parents ?? []) }
            } catch {
                refused[hash] = error
            }
        }
    }

    /// Signs the next entry, and adds it.
    ///
    /// - Throws: `malformed` if nobody could read the entry, this machine included.
    package mutating func append(_ action: RingAction, author: MemberID, signer: DeviceKeys) throws(Refusal)
        -> RingEntry
    {
        guard !ring.isReadOnly else { throw .newerFormat }
        let entry = try RingEntry(ring: id, parents: parents(of: author), author: author, action: action)
            .signed(by: signer)
        _ = try RingEntry(entry.bytes)
        var copy = self
        try copy.accept(entry, entry.hash)
        try copy.update()
        guard copy.ring.counted.contains(entry.hash) else { throw .notAMember }
        // It does not follow what is beyond the most tips, so it may undo something too.
        copy.noteReturned(since: ring)
        self = copy
        return entry
    }

    /// What the next entry of an author follows. If there are too many tips, it follows at least what came before it of the same author:
    /// otherwise it might not know that its author was added, or void what its author has just done.
    func parents(of author: MemberID) -> [EntryHash] {
        guard countingTips.count > Bounds.tips else { return tips }
        let own = ring.counted.filter { entries[$0]?.author == author }
        let basis = own.isEmpty ? ring.counted.filter { entries[$0]?.action.card?.id == author } : own
        guard let last = basis.max(by: { (depth[$0] ?? 0, $0) < (depth[$1] ?? 0, $1) }) else { return tips }
        // New keys have to come after the current ones.
        let epoch = ring.counted.filter { entries[$0]?.action.epoch?.number == ring.current.number }
            .filter { $0.short() == ring.current.entry }
        let needed = epoch.union([last])
        return (needed + countingTips.filter { !needed.contains($0) }.prefix(Bounds.tips - needed.count)).sorted()
    }

    /// The highest number of an epoch among some entries and what they follow. Numbers that do not follow others are left out, as in the
    /// evaluation: anybody who was a member can make an entry with any.
    func highestEpoch(before last: [EntryHash]) -> UInt32 {
        var (past, next) = (Set<EntryHash>(), last)
        while let hash = next.popLast() {
            if let entry = entries[hash], past.insert(hash).inserted { next += entry.parents }
        }
        var highest: [EntryHash: UInt32] = [:]
        for hash in past.sorted(by: { depth[$0] ?? 0 < depth[$1] ?? 0 }) {
            guard let entry = entries[hash] else { continue }
            let known = entry.parents.compactMap { highest[$0] }.max() ?? 0
            let start = entry.action.epoch
            highest[hash] = start?.follows(known) == true ? start?.number : known
        }
        return highest.values.max() ?? 0
    }

    private static func followers(_ offered: [EntryHash: RingEntry]) -> [EntryHash: [EntryHash]] {
        var followers: [EntryHash: [EntryHash]] = [:]
        for (hash, entry) in offered { for parent in entry.parents { followers[parent, default: []].append(hash) } }
        return followers
    }

    private mutating func accept(_ entry: RingEntry, _ hash: EntryHash) throws(Refusal) {
        guard entry.ring == id else { throw .wrongRing }
        let length = entry.bytes.count
        guard entries.count < limits.entries, entriesOfAuthor[entry.author, default: 0] < limits.entriesOfAuthor,
            length <= Bounds.entry, size + length <= limits.bytes,
            sizeOfAuthor[entry.author, default: 0] + length <= limits.bytesOfAuthor
        else { throw .tooLarge }
        if case .add(let card) = entry.action, keys[card.id] == nil, keys.count >= limits.members { throw .tooLarge }
        // An author that was not added in the past of the entry cannot count, and an author that was never added has no
        // keys to check with.
        guard let author = keys[entry.author] else { throw .notAMember }
        try author.hasSigned(entry.message, entry.signature)
        if !followed.contains(hash) { try checkOther(entry) }
        entries[hash] = entry
        size += length
        sizeOfAuthor[entry.author, default: 0] += length
        entriesOfAuthor[entry.author, default: 0] += 1
        depth[hash] = 1 + (entry.parents.compactMap { depth[$0] }.max() ?? 0)
        open.subtract(entry.parents)
        open.insert(hash)
        if case .add(let card) = entry.action { keys[card.id] = card.keys }
    }

    /// An author that is not a member, perhaps no longer, may not fill the log: what a removal knows of its author has come before it.
    private mutating func checkOther(_ entry: RingEntry) throws(Refusal) {
        guard limits.isOtherBounded, !ring.isActive(entry.author) else { return }
        let known = isRemovalByOther(entry) ? removalsOfOther : entriesOfOther
        let all = known.values.reduce(0) { $0 + min($1, Bounds.entriesOfOther) }
        guard known[entry.author, default: 0] < Bounds.entriesOfOther, all < Bounds.entriesOfOthers else {
            throw .afterRemoval
        }
        count(entry)
    }

    private func isRemovalByOther(_ entry: RingEntry) -> Bool {
        guard case .remove = entry.action else { return false }
        return ring.members[entry.author] != nil
    }

    private mutating func count(_ entry: RingEntry) {
        if isRemovalByOther(entry) {
            removalsOfOther[entry.author, default: 0] += 1
        } else {
            entriesOfOther[entry.author, default: 0] += 1
        }
    }

    private mutating func update() throws(Refusal) {
        ring = try Ring(evaluating: self)
        (entriesOfOther, removalsOfOther) = ([:], [:])
        for (hash, entry) in entries where !ring.isActive(entry.author) && !ring.counted.contains(hash) { count(entry) }
        let followed = ring.counted.reduce(into: Set<EntryHash>()) { $0.formUnion(entries[$1]?.parents ?? []) }
        countingTips = ring.counted.subtracting(followed).sorted()
    }
}
