// SPDX-License-Identifier: Apache-2.0
// Changes of the ring, by this machine and by others.

package import Foundation
import KeychainCrypto

extension Replica {
    /// Removes members, accepts the segments of them that are here, and makes new keys. A snapshot under these keys
    /// should follow.
    ///
    /// - Parameter members: One that is named twice is removed once.
    package mutating func remove(_ members: [MemberID], at now: UInt64) throws(Refusal) -> [Effect] {
        let removals = Set(members).sorted().map { member in
            // More do not fit into an entry. The rest is accepted by what this machine has seen.
            let longest = logs.filter { $0.value.tip.author == member }
                .sorted { ($0.value.tip.counter, $0.key) > ($1.value.tip.counter, $1.key) }
                .prefix(Bounds.writersOfMember)
            let cuts = Dictionary(
                uniqueKeysWithValues: longest.map {
                    ($0.key, Removal.Cut(number: $0.value.tip.number, hash: $0.value.tip.hash))
                })
            return Removal(member: member, cuts: cuts)
        }
        return try adopt(try log.remove(removals, ringKeys, author: member, signer: keys, random))
    }

    /// Makes new keys.
    package mutating func rotate() throws(Refusal) -> [Effect] {
        try adopt(try log.rotate(ringKeys, author: member, signer: keys, random))
    }

    /// Makes new keys if a removed member may know the current ones, before anything is sealed with them.
    package mutating func replaceKnownKeys() throws(Refusal) -> [Effect] {
        ring.isCurrentKnownToRemoved ? try rotate() : []
    }

    /// Whether this machine has made the current keys, and does not have them: it was restored from before. If the carrier was too, nobody
    /// has them.
    var hasLostItsKeys: Bool {
        guard keyring.roots[ring.current] == nil else { return false }
        return log.entries.contains { $0.value.author == member && $0.key.short() == ring.current.entry }
    }

    /// Admits a machine.
    package mutating func admit(_ card: MemberCard) throws(Refusal) -> [Effect] {
        let (entry, wrap) = try log.admit(card, keyring, author: member, signer: keys)
        return try store(entry.map { [$0] } ?? []) + store([wrap])
    }

    /// Admits machines that ask with the code of an invitation.
    package mutating func answer(_ requests: [Data], to invitation: inout Invitation, at now: UInt64) throws(Refusal)
        -> ([Invitation.Answer], [Effect])
    {
        guard ring.mayWrite(member) else { throw .notAMember }
        var effects: [Effect] = []
        let answers = invitation.answer(requests, at: now, &log, keyring, author: member, signer: keys)
        for case .admitted(_, let entry, let wrap) in answers {
            effects += try store(entry.map { [$0] } ?? []) + store([wrap])
        }
        return (answers, effects)
    }

    mutating func adopt(_ change: RingChange) throws(Refusal) -> [Effect] {
        keyring.add(change.keys, root: change.root)
        // Keys first: a machine that sees the entry should find them.
        return store(change.wraps) + (try store(change.entries))
    }

    mutating func store(_ entries: [RingEntry]) throws(Refusal) -> [Effect] {
        try entries.map { (entry) throws(Refusal) in
            let (hash, sealed) = (entry.hash, try entry.sealed(with: ringKeys))
            self.entries[hash] = sealed
            unlisted.insert(hash)
            return .write(.entry(hash), sealed)
        }
    }

    private mutating func store(_ wraps: [KeyWrap]) -> [Effect] {
        wraps.map { wrap in
            let name = ObjectName.wrap(wrap.epoch, wrap.recipient)
            self.wraps[name] = wrap.bytes
            return .write(name, wrap.bytes)
        }
    }

    /// Processes entries first, then the wraps that belong to them.
    mutating func receiveEntries(
        _ objects: [(name: ObjectName, bytes: Data)], at now: UInt64, _ effects: inout [Effect]
    ) {
        var new: [RingEntry] = []
        var wraps: [(ObjectName, Data)] = []
        for (name, bytes) in objects {
            do {
                switch name {
                case .entry(let hash):
                    guard entries[hash] != bytes else { break }
                    let entry = try entry(hash, bytes)
                    if entries[hash] == nil { new.append(entry) } else { adopt(hash, bytes) }
                case .wrap(_, let recipient) where wrappingKey(of: recipient) != nil: wraps.append((name, bytes))
                default: break
                }
            } catch {
                refuse(name, bytes, error, &effects)
            }
        }
        let contests = ring.contests
        let refused = log.insert(new)
        effects += contested(since: contests)
        effects += refused.sorted { $0.key < $1.key }.map { .found(.refused(.entry($0.key), $0.value)) }
        for case (.entry(let hash), let bytes) in objects where log.entries[hash] != nil && entries[hash] == nil {
            entries[hash] = bytes
        }
        takeKeys(wraps, &effects)
        effects += removeUselessWrap(wraps.map(\.0), at: now)
    }

    /// What has turned out to be contested.
    private func contested(since known: [Ring.Contest.Subject: Ring.Contest]) -> [Effect] {
        let findings = ring.contests.filter { known[$0.key] != $0.value }.values.flatMap(ring.findings)
        return Set(findings).map { .found($0) }
    }

    /// Notes members that have returned, as they were stored, or without those about which a person has decided.
    package mutating func setReturned(_ members: Set<MemberID>) throws(Refusal) { try log.setReturned(members) }

    /// What the carrier has of an entry takes the place of the same one in other bytes, so that it is found there.
    private mutating func adopt(_ hash: EntryHash, _ bytes: Data) {
        guard let doubt = doubts[.entry(hash)], doubt.authentic.isEmpty else { return }
        doubts[.entry(hash)]?.add(.authentic(member), bytes)
        entries[hash] = bytes
    }

    private func entry(_ hash: EntryHash, _ bytes: Data) throws(Refusal) -> RingEntry {
        let entry = try RingEntry.open(bytes, with: ringKeys)
        guard entry.hash == hash else { throw .wrongName }
        return entry
    }

    /// Of several wraps of one name, those that are none keep nobody from the keys.
    private mutating func takeKeys(_ wraps: [(ObjectName, Data)], _ effects: inout [Effect]) {
        for (name, bytes) in wraps {
            do {
                let wrap = try KeyWrap(bytes)
                guard case .wrap(wrap.epoch, wrap.recipient) = name else { throw Refusal.wrongName }
                // The entry may still arrive; the wrap is fetched again until its key is known.
                guard ring.epochs[wrap.epoch] != nil else {
                    noteEarly(wrap, name)
                    continue
                }
                guard let wrapping = wrappingKey(of: wrap.recipient) else { throw Refusal.wrongName }
                let (epoch, root) = try log.keys(from: wrap, with: wrapping, ringKeys)
                keyring.add(epoch, root: root)
                doubts = [:]
            } catch {
                refuse(name, bytes, error as? Refusal ?? .malformed, &effects)
            }
        }
    }
}

extension Ring {
    /// A contest as a person is told of it, in a fixed order.
    package func findings(_ contest: Contest) -> [Finding] {
        contest.targets.sorted().compactMap { members[$0] }.map { .contested($0.card, by: contest.author) }
    }
}
