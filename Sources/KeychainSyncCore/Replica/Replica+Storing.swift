// SPDX-License-Identifier: Apache-2.0
// A replica as parts that are stored separately. The parts do not contain keys.

package import Foundation
import KeychainCrypto

extension Replica {
    /// The changes that turn the stored form of an earlier state into this state.
    ///
    /// - Parameter old: The stored state; `nil` if nothing is stored.
    package func changes(since old: Replica?) -> PartChanges {
        var changes = PartChanges()
        changes.compare(
            old.map { [PartName.core: $0.coreBytes] } ?? [:], [.core: coreBytes], { $0 }, { $0 })
        changes.compare(old?.entries ?? [:], entries, PartName.entry, { $0 })
        changes.compare(old?.wraps ?? [:], wraps, PartName.wrap, { $0 })
        changes.compare(old?.logs ?? [:], logs, PartName.log, \.bytes)
        changes.compare(old?.own ?? [:], own, PartName.own, \.storedBytes)
        changes.compare(old?.waiting.logs ?? [:], waiting.logs, PartName.waiting, \.bytes)
        changes.compare(old?.items.versions ?? [:], items.versions, PartName.record) { record in
            var writer = ByteWriter(capacity: 1024)
            StoredRecord(record).write(to: &writer)
            return writer.data
        }
        changes.compare(old?.outbox.byDot ?? [:], outbox.byDot, PartName.outgoing, \.bytes)
        changes.compare(old?.snapshots ?? [:], snapshots, PartName.snapshot, \.storedBytes)
        changes.compare(old?.observations.heads ?? [:], observations.heads, PartName.head, \.bytes)
        changes.compare(old?.observations.wraps ?? [:], observations.wraps, PartName.missingWrap) { since in
            var writer = ByteWriter(capacity: 8)
            writer.append(bigEndian: since)
            return writer.data
        }
        if old?.refusals != refusals { changes.compare(old?.refusals ?? [:], refusals, PartName.refusal, \.bytes) }
        return changes
    }

    private static let format: UInt8 = 1

    private var coreBytes: Data {
        var bytes = ByteWriter(capacity: 256)
        bytes.append(Self.format)
        log.id.write(to: &bytes)
        bytes.append(bigEndian: writer.number)
        bytes.append(bigEndian: clock.number)
        bytes.append(bigEndian: lastHead.number)
        lastHead.hash.write(to: &bytes)
        bytes.append(needsSnapshot)
        claims.write(to: &bytes)
        items.vector.write(to: &bytes)
        bytes.append(bigEndian: outbox.lastTransaction)
        observations.write(to: &bytes)
        return bytes.data
    }

    /// Creates a replica from its parts.
    ///
    /// - Parameters:
    ///   - parts: All parts. They are trusted, also about other machines, so the caller must protect them from changes.
    ///   - keyring: The keys of the ring that the parts belong to.
    /// - Throws: ``Refusal/malformed`` and others if this version did not write the parts.
    package init(
        stored parts: [PartName: Data], keys: DeviceKeys, former: [FormerKeys] = [], keyring: Keyring,
        _ random: Randomness = Randomness()
    ) throws(Refusal) {
        let log = try Self.log(parts, keyring.ring)
        try self.init(keys: keys, log: log, keyring: keyring, random)
        (self.former, entries) = (former, [:])
        var (records, outgoing): ([SealedRecord], [Outbox.Entry]) = ([], [])
        guard let core = parts[.core] else { throw .malformed }
        var reader = ByteReader(core)
        let (vector, lastTransaction) = try readCore(&reader)
        for (name, bytes) in parts {
            var reader = ByteReader(bytes)
            switch name {
            case .core: continue
            case .entry(let hash): entries[hash] = try reader.remainder()
            case .wrap(let name): wraps[name] = try reader.remainder()
            case .log(let id): logs[id] = try LogState(from: &reader)
            case .own(let id, let number): own[id, default: [:]][number] = try OwnSegment(from: &reader, id, member)
            case .waiting(let id, let number): waiting.add(id, number, try reader.remainder(), isSigned: true)
            case .record(let item, let dot):
                let record = try StoredRecord(from: &reader, dot).record
                guard record.header.item == item else { throw .wrongName }
                records.append(record)
            case .outgoing(let dot): outgoing.append(try Outbox.Entry(from: &reader, dot))
            case .snapshot(let id): snapshots[id] = try KnownSnapshot(from: &reader, id, log.id)
            case .refusal(let hash): refusals[hash] = try RefusedSegment(from: &reader)
            case .missingWrap(let name): observations.wraps[name] = try reader.number()
            case .head(let id): observations.heads[id] = try Observations.SeenHead(from: &reader)
            }
            try reader.end()
        }
        items = MergedItems(records, vector, keyring.ring)
        outbox = Outbox(outgoing, lastTransaction: lastTransaction)
    }

    private static func log(_ parts: [PartName: Data], _ keys: RingKeys) throws(Refusal) -> RingLog {
        var entries: [RingEntry] = []
        for case (.entry, let bytes) in parts { entries.append(try RingEntry.open(bytes, with: keys)) }
        guard let founding = entries.first(where: { $0.hash == keys.ring }) else { throw .malformed }
        return try RingLog(founding: founding, taken: entries)
    }

    private mutating func readCore(_ reader: inout ByteReader) throws(Refusal) -> (VersionVector, UInt64) {
        guard try reader.byte() == Self.format else { throw .newerFormat }
        guard try reader.bytes32() == log.id else { throw .wrongRing }
        writer = try reader.writer()
        clock = HybridTime(try reader.number())
        lastHead = (try reader.counter(), try reader.bytes32())
        needsSnapshot = try reader.flag()
        claims = try VersionVector(from: &reader)
        let vector = try VersionVector(from: &reader)
        let lastTransaction = try reader.counter()
        observations = try Observations(from: &reader)
        try reader.end()
        return (vector, lastTransaction)
    }
}

// MARK: - Parts

extension Replica.LogState {
    fileprivate var bytes: Data {
        var writer = ByteWriter(capacity: 256)
        tip.write(to: &writer)
        vector.write(to: &writer)
        writer.append(epoch)
        let epochs = sealed.sorted { ($0.key.number, $0.key.entry) < ($1.key.number, $1.key.entry) }
        for (epoch, number) in epochs {
            epoch.write(to: &writer)
            writer.append(bigEndian: number)
        }
        return writer.data
    }

    fileprivate init(from reader: inout ByteReader) throws(Refusal) {
        self.init(
            tip: try LogTip(from: &reader), vector: try VersionVector(from: &reader), sealed: [:],
            epoch: try reader.optionalEpoch())
        while reader.rest > 0 { sealed[try reader.epoch()] = try reader.counter() }
    }
}

extension Replica.OwnSegment {
    fileprivate var storedBytes: Data {
        let batch = batch?.bytes ?? []
        var writer = ByteWriter(capacity: batch.count + bytes.count + 128)
        epoch.write(to: &writer)
        previous.write(to: &writer)
        writer.append(bigEndian: first)
        writer.append(isPublished)
        writer.append(bigEndian: UInt32(batch.count))
        writer.append(batch)
        writer.append(bytes)
        return writer.data
    }

    fileprivate init(from reader: inout ByteReader, _ writer: WriterID, _ author: MemberID) throws(Refusal) {
        let (epoch, previous): (EpochID, ObjectHash) = (try reader.epoch(), try reader.bytes32())
        let (first, isPublished) = (try reader.counter(), try reader.flag())
        let batch = try reader.bytes(Int(try reader.number(UInt32.self)))
        self.init(
            bytes: try reader.remainder(), epoch: epoch, previous: previous,
            batch: batch.isEmpty ? nil : try Batch(batch, writer: writer, author: author, epoch: epoch), first: first,
            isPublished: isPublished)
    }
}

extension KnownSnapshot {
    /// Without the received parts, which are fetched again.
    fileprivate var storedBytes: Data {
        var writer = ByteWriter(capacity: 1024)
        header.epoch.write(to: &writer)
        writer.append(isJoined)
        writer.append(manifest.bytes)
        return writer.data
    }

    fileprivate init(from reader: inout ByteReader, _ id: SnapshotID, _ ring: RingID) throws(Refusal) {
        header = SnapshotHeader(ring: ring, epoch: try reader.epoch(), id: id)
        isJoined = try reader.flag()
        manifest = try SnapshotManifest(try reader.bytes(reader.rest))
    }
}

extension Outbox {
    fileprivate var byDot: [Dot: Entry] {
        Dictionary(uniqueKeysWithValues: entries.map { ($0.record.header.dot, $0) })
    }
}

extension Outbox.Entry {
    fileprivate var bytes: Data {
        var writer = ByteWriter(capacity: 1024)
        writer.append(bigEndian: transaction)
        context.write(to: &writer)
        StoredRecord(record).write(to: &writer)
        return writer.data
    }

    fileprivate init(from reader: inout ByteReader, _ dot: Dot) throws(Refusal) {
        let (transaction, context) = (try reader.counter(), try VersionVector(from: &reader))
        self.init(record: try StoredRecord(from: &reader, dot).record, context: context, transaction: transaction)
    }
}
