// SPDX-License-Identifier: Apache-2.0
// The bounds of batches and snapshots.

import Foundation
import KeychainCrypto
import SecretMemory
import Testing

@testable import KeychainSyncCore

extension FormatBound {
    // MARK: - Batches

    private static func decoded(_ contexts: [VersionVector], _ entries: [Batch.Entry], _ sample: Sample) -> Refusal? {
        let batch = Batch(
            writer: sample.writer, after: 0, through: UInt64(max(1, entries.count)), time: .zero,
            vector: VersionVector([WriterID(1): 1000]), contexts: contexts, entries: entries)
        return refusal {
            let read = try Batch(
                batch.bytes, writer: sample.writer, author: sample.member, epoch: sample.epoch.id)
            #expect(read.contexts.count == contexts.count && read.entries.count == entries.count)
        }
    }

    /// A record that nobody opens.
    static func record(_ counter: Int, _ sample: Sample) -> SealedRecord {
        let header = RecordHeader(
            kind: .value,
            item: SyncID(withUnsafeBytes(of: UInt64(counter)) { Array($0) } + [UInt8](repeating: 0, count: 8)),
            dot: Dot(writer: sample.writer, counter: UInt64(counter)), time: .zero, accessibility: 6, context: .zero)
        return SealedRecord(
            header: header, author: sample.member, epoch: sample.epoch.id, sealed: Data(count: SealedRecord.overhead))
    }

    static func context(_ number: Int) -> VersionVector { VersionVector([WriterID(1): UInt64(number + 1)]) }

    static let batches: [FormatBound] = [
        FormatBound(name: "contexts of a batch") { extra in
            decoded((0..<Bounds.contexts + extra).map(context), [], Sample())
        },
        // One more than the bound has no number of 16 bits. The machine that writes it refuses it.
        FormatBound(name: "records of a batch") { extra in
            let sample = Sample()
            guard extra == 0 else {
                var machine = try Replica(keys: sample.keys, log: sample.log, keyring: sample.keyring)
                let writes = (0...Bounds.records).map { number in
                    LocalWrite(item: record(number, sample).header.item, .value([], accessibility: 6))
                }
                return refusal { _ = try machine.commit(writes, at: 1) }
            }
            let entries = (1...Bounds.records).map { Batch.Entry(record: record($0, sample), context: 0) }
            return decoded([VersionVector()], entries, sample)
        },
        FormatBound(name: "bytes of an item, sealed") { extra in
            let sample = Sample()
            let content = [UInt8](repeating: 1, count: Bounds.item + extra)
            return refusal { _ = try sample.record("a", counter: 1, content: content) }
        },
        FormatBound(name: "segments of a batch") { extra in
            var world = try World(2)
            let objects = try segments(Bounds.continued + extra, of: world.machines[0])
            world.carryOut(world.machines[1].received(objects, at: world.now), 1)
            let tip = world.machines[1].logs[world.machines[0].writer]?.tip.number
            #expect(tip == (extra == 0 ? UInt64(Bounds.continued) : nil))
            for case .refused(_, let refusal) in world.findings[1] { return refusal }
            return nil
        },
    ]

    /// An empty batch in so many segments.
    private static func segments(_ count: Int, of machine: Replica) throws -> [(name: ObjectName, bytes: Data)] {
        let epoch = try machine.keyring.keys(of: machine.ring.current)
        let bytes = Batch(
            writer: machine.writer, after: 0, through: 1, time: .zero, vector: VersionVector(), contexts: [],
            entries: []
        ).bytes
        var (previous, objects) = (ObjectHash.zero, [(name: ObjectName, bytes: Data)]())
        for index in 0..<count {
            let header = SegmentHeader(
                ring: machine.log.id, epoch: epoch.id, writer: machine.writer, number: UInt64(index + 1),
                previous: previous)
            let body = SegmentBody(
                continues: index < count - 1, author: machine.member, tips: machine.log.tips,
                piece: index == 0 ? bytes : [])
            let sealed = try body.sealed(header, keys: epoch, signer: machine.keys)
            previous = .hash(of: sealed)
            objects.append((.segment(machine.writer, header.number), sealed))
        }
        return objects
    }

    // MARK: - Snapshots

    private static func manifest(logs: Int = 0, parts: Int = 0, _ sample: Sample) -> SnapshotManifest {
        let tip = LogTip(author: sample.member, counter: 1, number: 1, hash: .zero)
        var manifest = SnapshotManifest(
            author: sample.member, tips: [], time: .zero, digest: .zero, count: 0,
            logs: Dictionary(uniqueKeysWithValues: (0..<logs).map { (WriterID(UInt64($0 + 1)), tip) }),
            parts: (0..<parts).map { _ in .zero })
        manifest.signature = Data(count: SigningKey.signatureLength)
        return manifest
    }

    static let manifests: [FormatBound] = [
        FormatBound(name: "parts of a snapshot") { extra in
            let bytes = manifest(parts: Bounds.parts + extra, Sample()).bytes
            return refusal { _ = try SnapshotManifest(bytes) }
        },
        FormatBound(name: "logs of a snapshot") { extra in
            let bytes = manifest(logs: Bounds.writers + extra, Sample()).bytes
            return refusal { _ = try SnapshotManifest(bytes) }
        },
    ]
}
