// SPDX-License-Identifier: Apache-2.0
// What the vectors of `Tests/Vectors/sync.json` say, computed by this implementation.

import Foundation
import KeychainCrypto
import SecretMemory

@testable import KeychainSyncCore

/// A fixed fact about the formats of sync.
struct SyncVector {
    let name: String
    let primitive: String
    let input: [String: String]
    let expected: [String: String]

    static func all() throws -> [SyncVector] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = try Data(contentsOf: tests.appending(path: "Vectors/sync.json"))
        let content = try JSONDecoder().decode(File.self, from: file)
        return content.vectors.map {
            SyncVector(name: $0.name, primitive: $0.primitive, input: $0.input, expected: $0.expect)
        }
    }

    private struct File: Decodable {
        struct Entry: Decodable {
            let name: String
            let primitive: String
            let input: [String: String]
            let expect: [String: String]
        }

        let about: String
        let vectors: [Entry]
    }

    /// What is unknown or missing in a vector.
    struct Incomplete: Error {}

    func evaluate() throws -> [String: String] {
        switch primitive {
        case "bucket": return ["bucket": "\(ObjectPadding.bucket(try number("length")))"]
        case "member": return try member()
        case "epochKeys": return try epochKeys()
        case "ringKeys": return try ringKeys()
        case "entry": return try entry()
        case "wrap": return try wrap()
        case "record": return try record()
        case "batch": return try batch()
        case "segment": return try segment()
        case "snapshot": return try snapshot()
        case "head": return try head()
        case "invitation": return try invitation()
        case "compare": return try compare()
        default: throw Incomplete()
        }
    }

    // MARK: - Input

    private func bytes(_ name: String) throws -> [UInt8] {
        guard let text = input[name] else { throw Incomplete() }
        return [UInt8](Data(hex: text))
    }

    private func number(_ name: String) throws -> Int {
        guard let number = input[name].flatMap({ Int($0) }) else { throw Incomplete() }
        return number
    }

    private func secret(_ name: String) throws -> SecretBytes { SecretBytes(hex: try bytes(name).hex) }

    private func ring() throws -> RingID { RingID(try bytes("ring")) }

    private func epochID() throws -> EpochID {
        EpochID(number: UInt32(try number("epochNumber")), entry: Bytes16(try bytes("epochEntry")))
    }

    private func epoch() throws -> EpochKeys {
        EpochKeys(root: try secret("root"), ring: try ring(), id: try epochID())
    }

    private func keyring() throws -> Keyring {
        var keyring = Keyring(ring: RingKeys(secret: .random(count: 32), ring: try ring()))
        keyring.add(try epoch(), root: nil)
        return keyring
    }

    private func device() throws -> DeviceKeys {
        DeviceKeys(signing: try secret("signing"), wrapping: try secret("wrapping"))
    }

    // MARK: - Primitives

    private func member() throws -> [String: String] {
        let keys = try device().publicKeys()
        return [
            "signing": [UInt8](keys.signing).hex, "wrappingSHA256": ObjectHash.hash(of: keys.wrapping).hex,
            "member": keys.member.hex,
        ]
    }

    private func epochKeys() throws -> [String: String] {
        let (keys, root) = (try epoch(), try secret("root"))
        var result = ["transport": keys.transport.hex, "commitment": EpochKeys.commitment(to: root).hex]
        for (name, key) in keys.classes { result["class \(name)"] = key.hex }
        return result
    }

    private func ringKeys() throws -> [String: String] {
        let keys = RingKeys(secret: try secret("secret"), ring: try ring())
        let item = keys.item(try bytes("primaryKey"))
        let dot = Dot(writer: WriterID(7), counter: 9)
        return [
            "log": keys.log.hex, "item": item.hex, "sum of writer 7, counter 9": [UInt8](keys.sum(item, dot).bytes).hex,
        ]
    }

    private func entry() throws -> [String: String] {
        let keys = RingKeys(secret: try secret("secret"), ring: try ring())
        let entry = try RingEntry.open(Data(try bytes("object")), with: keys)
        let founding = input["founding"].map { Data(hex: $0) }
        let log = try RingLog(founding: founding.map { try RingEntry.open($0, with: keys) } ?? entry)
        var whole = log
        let refused = whole.insert([entry])
        return [
            "hash": entry.hash.hex, "author": entry.author.hex, "kind": "\(entry.action.kind)",
            "parents": entry.parents.map(\.hex).joined(separator: " "),
            "bytesSHA256": ObjectHash.hash(of: Data(entry.bytes)).hex,
            "counts": refused.isEmpty && whole.ring.counted.contains(entry.hash) ? "yes" : "no",
        ]
    }

    private func wrap() throws -> [String: String] {
        let wrap = try KeyWrap(Data(try bytes("object")))
        let (root, secret) = try wrap.open(with: try device().wrapping)
        let author = DeviceKeys(signing: try self.secret("authorSigning"), wrapping: try self.secret("authorWrapping"))
        try wrap.check(by: author.publicKeys())
        return ["root": root.hex, "secret": secret.hex, "recipient": wrap.recipient.hex, "author": wrap.author.hex]
    }

    private func records(_ records: [SealedRecord], _ result: inout [String: String]) throws {
        let keys = try device().publicKeys()
        for (index, record) in records.enumerated() {
            let header = record.header
            let content = try record.open(ring: ring(), keys: epoch(), author: keys)
            result["record \(index + 1)"] =
                "\(header.kind) \(header.item.hex) \(header.dot.writer.hex) \(header.dot.counter) "
                + "\(header.time.number) \(header.accessibility) \(header.context.hex) \(content.hex)"
        }
    }

    private func record() throws -> [String: String] {
        let header = RecordHeader(
            kind: .value, item: SyncID(try bytes("item")),
            dot: Dot(writer: WriterID(UInt64(try number("writer"))), counter: UInt64(try number("counter"))),
            time: HybridTime(UInt64(try number("time"))), accessibility: UInt8(try number("class")),
            context: Bytes32(try bytes("context")))
        let keys = try device().publicKeys()
        let record = SealedRecord(
            header: header, author: keys.member, epoch: try epochID(), sealed: Data(try bytes("sealed")))
        let content = try record.open(ring: ring(), keys: epoch(), author: keys)
        return ["header": header.bytes(of: try ring()).hex, "content": content.hex]
    }

    private func batch() throws -> [String: String] {
        let author = try device().publicKeys().member
        let batch = try Batch(
            try bytes("bytes"), writer: WriterID(UInt64(try number("writer"))), author: author, epoch: try epochID())
        var result = [
            "after": "\(batch.after)", "through": "\(batch.through)", "time": "\(batch.time.number)",
            "vector": text(batch.vector), "contexts": batch.contexts.map(text).joined(separator: " | "),
            "again": batch.bytes == (try bytes("bytes")) ? "same" : "different",
        ]
        try records(batch.entries.map(\.record), &result)
        return result
    }

    private func segment() throws -> [String: String] {
        let (header, body) = try SegmentBody.open(Data(try bytes("object")), in: keyring())
        try body.check(header, by: device().publicKeys())
        return [
            "writer": header.writer.hex, "number": "\(header.number)", "previous": header.previous.hex,
            "author": body.author.hex, "tips": body.tips.map(\.hex).joined(separator: " "),
            "continues": "\(body.continues)", "piece": body.piece.hex,
        ]
    }

    private func snapshot() throws -> [String: String] {
        let (header, manifest) = try SnapshotManifest.open(Data(try bytes("manifest")), in: keyring())
        try manifest.check(header, by: device().publicKeys())
        let piece = try SnapshotRecords.open(
            Data(try bytes("part")), part: 1, of: manifest, header, in: keyring())
        var result = [
            "id": header.id.hex, "time": "\(manifest.time.number)", "digest": manifest.digest.hex,
            "count": "\(manifest.count)", "vector": text(manifest.vector),
        ]
        try records(SnapshotRecords.read(piece, manifest, epoch: header.epoch), &result)
        return result
    }

    private func head() throws -> [String: String] {
        let (header, head) = try Head.open(Data(try bytes("object")), in: keyring())
        try head.check(header, by: device().publicKeys())
        return [
            "member": header.member.hex, "number": "\(header.number)", "previous": head.previous.hex,
            "time": "\(head.time.number)", "digest": head.digest.hex, "count": "\(head.count)",
            "vector": text(head.vector),
        ]
    }

    private func invitation() throws -> [String: String] {
        guard let code = InvitationCode.read(SecretBytes(text: input["code"] ?? "")) else { throw Incomplete() }
        let keys = InvitationKeys(code: code)
        let offer = try InvitationOffer(Data(try bytes("offer")), authenticatedBy: keys.inviter)
        let request = try JoinRequest(Data(try bytes("request")), authenticatedBy: keys.joiner)
        return [
            "name": ObjectName.invitation(keys.id).text, "ring": offer.ring.hex,
            "tips": offer.tips.map(\.hex).joined(separator: " "), "nonce": offer.nonce.hex,
            "member": request.keys.member.hex, "invitation": request.invitation.hex,
        ]
    }

    private func compare() throws -> [String: String] {
        let vector = VersionVector([WriterID(1): 2, WriterID(3): 4])
        return [
            "code": CompareCode.text(
                try ring(), tips: [try ring()], vector: vector, digest: Bytes32(try bytes("digest")))
        ]
    }

    private func text(_ vector: VersionVector) -> String {
        vector.sorted.map { "\($0.writer.hex):\($0.counter)" }.joined(separator: " ")
    }
}

extension SecretBytes {
    fileprivate var hex: String { withUnsafeBytes { Array($0).hex } }
}
