// SPDX-License-Identifier: Apache-2.0
// Formats: written objects can be read again; other objects are rejected.

import Foundation
import KeychainCrypto
import SecretMemory
import SyncSimulation
import Testing

@testable import KeychainSyncCore

struct CodecTests {
    private let sample = Sample()

    @Test func vector_encodedAndDecoded_isTheSame() throws {
        let vector = VersionVector([WriterID(3): 7, WriterID(1): Bounds.number, WriterID(2): 0])
        var reader = ByteReader(vector.bytes)
        #expect(try VersionVector(from: &reader) == vector)
        #expect(vector.counters.count == 2)
    }

    @Test func vector_outOfOrderOrTwiceOrZero_isRefused() {
        for writers: [(UInt64, UInt64)] in [[(2, 1), (1, 1)], [(1, 1), (1, 2)], [(1, 0)]] {
            var writer = ByteWriter(capacity: 64)
            writer.append(bigEndian: UInt16(writers.count))
            for (id, counter) in writers {
                writer.append(bigEndian: id)
                writer.append(bigEndian: counter)
            }
            var reader = ByteReader(writer.bytes)
            #expect(throws: Refusal.malformed) { try VersionVector(from: &reader) }
        }
    }

    @Test func vector_ofMoreWritersThanTheBound_isRefusedBeforeItIsRead() {
        var reader = ByteReader([0x10, 0x01])
        #expect(throws: Refusal.tooLarge) { try VersionVector(from: &reader) }
        reader = ByteReader([0x10, 0x00])
        #expect(throws: Refusal.malformed) { try VersionVector(from: &reader) }
    }

    @Test func batch_encodedAndDecoded_isTheSame() throws {
        let batch = try sample.batch()
        #expect(try Batch(batch.bytes, writer: sample.writer, author: sample.member, epoch: sample.epoch.id) == batch)
    }

    @Test func batch_cutAnywhere_isRefused() throws {
        let bytes = try sample.batch().bytes
        for count in 0..<bytes.count {
            #expect(throws: Refusal.self) {
                try Batch(
                    Array(bytes.prefix(count)), writer: sample.writer, author: sample.member, epoch: sample.epoch.id)
            }
        }
    }

    @Test func batch_withACounterOutsideOfItsRange_isRefused() throws {
        let batch = try sample.batch()
        for (after, through) in [(UInt64(0), UInt64(5)), (5, 7), (4, 4), (6, 3)] {
            let wrong = Batch(
                writer: batch.writer, after: after, through: through, time: batch.time, vector: batch.vector,
                contexts: batch.contexts, entries: batch.entries)
            let refusal = refusal {
                _ = try Batch(wrong.bytes, writer: batch.writer, author: sample.member, epoch: sample.epoch.id)
            }
            #expect(refusal == .malformed, "after \(after), through \(through)")
        }
    }

    @Test func segment_sealedAndOpened_isTheSame() throws {
        let (header, body) = (
            sample.segmentHeader,
            SegmentBody(continues: false, author: sample.member, tips: sample.log.tips, piece: try sample.batch().bytes)
        )
        let sealed = try body.sealed(header, keys: sample.epoch, signer: sample.keys)
        let (readHeader, readBody) = try SegmentBody.open(sealed, in: sample.keyring)
        #expect(readHeader == header)
        #expect(readBody.piece == body.piece)
        try readBody.check(readHeader, by: sample.publicKeys)
        #expect(throws: Refusal.badSignature) {
            try readBody.check(readHeader, by: DeviceKeys.make().publicKeys())
        }
    }

    @Test func segment_ofOneSmallChange_isOneKibibyte() throws {
        let body = SegmentBody(
            continues: false, author: sample.member, tips: sample.log.tips, piece: try sample.batch(values: 1).bytes)
        #expect(try body.sealed(sample.segmentHeader, keys: sample.epoch, signer: sample.keys).count == 1024)
    }

    /// Attack: flip each byte.
    @Test func segment_withAnyByteChanged_isRefused() throws {
        let body = SegmentBody(continues: false, author: sample.member, tips: [], piece: [1, 2, 3])
        let sealed = try body.sealed(sample.segmentHeader, keys: sample.epoch, signer: sample.keys)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: Refusal.self) { try SegmentBody.open(changed, in: sample.keyring) }
        }
    }

    @Test func object_ofANewerFormatOrSuite_isToldFromDamage() throws {
        var sealed = try SegmentBody(continues: false, author: sample.member, tips: [], piece: [])
            .sealed(sample.segmentHeader, keys: sample.epoch, signer: sample.keys)
        sealed[4] = 2
        #expect(throws: Refusal.newerFormat) { try SegmentBody.open(sealed, in: sample.keyring) }
        sealed[4] = 0
        #expect(throws: Refusal.malformed) { try SegmentBody.open(sealed, in: sample.keyring) }
        sealed[4] = 1
        sealed[5] = 2
        #expect(throws: Refusal.newerFormat) { try SegmentBody.open(sealed, in: sample.keyring) }
    }

    /// Attack: a huge object.
    @Test func object_aboveTheBound_isRefusedUnread() {
        let huge = Data(count: Bounds.object + 1)
        #expect(throws: Refusal.tooLarge) { try SegmentBody.open(huge, in: sample.keyring) }
        #expect(throws: Refusal.tooLarge) { try SegmentHeader.read(huge, ring: sample.log.id) }
        #expect(throws: Refusal.tooLarge) { try Head.open(huge, in: sample.keyring) }
        #expect(throws: Refusal.tooLarge) { try SnapshotManifest.open(huge, in: sample.keyring) }
        #expect(throws: Refusal.tooLarge) { try RingEntry.open(huge, with: sample.keyring.ring) }
        #expect(throws: Refusal.tooLarge) { try KeyWrap(huge) }
    }

    @Test func largestPiece_isSealed_andOneByteMoreIsNot() throws {
        let room = SegmentBody.room(tips: 1)
        for (extra, expected) in [(0, Refusal?.none), (1, .tooLarge)] {
            let body = SegmentBody(
                continues: true, author: sample.member, tips: sample.log.tips,
                piece: [UInt8](repeating: 7, count: room + extra))
            let refusal = refusal {
                _ = try body.sealed(sample.segmentHeader, keys: sample.epoch, signer: sample.keys)
            }
            #expect(refusal == expected)
        }
    }

    @Test func snapshot_sealedAndOpened_isTheSame() throws {
        let id = SnapshotID.random()
        let records = try sample.batch().entries.map(\.record).filter { $0.header.kind == .value }
        let pieces = SnapshotRecords.pieces(records)
        let partHeader = SnapshotHeader(ring: sample.log.id, epoch: sample.epoch.id, id: id, part: 1)
        let sealed = try SnapshotRecords.sealed(pieces[0], partHeader, keys: sample.epoch)
        let logs = [sample.writer: LogTip(author: sample.member, counter: 9, number: 2, hash: .hash(of: Data([1])))]
        let manifest = SnapshotManifest(
            author: sample.member, tips: sample.log.tips, time: HybridTime(5), digest: .zero, count: 2, logs: logs,
            parts: [.hash(of: sealed)])
        let header = SnapshotHeader(ring: sample.log.id, epoch: sample.epoch.id, id: id)
        let (readHeader, read) = try SnapshotManifest.open(
            manifest.signed(header, by: sample.keys).sealed(header, keys: sample.epoch), in: sample.keyring)
        try read.check(readHeader, by: sample.publicKeys)
        #expect(read.logs == logs)
        let piece = try SnapshotRecords.open(sealed, part: 1, of: read, header, in: sample.keyring)
        #expect(try SnapshotRecords.read(piece, read, epoch: sample.epoch.id) == records)
        var changed = sealed
        changed[changed.count - 1] ^= 1
        for (bytes, part) in [(changed, 1), (sealed, 0), (sealed, 2)] {
            #expect(throws: Refusal.notAuthentic) {
                try SnapshotRecords.open(bytes, part: part, of: read, header, in: sample.keyring)
            }
        }
        for cut in stride(from: 0, to: piece.count, by: 13) {
            #expect(throws: Refusal.malformed) {
                try SnapshotRecords.read(Array(piece.prefix(cut)), read, epoch: sample.epoch.id)
            }
        }
    }

    @Test func head_sealedAndOpened_isTheSame() throws {
        let header = HeadHeader(ring: sample.log.id, epoch: sample.epoch.id, member: sample.member, number: 3)
        let head = Head(
            previous: .hash(of: Data([2])), tips: sample.log.tips, time: HybridTime(7), digest: .zero, count: 4,
            vector: VersionVector([WriterID(1): 2]))
        let (readHeader, read) = try Head.open(
            head.sealed(header, keys: sample.epoch, signer: sample.keys), in: sample.keyring)
        #expect(readHeader == header)
        #expect(read.vector == head.vector)
        try read.check(readHeader, by: sample.publicKeys)
    }

    private static let objectNames = [
        "g/\(String(repeating: "ab", count: 32))", "l/0000000000000001/00000000000000ff",
        "k/0000000000000001-\(String(repeating: "cd", count: 16))/\(String(repeating: "ef", count: 16))",
        "s/\(String(repeating: "01", count: 16))/0000000000000003",
        "h/\(String(repeating: "02", count: 16))/0000000000000001", "j/\(String(repeating: "03", count: 16))",
        "j/\(String(repeating: "04", count: 16))/\(String(repeating: "05", count: 16))",
    ]

    @Test(arguments: objectNames)
    func name_readAndWritten_isTheSame(_ text: String) {
        #expect(ObjectName(text)?.text == text)
    }

    /// There is one way to write a name: another one would be another file with the same object.
    @Test(arguments: objectNames)
    func name_withOneCharacterMoreOrLessOrAnother_isNoneOrAnotherOne(_ text: String) {
        let characters = Array(text)
        for place in characters.indices {
            var changed = characters
            changed.remove(at: place)
            #expect(ObjectName(String(changed)) == nil)
            for character in ["0", "g", "F", "-", "/", " ", "\0", "é"] as [Character] {
                changed = characters
                changed.insert(character, at: place)
                #expect(ObjectName(String(changed)) == nil)
                changed = characters
                changed[place] = character
                #expect(ObjectName(String(changed)).map { $0.text == String(changed) } ?? true)
            }
        }
        for end in ["0", "-", "/", "/0", "\0"] { #expect(ObjectName(text + end) == nil) }
    }

    @Test(arguments: [
        "", "/", "l", "l/", "l//", "l/0000000000000001", "l/1/1", "l/000000000000000A/0000000000000001", "x/00/00",
        "../l",
        "l/0000000000000001/0000000000000001/", "l/0000-000000000001/0000000000000001", "s/00/0000000000010000",
        "s/\(String(repeating: "01", count: 16))/0000000000010000", String(repeating: "l", count: 200),
    ])
    func name_thatNoObjectHas_isNone(_ text: String) { #expect(ObjectName(text) == nil) }

    @Test func randomBytes_inEveryDecoder_areRefused() {
        var random = SeededRandom(seed: 1)
        for length in 0..<600 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            for decode in sample.decoders { #expect(throws: Refusal.self) { try decode(bytes) } }
        }
    }
}
