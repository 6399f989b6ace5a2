// SPDX-License-Identifier: Apache-2.0
// Local writes, and the segments that contain them.

import Foundation
import KeychainCrypto

extension Replica {
    /// Writes items, all or none. The context of the write is fixed now, not when it is uploaded.
    ///
    /// - Parameter mayBeRemoved: Whether a machine that was removed writes too. Nobody else gets it, unless the removal is undone.
    package mutating func commit(
        _ writes: [LocalWrite], at now: UInt64, mayBeRemoved: Bool = false
    ) throws(Refusal) -> [ItemChange] {
        let isRemoved = ring.members[member]?.isRemoved == true
        guard ring.mayWrite(member) || mayBeRemoved && isRemoved else { throw .notAMember }
        let writes = writes.filter { !$0.isDeletion || items[$0.item].shown != nil }
        guard Set(writes.map(\.item)).count == writes.count else { throw .malformed }
        guard writes.count <= Bounds.records, writes.reduce(0, { $0 + $1.length }) <= Outbox.room else {
            throw .tooLarge
        }
        guard hasRoomForOwnWriter else { throw .tooLarge }
        let (epoch, whole) = (try localKeys(), items.vector.without(writer))
        let wholeDigest = RecordHeader.digest(of: whole)
        let time = clock.next(at: now)
        var records: [(record: SealedRecord, context: VersionVector)] = []
        for write in writes {
            let counter = items.vector[writer] + UInt64(records.count) + 1
            let context = write.hasSeenAll ? whole : context(unawareOf: write.item)
            let digest = write.hasSeenAll ? wholeDigest : RecordHeader.digest(of: context)
            let header = write.header(Dot(writer: writer, counter: counter), time, digest)
            let record = try SealedRecord.seal(
                write.bytes, header, author: member, ring: log.id, keys: epoch, signer: keys)
            records.append((record, context))
        }
        clock = time
        outbox.add(records)
        return records.map { apply($0.record, $0.context) }
    }

    /// Whether this machine's writer is, or can be, in the vector of the applied writes.
    var hasRoomForOwnWriter: Bool { items.vector[writer] > 0 || items.vector.counters.count < Bounds.writers }

    /// Everything that is here but what others have written of one item: the person who writes was never shown it.
    private func context(unawareOf item: SyncID) -> VersionVector {
        var context = items.vector.without(writer)
        for dot in items[item].all.map(\.header.dot) where dot.writer != writer {
            context[dot.writer] = min(context[dot.writer], dot.counter - 1)
        }
        return context
    }

    /// The keys that seal local writes. The keys of the current epoch may still be missing; before an upload, the write
    /// is moved to them.
    func localKeys() throws(Refusal) -> EpochKeys {
        if let keys = keyring.epochs[ring.current] { return keys }
        guard let newest = keyring.epochs.keys.max(by: { ($0.number, $0.entry) < ($1.number, $1.entry) }) else {
            throw .noKey
        }
        return try keyring.keys(of: newest)
    }

    /// - Parameter context: Without the writer's own writes.
    mutating func apply(_ record: SealedRecord, _ context: VersionVector) -> ItemChange {
        var seen = context
        seen[record.header.dot.writer] = record.header.dot.counter - 1
        return items.apply(record, seen: seen, ringKeys)
    }

    /// Converts the outbox to segments. They are stored in the replica before they are published, so a crash in between
    /// leads to the same bytes.
    package mutating func seal(at now: UInt64) throws(Refusal) -> [Effect] {
        guard ring.mayWrite(member) else { throw .notAMember }
        guard !ring.isReadOnly else { throw .newerFormat }
        // Nobody else would make others, and all would wait for them.
        var effects = hasLostItsKeys ? try rotate() : []
        // The member that removes another one usually makes the keys too. Its entry may not be here yet, or may not count.
        effects += outbox.isEmpty && !mustVouch ? [] : try replaceKnownKeys()
        while true {
            let count = outbox.fitting()
            guard count > 0 || outbox.isEmpty else { throw .tooLarge }
            guard count > 0 || mustVouch else { break }
            effects += try seal(count, at: now)
        }
        return effects
    }

    /// Whether this machine has applied writes of a removed member that others accept only if a member has seen them.
    private var mustVouch: Bool {
        let published = logs[writer]?.vector ?? VersionVector()
        return logs.contains { id, state in
            guard ring.members[state.tip.author]?.isRemoved == true else { return false }
            let cut = ring.cuts[state.tip.author]?[id]?.number ?? 0
            return state.tip.number > cut && published[id] < state.tip.counter && claims[id] < state.tip.counter
        }
    }

    private mutating func seal(_ count: Int, at now: UInt64) throws(Refusal) -> [Effect] {
        let epoch = try keyring.keys(of: ring.current)
        let batch = try batch(outbox.entries.prefix(count), epoch, at: now)
        let (bytes, tips) = (batch.bytes, log.tips)
        let room = SegmentBody.room(tips: tips.count)
        let pieces = stride(from: 0, to: bytes.count, by: room).map { Array(bytes[$0..<min($0 + room, bytes.count)]) }
        guard pieces.count <= Bounds.continued, items.vector.counters.count <= Bounds.writers else { throw .tooLarge }
        var tip = logs[writer]?.tip ?? LogTip(author: member, counter: 0, number: 0, hash: .zero)
        var (segments, effects) = ([UInt64: OwnSegment](), [Effect]())
        let first = tip.number + 1
        for (index, piece) in pieces.enumerated() {
            let header = SegmentHeader(
                ring: log.id, epoch: epoch.id, writer: writer, number: tip.number + 1, previous: tip.hash)
            let isLast = index == pieces.count - 1
            let body = SegmentBody(continues: !isLast, author: member, tips: tips, piece: piece)
            let sealed = try body.sealed(header, keys: epoch, signer: keys)
            segments[header.number] = OwnSegment(
                bytes: sealed, epoch: epoch.id, previous: tip.hash, batch: isLast ? batch : nil, first: first)
            (tip.number, tip.hash) = (header.number, .hash(of: sealed))
            effects.append(.write(.segment(writer, header.number), sealed))
        }
        tip.counter = batch.through
        own[writer, default: [:]].merge(segments) { $1 }
        var sealed = logs[writer]?.sealed ?? [:]
        sealed[epoch.id] = tip.number
        logs[writer] = LogState(tip: tip, vector: batch.coverage, sealed: sealed, epoch: epoch.id)
        clock = batch.time
        outbox.removeFirst(count)
        return effects
    }

    private func batch(_ entries: ArraySlice<Outbox.Entry>, _ epoch: EpochKeys, at now: UInt64) throws(Refusal) -> Batch
    {
        var contexts: [VersionVector] = []
        var batch: [Batch.Entry] = []
        for entry in entries {
            if contexts.last != entry.context { contexts.append(entry.context) }
            let record = try entry.record.moved(
                from: try keyring.keys(of: entry.record.epoch), to: epoch, ring: log.id)
            batch.append(Batch.Entry(record: record, context: contexts.count - 1))
        }
        let isAll = entries.count == outbox.count
        let last = entries.last?.record.header.dot.counter
        return Batch(
            writer: writer, after: logs[writer]?.tip.counter ?? 0,
            through: isAll ? items.vector[writer] : last ?? items.vector[writer],
            time: clock.next(at: now), vector: items.vector.without(writer), contexts: contexts, entries: batch)
    }

    /// Processes the outcome of publishing an object.
    package mutating func published(_ name: ObjectName, _ outcome: Publication, at now: UInt64) -> [Effect] {
        if case .entry(let hash) = name, outcome != .otherThere { unlisted.remove(hash) }
        // The manifest comes last.
        if case .snapshot(let id, part: 0) = name { unlistedSnapshots.remove(id) }
        guard case .segment(let id, let number) = name else { return [] }
        switch outcome {
        case .created, .alreadySame:
            own[id]?[number]?.isPublished = true
            return []
        case .otherThere:
            // Anybody can make a file of that name. What it is decides whether this machine has a copy.
            return [.read([name])]
        }
    }

    /// Publishes what this machine has, so that others can compare.
    package mutating func head(at now: UInt64) throws(Refusal) -> [Effect] {
        guard ring.isActive(member) else { throw .notAMember }
        let epoch = try keyring.keys(of: ring.current)
        // Unpublished writes are not claimed.
        let vector = publishedVector
        guard vector == items.vector else { return [] }
        let header = HeadHeader(ring: log.id, epoch: epoch.id, member: member, number: lastHead.number + 1)
        let head = Head(
            previous: lastHead.hash, tips: log.tips, time: clock.next(at: now), digest: items.digest,
            count: items.count, vector: vector)
        let sealed = try head.sealed(header, keys: epoch, signer: keys)
        lastHead = (header.number, .hash(of: sealed))
        return [.write(.head(member, header.number), sealed)]
    }

    private var publishedVector: VersionVector {
        var vector = items.vector
        vector[writer] = logs[writer]?.tip.counter ?? 0
        return vector
    }
}

extension LocalWrite {
    var isDeletion: Bool { if case .deletion = content { true } else { false } }

    fileprivate var bytes: [UInt8] { if case .value(let bytes, _) = content { bytes } else { [] } }

    /// What it takes of ``Outbox/room``.
    package var length: Int { bytes.count + SealedRecord.overhead + 64 }

    fileprivate func header(_ dot: Dot, _ time: HybridTime, _ context: Bytes32<ContextTag>) -> RecordHeader {
        switch content {
        case .value(_, let accessibility):
            RecordHeader(
                kind: .value, item: item, dot: dot, time: time, accessibility: accessibility, context: context)
        case .deletion:
            RecordHeader(
                kind: .deletion, item: item, dot: dot, time: time,
                accessibility: RecordHeader.classOfDeletions, context: context)
        }
    }
}
