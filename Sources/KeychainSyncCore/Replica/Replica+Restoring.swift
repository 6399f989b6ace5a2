// SPDX-License-Identifier: Apache-2.0
// A machine that may have lost its counter continues as another writer.

extension Replica {
    /// For a machine that was restored from a backup, when the caller detects this.
    package mutating func startAgain(at now: UInt64) -> [Effect] {
        let unpublished = own[writer]?.filter { !$0.value.isPublished }.values.map(\.first).min()
        return startAgain(from: unpublished ?? (logs[writer]?.tip.number ?? 0) + 1, at: now)
    }

    /// For a machine whose clock was far ahead and is right now. Otherwise its changes would win over concurrent ones until that time has come.
    package mutating func followClock(at now: UInt64) {
        if clock.isFarAhead(of: now) { clock = HybridTime(milliseconds: now) }
    }

    /// Continues as a new writer. Writes in segments from `number` on, which no other machine has, are repeated as its
    /// own. Segments on the carrier under the old writer are processed like the log of any other writer.
    mutating func startAgain(from number: UInt64, at now: UInt64) -> [Effect] {
        do {
            var copy = self
            try copy.reissue(from: own[writer]?[number]?.first ?? number, at: now)
            copy.skipHeads(at: now)
            let old = writer
            self = copy
            return [.found(.startedAgain(old))]
        } catch {
            // Without the keys of a class its records cannot be signed again; the next occasion retries.
            return [.found(.refused(.segment(writer, number), error))]
        }
    }

    /// Heads that this machine has forgotten have numbers, too. A second head of one of these, or the next one after another, would look
    /// like that of a copy. A number that follows from the time is also higher than those after an earlier restoration of one backup.
    private mutating func skipHeads(at now: UInt64) {
        lastHead.number = min(max(lastHead.number + (1 << 20), now), max(lastHead.number, Bounds.number / 2))
    }

    mutating func reissue(from number: UInt64, at now: UInt64) throws(Refusal) {
        let old = writer
        let lost = (own[old] ?? [:]).filter { $0.key >= number }.sorted { $0.key < $1.key }.map(\.value)
        let batches = lost.compactMap(\.batch)
        var writes = batches.flatMap { batch in batch.entries.map { ($0.record, batch.contexts[$0.context]) } }
        writes += outbox.entries.map { ($0.record, $0.context) }
        let kept = batches.first?.after ?? logs[old]?.tip.counter ?? 0
        own[old] = own[old]?.filter { $0.key < number }
        cut(old, to: number - 1, lost.first?.previous, counter: kept)
        items.takeBack(old, after: kept, ringKeys)
        (writer, outbox) = (random.writer(), Outbox())
        try write(newest(writes), again: old, kept, at: now)
    }

    private mutating func cut(_ writer: WriterID, to number: UInt64, _ hash: ObjectHash?, counter: UInt64) {
        guard let state = logs[writer], let hash else { return }
        let tip = LogTip(author: member, counter: counter, number: number, hash: hash)
        var sealed = state.sealed.mapValues { min($0, number) }
        sealed = sealed.filter { $0.value > 0 }
        logs[writer] =
            number == 0 ? nil : LogState(tip: tip, vector: VersionVector(), sealed: sealed, epoch: state.epoch)
    }

    private func newest(_ writes: [(SealedRecord, VersionVector)]) -> [(SealedRecord, VersionVector)] {
        let last = Dictionary(writes.enumerated().map { ($0.element.0.header.item, $0.offset) }) { max($0, $1) }
        return writes.enumerated().filter { last[$0.element.0.header.item] == $0.offset }.map(\.element)
    }

    private mutating func write(
        _ writes: [(SealedRecord, VersionVector)], again old: WriterID, _ kept: UInt64, at now: UInt64
    ) throws(Refusal) {
        guard writes.isEmpty || hasRoomForOwnWriter else { throw .tooLarge }
        let epoch = try localKeys()
        var records: [(record: SealedRecord, context: VersionVector)] = []
        for (record, seen) in writes {
            var context = seen
            context[old] = kept
            // A time that was far ahead would still win over concurrent changes.
            let isFarAhead = record.header.time.isFarAhead(of: now)
            if isFarAhead { clock = clock.next(at: now) }
            let header = RecordHeader(
                kind: record.header.kind, item: record.header.item,
                dot: Dot(writer: writer, counter: UInt64(records.count) + 1),
                time: isFarAhead ? clock : record.header.time,
                accessibility: record.header.accessibility, context: RecordHeader.digest(of: context))
            let again = try SealedRecord.seal(
                try open(record), header, author: member, ring: log.id, keys: epoch, signer: keys)
            records.append((again, context))
            _ = apply(again, context)
        }
        outbox.add(records)
    }
}
