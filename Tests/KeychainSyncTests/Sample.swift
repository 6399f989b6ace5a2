// SPDX-License-Identifier: Apache-2.0
// A ring of one member, and things of it.

import Foundation
import KeychainCrypto
import SecretMemory

@testable import KeychainSyncCore

struct Sample: Sendable {
    let keys = DeviceKeys.make()
    let publicKeys: PublicKeys
    let log: RingLog
    let ringKeys: RingKeys
    let change: RingChange
    let writer = WriterID(0x1122_3344_5566_7788)

    init() {
        do {
            publicKeys = try keys.publicKeys()
            (log, ringKeys, change) = try RingLog.found(name: "laptop", keys: keys)
        } catch {
            fatalError("no sample: \(error)")
        }
    }

    var member: MemberID { publicKeys.member }
    var epoch: EpochKeys { change.keys }

    var keyring: Keyring {
        var keyring = Keyring(ring: ringKeys)
        keyring.add(epoch, root: change.root)
        return keyring
    }

    var segmentHeader: SegmentHeader {
        SegmentHeader(ring: log.id, epoch: epoch.id, writer: writer, number: 1, previous: .zero)
    }

    func record(
        _ name: String, counter: UInt64, kind: RecordHeader.Kind = .value, context: VersionVector = VersionVector(),
        content: [UInt8] = [UInt8](repeating: 5, count: 320)
    ) throws -> SealedRecord {
        let header = RecordHeader(
            kind: kind, item: ringKeys.item(Array(name.utf8)), dot: Dot(writer: writer, counter: counter),
            time: HybridTime(milliseconds: 1000 + counter), accessibility: kind == .value ? 6 : 8,
            context: RecordHeader.digest(of: context))
        return try SealedRecord.seal(
            kind == .value ? content : [], header, author: member, ring: log.id, keys: epoch, signer: keys)
    }

    /// Of the counters 5 to 7, after 4.
    func batch(values: Int = 2) throws -> Batch {
        let vector = VersionVector([WriterID(1): 4, WriterID(2): 9])
        let contexts = values == 1 ? [vector] : [vector, VersionVector([WriterID(2): 8])]
        var entries = [Batch.Entry(record: try record("a", counter: 5, context: contexts[0]), context: 0)]
        if values > 1 {
            entries.append(.init(record: try record("b", counter: 6, context: contexts[1]), context: 1))
            entries.append(
                .init(record: try record("c", counter: 7, kind: .deletion, context: contexts[1]), context: 1))
        }
        return Batch(
            writer: writer, after: 4, through: values == 1 ? 5 : 7, time: HybridTime(milliseconds: 2000),
            vector: vector,
            contexts: contexts, entries: entries.filter { values > 1 || $0.context == 0 })
    }

    /// Everything that reads bytes.
    var decoders: [@Sendable ([UInt8]) throws -> Void] {
        [
            { _ = try Batch($0, writer: writer, author: member, epoch: epoch.id) },
            { _ = try SegmentBody($0) }, { _ = try SnapshotManifest($0) },
            { _ = try Head($0) }, { _ = try RingEntry($0) },
            { _ = try KeyWrap(Data($0)) }, { _ = try SegmentBody.open(Data($0), in: keyring) },
            { _ = try RingEntry.open(Data($0), with: ringKeys) }, { _ = try Head.open(Data($0), in: keyring) },
            { _ = try SegmentHeader.read(Data($0), ring: log.id) },
        ]
    }
}

/// What a call was refused with.
func refusal(_ body: () throws -> Void) -> Refusal? {
    do {
        try body()
        return nil
    } catch {
        return error as? Refusal
    }
}
