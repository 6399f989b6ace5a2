// SPDX-License-Identifier: Apache-2.0
// Snapshots: written and received, and what they make obsolete.

import Foundation
import KeychainCrypto

/// A snapshot on the carrier, and the parts received so far.
struct KnownSnapshot: Equatable, Sendable {
    let header: SnapshotHeader
    let manifest: SnapshotManifest
    var parts: [Int: Data] = [:]
    /// Whether everything that it covers is here.
    var isJoined = false

    var names: [ObjectName] { (0...manifest.parts.count).map { .snapshot(header.id, part: UInt16($0)) } }
}

extension Replica {
    /// Writes a snapshot of the complete state, with the keys of the current epoch. The manifest comes last.
    ///
    /// - Throws: ``Refusal/contradiction`` while something of this machine is not published.
    package mutating func snapshot(at now: UInt64) throws(Refusal) -> [Effect] {
        let id = random.snapshot()
        guard ring.mayWrite(member) else { throw .notAMember }
        guard !ring.isReadOnly else { throw .newerFormat }
        guard isPublished else { throw .contradiction }
        let epoch = try keyring.keys(of: ring.current)
        for record in items.records where record.epoch != epoch.id {
            items.replaceSealed(
                try record.moved(from: try keyring.keys(of: record.epoch), to: epoch, ring: log.id))
        }
        var (hashes, effects) = ([ObjectHash](), [Effect]())
        for piece in SnapshotRecords.pieces(items.records) {
            let part = UInt16(truncatingIfNeeded: hashes.count + 1)
            let header = SnapshotHeader(ring: log.id, epoch: epoch.id, id: id, part: part)
            let sealed = try SnapshotRecords.sealed(piece, header, keys: epoch)
            hashes.append(.hash(of: sealed))
            effects.append(.write(.snapshot(id, part: part), sealed))
        }
        guard hashes.count <= Bounds.parts, logs.count <= Bounds.writers else { throw .tooLarge }
        clock = clock.next(at: now)
        let header = SnapshotHeader(ring: log.id, epoch: epoch.id, id: id)
        let manifest = try SnapshotManifest(
            author: member, tips: log.tips, time: clock, digest: items.digest, count: items.count,
            logs: logs.mapValues(\.tip), parts: hashes
        ).signed(header, by: keys)
        effects.append(.write(.snapshot(id, part: 0), try manifest.sealed(header, keys: epoch)))
        snapshots[id] = KnownSnapshot(header: header, manifest: manifest, isJoined: true)
        unlistedSnapshots.insert(id)
        needsSnapshot = false
        return effects
    }

    mutating func receiveSnapshot(_ id: SnapshotID, _ part: UInt16, _ bytes: Data, _ effects: inout [Effect]) {
        do {
            if part > 0 {
                guard let known = snapshots[id], known.parts[Int(part)] == nil, collected.contains(id) else { return }
                guard part <= known.manifest.parts.count, known.manifest.parts[Int(part) - 1] == .hash(of: bytes) else {
                    throw Refusal.notAuthentic
                }
                snapshots[id]?.parts[Int(part)] = bytes
            } else if snapshots[id] == nil, snapshots.count < Bounds.snapshots {
                let snapshot = try manifest(id, bytes)
                try check(snapshot)
                snapshots[id] = snapshot
            }
        } catch {
            let refusal = error as? Refusal ?? .malformed
            if refusal != .noKey { refuse(.snapshot(id, part: part), bytes, refusal, &effects) }
        }
    }

    private func manifest(_ id: SnapshotID, _ bytes: Data) throws(Refusal) -> KnownSnapshot {
        let (header, manifest) = try SnapshotManifest.open(bytes, in: keyring)
        guard header.id == id else { throw .wrongName }
        guard log.knows(manifest.tips) else { throw .noKey }
        guard let author = log.publicKeys(of: manifest.author) else { throw .notAMember }
        try manifest.check(header, by: author)
        return KnownSnapshot(header: header, manifest: manifest)
    }

    private mutating func check(_ snapshot: KnownSnapshot) throws(Refusal) {
        let (id, manifest) = (snapshot.header.id, snapshot.manifest)
        guard ring.mayWrite(manifest.author) else {
            // Nobody else would remove it, not even once another one stands for all of it.
            let isRemoved = ring.members[manifest.author]?.isRemoved == true
            if isRemoved, unheardSnapshots.count < Bounds.snapshots { unheardSnapshots[id] = snapshot }
            throw .notAMember
        }
        guard manifest.logs.allSatisfy({ logs[$0.key].map(\.tip.author) ?? $0.value.author == $0.value.author }) else {
            throw .contradiction
        }
        guard manifest.logs.values.allSatisfy({ log.publicKeys(of: $0.author) != nil }) else { throw .notAMember }
        guard hasRoom(for: manifest) else { throw .tooLarge }
    }

    /// Whether what is here and what a snapshot stands for can be stored together.
    private func hasRoom(for manifest: SnapshotManifest) -> Bool {
        let new = manifest.logs.filter { logs[$0.key] == nil }
        guard logs.count + new.count <= Bounds.writers, items.vector.count(with: manifest.vector) <= Bounds.writers
        else {
            return false
        }
        let known = Dictionary(grouping: logs.values, by: \.tip.author).mapValues(\.count)
        return Dictionary(grouping: new.values, by: \.author).allSatisfy {
            (known[$0.key] ?? 0) + $0.value.count <= Bounds.writersOfMemberInSnapshots
        }
    }

    /// - Returns: Whether one was joined that brought something.
    mutating func joinSnapshots(at now: UInt64, _ changes: inout [ItemChange], _ effects: inout [Effect]) -> Bool {
        var moved = false
        for (id, snapshot) in snapshots.sorted(by: { $0.key < $1.key }) where !snapshot.isJoined {
            guard ring.mayWrite(snapshot.manifest.author) else {
                snapshots[id] = nil
                continue
            }
            if items.vector.covers(snapshot.manifest.vector) {
                snapshots[id]?.isJoined = true
                snapshots[id]?.parts = [:]
                continue
            }
            guard snapshot.parts.count == snapshot.manifest.parts.count else { continue }
            do {
                guard hasRoom(for: snapshot.manifest) else { throw Refusal.tooLarge }
                let records = try records(of: snapshot)
                join(snapshot, records, at: now, &changes, &effects)
                moved = true
            } catch {
                let refusal = error as? Refusal ?? .malformed
                if refusal == .noKey { continue }
                effects.append(.found(.refused(.snapshot(id, part: 0), refusal)))
                snapshots[id] = nil
            }
        }
        return moved
    }

    private func records(of snapshot: KnownSnapshot) throws(Refusal) -> [SealedRecord] {
        var bytes: [UInt8] = []
        for (part, data) in snapshot.parts.sorted(by: { $0.key < $1.key }) {
            bytes += try SnapshotRecords.open(data, part: part, of: snapshot.manifest, snapshot.header, in: keyring)
        }
        let records = try SnapshotRecords.read(bytes, snapshot.manifest, epoch: snapshot.header.epoch)
        for record in records { _ = try open(record) }
        let sum = records.reduce(SetSum.zero) { $0 + ringKeys.sum($1.header.item, $1.header.dot) }
        guard Bytes32(sum.bytes) == snapshot.manifest.digest else { throw .contradiction }
        return records
    }

    private mutating func join(
        _ snapshot: KnownSnapshot, _ records: [SealedRecord], at now: UInt64, _ changes: inout [ItemChange],
        _ effects: inout [Effect]
    ) {
        // It covers more of this machine's log than this machine knows: the machine was restored.
        if let mine = snapshot.manifest.logs[writer], isNews(mine, of: writer) {
            effects += startAgain(at: now)
            guard snapshot.manifest.logs[writer] == nil else { return }
        }
        changes += items.join(records, snapshot.manifest.vector, ringKeys)
        for (writer, tip) in snapshot.manifest.logs where isNews(tip, of: writer) {
            logs[writer] = LogState(
                tip: tip, vector: VersionVector(), sealed: [snapshot.header.epoch: tip.number], epoch: nil)
            noteApplied(tip)
            waiting.removeAll(of: writer, through: tip.number)
        }
        clock.follow(snapshot.manifest.time, at: now)
        snapshots[snapshot.header.id]?.isJoined = true
        snapshots[snapshot.header.id]?.parts = [:]
    }

    private func isNews(_ tip: LogTip, of writer: WriterID) -> Bool {
        tip.number > logs[writer]?.tip.number ?? 0 || tip.counter > logs[writer]?.tip.counter ?? 0
    }
}
