// SPDX-License-Identifier: Apache-2.0
// What lies on a carrier, and what a machine stores of its ring: what is read is written again byte by byte.

import Foundation
import SecretMemory

@testable import KeychainCrypto
@testable import KeychainSyncCore

enum SyncObjects {
    private static let device = DeviceKeys(signing: key(1), wrapping: key(2))
    private static let ring = RingID(repeatElement(7, count: 32))
    private static let ringKeys = RingKeys(secret: key(3), ring: ring)
    private static let epoch = EpochID(number: 1, entry: Bytes16(repeatElement(8, count: 16)))
    private static let member = MemberID(repeatElement(9, count: 16))
    private static let writer = WriterID(5)

    private static func key(_ byte: UInt8) -> SecretBytes { Data(repeating: byte, count: 32).secret }

    /// An entry of the ring log: in clear, and sealed with the right key.
    static func entry(_ bytes: Data) {
        require((try? RingEntry.open(bytes, with: ringKeys)) == nil, "no entry opens that was not sealed")
        guard let entry = try? RingEntry([UInt8](bytes)) else { return }
        require(Data(entry.bytes) == bytes, "an entry has one spelling")
        require((try? RingEntry(entry.bytes))?.hash == entry.hash, "an entry has one hash")
        if let sealed = try? entry.sealed(with: ringKeys) {
            let opened = try? RingEntry.open(sealed, with: ringKeys)
            require(opened == nil || opened == entry, "an entry opens as what was sealed")
        }
        guard var log = try? RingLog(founding: entry) else { return }
        log.insert([entry])
        require(log.tips == [entry.hash], "a log with one entry ends with it")
    }

    /// The header behind the ring that is expected, the body, and the batch behind the counters.
    static func segment(_ bytes: Data) {
        let head = withHeader(.segment, bytes)
        var reader = ByteReader(head)
        if let header = try? SegmentHeader(from: &reader, ring: ring) {
            require(header.bytes == [UInt8](head.prefix(SegmentHeader.length)), "a header has one spelling")
        }
        if let body = try? SegmentBody([UInt8](bytes)) {
            require(Data(body.bytes) == bytes, "a body has one spelling")
        }
        if let batch = try? Batch([UInt8](bytes), writer: writer, author: member, epoch: epoch) {
            require(Data(batch.bytes) == bytes, "a batch has one spelling")
            for entry in batch.entries {
                let context = batch.context(of: entry)
                require(batch.coverage.covers(context), "a batch covers what its entries had seen")
            }
        }
        require((try? SegmentBody.open(bytes, in: keyring)) == nil, "no segment opens that was not sealed")
    }

    static func snapshot(_ bytes: Data) {
        for (kind, isPart) in [(ObjectKind.snapshot, false), (.snapshotPart, true)] {
            let head = withHeader(kind, bytes)
            var reader = ByteReader(head)
            if let header = try? SnapshotHeader(from: &reader, ring: ring, isPart: isPart) {
                require(header.bytes == [UInt8](head.prefix(header.length)), "a header has one spelling")
            }
        }
        if let manifest = try? SnapshotManifest([UInt8](bytes)) {
            require(Data(manifest.bytes) == bytes, "a manifest has one spelling")
        }
        require((try? SnapshotManifest.open(bytes, in: keyring)) == nil, "no snapshot opens that was not sealed")
        records(bytes)
    }

    /// The records behind a manifest that says what the first byte says.
    private static func records(_ bytes: Data) {
        guard let count = bytes.first else { return }
        let content = [UInt8](bytes.dropFirst())
        let tip = LogTip(author: member, counter: Bounds.number, number: 1, hash: .zero)
        let manifest = SnapshotManifest(
            author: member, tips: [], time: HybridTime(0), digest: .zero, count: UInt32(count),
            logs: [writer: tip, WriterID(0): tip], parts: [])
        guard let records = try? SnapshotRecords.read(content, manifest, epoch: epoch) else { return }
        require(records.count == Int(count), "a snapshot has as many records as it says")
        require(SnapshotRecords.bytes(records) == content, "records have one spelling")
    }

    static func head(_ bytes: Data) {
        let whole = withHeader(.head, bytes)
        var reader = ByteReader(whole)
        if let header = try? HeadHeader(from: &reader, ring: ring) {
            require(header.bytes == [UInt8](whole.prefix(HeadHeader.length)), "a header has one spelling")
        }
        if let head = try? KeychainSyncCore.Head([UInt8](bytes)) {
            require(Data(head.bytes) == bytes, "a head has one spelling")
        }
        require((try? KeychainSyncCore.Head.open(bytes, in: keyring)) == nil, "no head opens that was not sealed")
    }

    static func wrap(_ bytes: Data) {
        for bytes in [bytes, withHeader(.wrap, bytes)] {
            guard let wrap = try? KeyWrap(bytes) else { continue }
            require(wrap.bytes == bytes, "a wrap has one spelling")
            require((try? wrap.open(with: device.wrapping)) == nil, "no wrap opens that was not sealed")
            if let keys = try? device.publicKeys() { require((try? wrap.check(by: keys)) == nil, "nobody signed it") }
        }
    }

    /// Both messages, with the right code at their end; and an invitation as it is stored.
    static func joining(_ bytes: Data) {
        let inviter = key(4)
        func code(_ content: Data) -> Data { content + Authentication.code(for: [UInt8](content), key: inviter) }
        require((try? InvitationOffer(bytes, authenticatedBy: inviter)) == nil, "nobody vouches for it")
        let offer = code(withHeader(.invitation, bytes))
        if let read = try? InvitationOffer(offer, authenticatedBy: inviter) {
            require(read.bytes(authenticatedBy: inviter) == offer, "an offer has one spelling")
        }
        let request = code(withHeader(.request, bytes))
        if let read = try? JoinRequest(request, authenticatedBy: inviter) {
            require(read.bytes(authenticatedBy: inviter) == request, "a request has one spelling")
        }
        guard let invitation = try? Invitation(stored: bytes) else { return }
        let stored = invitation.bytes().data
        // The members that it has let in are a set.
        guard let again = try? Invitation(stored: stored) else { fatalError("an invitation is read again") }
        require(again.bytes().data == stored, "an invitation is stored as it was")
        require(again.objectName == invitation.objectName, "an invitation lies where it lay")
    }

    static func name(_ bytes: Data) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let name = ObjectName(text) else { return }
        require(name.text == text, "a name has one spelling")
        require(!(name < name), "a name does not come before itself")
        guard case .wrap = name else { return }
        require((try? PartName(PartName.wrap(name).bytes)) == .wrap(name), "a part has its name")
    }

    private static func withHeader(_ kind: ObjectKind, _ bytes: Data) -> Data { kind.header(of: ring).data + bytes }

    private static let keyring: Keyring = {
        var keyring = Keyring(ring: ringKeys)
        let root = key(6)
        keyring.add(EpochKeys(root: root, ring: ring, id: epoch), root: root)
        return keyring
    }()

    // MARK: - The stored state

    /// A replica that has founded a ring, always the same one.
    private static let founded: (replica: Replica, parts: [PartName: Data]) = {
        let random = Randomness { $0.copyBytes(from: repeatElement(5, count: $0.count)) }
        guard let (replica, _) = try? Replica.founding(name: "a", keys: device, random) else {
            fatalError("a ring is founded")
        }
        return (replica, replica.changes(since: nil).written)
    }()

    /// The first bytes name a part; the rest is its content, in place of the one that the replica has or beside the others.
    static func stored(_ bytes: Data) {
        if let keys = try? StoredKeys([UInt8](bytes)) {
            let again = try? StoredKeys(keys.bytes().bytes)
            require(again?.keyring.roots.keys == keys.keyring.roots.keys, "keys are stored as they were")
            require(again?.former.map(\.member) == keys.former.map(\.member), "former keys are stored as they were")
        }
        var input = FuzzInput(bytes)
        let nameBytes = input.bytes()
        guard let name = try? PartName(nameBytes) else { return }
        require(name.bytes == nameBytes, "a part has one name")
        var parts = founded.parts
        // The beginning of the core is right, or nothing behind it would ever be read.
        parts[name] = name == .core ? Data([1]) + founded.replica.log.id.bytes + input.rest : input.rest
        guard let replica = restored(parts) else { return }
        let stored = replica.changes(since: nil).written
        guard let again = restored(stored) else { fatalError("what is stored is read again") }
        require(again.changes(since: nil).written == stored, "a replica is stored as it was")
        require(again.changes(since: replica).isEmpty, "nothing has changed")
    }

    private static func restored(_ parts: [PartName: Data]) -> Replica? {
        try? Replica(stored: parts, keys: device, keyring: founded.replica.keyring)
    }
}
