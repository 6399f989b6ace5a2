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
    private var entriesOfAuthor: [MemberID: Int] = [:]
    /// The meaning of the entries.
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

    package func knows(_ entries: [EntryHash]) -> Bool { entries.allSatisfy { self.entries[$0] != nil } }

    package func publicKeys(of member: MemberID) -> PublicKeys? { keys[member] }

    /// The entries that the next one follows, in ascending order.
    package var tips: [EntryHash] { Array(open.sorted().prefix(Bounds.tips)) }

    package var isWaiting: Bool { !waiting.isEmpty }

    /// Missing parents of waiting entries.
    package var missing: Set<EntryHash> {
        Set(waiting.values.flatMap(\.parents)).filter { entries[$0] == nil && waiting[$0] == nil }
    }

    /// Adds received entries, in any order.
    ///
    /// - Returns: The refused entries, and the reasons.
    @discardableResult
    package mutating func insert(_ new: [RingEntry]) -> [EntryHash: Refusal] {
        var refused: [EntryHash: Refusal] = [:]
        var offered = waiting
        for entry in new { offered[entry.hash] = entry }
        var next = offered.keys.filter { knows(offered[$0]?.parents ?? []) }
        let followers = Self.followers(offered)
        while let hash = next.popLast() {
            guard let entry = offered.removeValue(forKey: hash), entries[hash] == nil else { continue }
            do {
                try accept(entry, hash)
                next += (followers[hash] ?? []).filter { knows(offered[$0]?.parents ?? []) }
            } catch {
                refused[hash] = error
            }
        }
        waiting = [:]
        for (hash, entry) in offered.sorted(by: { $0.key < $1.key }) {
            if waiting.count < Bounds.waitingEntries { waiting[hash] = entry } else { refused[hash] = .tooLarge }
        }
        do {
            try update()
        } catch {
            refused[id] = error
        }
        return refused
    }

    /// Signs the next entry, and adds it.
    package mutating func append(_ action: RingAction, author: MemberID, signer: DeviceKeys) throws(Refusal)
        -> RingEntry
    {
        guard !ring.isReadOnly else { throw .newerFormat }
        let entry = try RingEntry(ring: id, parents: tips, author: author, action: action).signed(by: signer)
        var copy = self
        try copy.accept(entry, entry.hash)
        try copy.update()
        guard copy.ring.counted.contains(entry.hash) else { throw .notAMember }
        self = copy
        return entry
    }

    private static func followers(_ offered: [EntryHash: RingEntry]) -> [EntryHash: [EntryHash]] {
        var followers: [EntryHash: [EntryHash]] = [:]
        for (hash, entry) in offered { for parent in entry.parents { followers[parent, default: []].append(hash) } }
        return followers
    }

    private mutating func accept(_ entry: RingEntry, _ hash: EntryHash) throws(Refusal) {
        guard entry.ring == id else { throw .wrongRing }
        let length = entry.bytes.count
        guard entries.count < Bounds.entries, entriesOfAuthor[entry.author, default: 0] < Bounds.entriesOfAuthor,
            length <= Bounds.entry, size + length <= Bounds.log
        else { throw .tooLarge }
        // An author that was not added in the past of the entry cannot count, and an author that was never added has no
        // keys to check with.
        guard let author = keys[entry.author] else { throw .notAMember }
        try author.hasSigned(entry.message, entry.signature)
        entries[hash] = entry
        size += length
        entriesOfAuthor[entry.author, default: 0] += 1
        depth[hash] = 1 + (entry.parents.compactMap { depth[$0] }.max() ?? 0)
        open.subtract(entry.parents)
        open.insert(hash)
        if case .add(let card) = entry.action, keys.count < Bounds.members { keys[card.id] = card.keys }
    }

    private mutating func update() throws(Refusal) { ring = try Ring(evaluating: self) }
}
