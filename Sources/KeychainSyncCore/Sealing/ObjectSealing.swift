// SPDX-License-Identifier: Apache-2.0
// Seals objects for the carrier. The clear header is authenticated with the rest.

package import Foundation
import KeychainCrypto
import SecretMemory

package enum ObjectSealing {
    static func seal(_ body: [UInt8], after header: [UInt8], with key: SecretBytes) throws(Refusal) -> Data {
        let around = header.count + Sealing.overhead
        guard around + 4 + body.count <= Bounds.object else { throw .tooLarge }
        var padded = ObjectPadding.pad(body, around: around)
        defer { padded.wipe() }
        do {
            return Data(header) + (try Sealing.seal(padded, with: key, context: header))
        } catch {
            throw .notAuthentic
        }
    }

    /// - Parameter reader: The bytes read so far are the header.
    static func open(_ reader: inout ByteReader, with key: SecretBytes) throws(Refusal) -> [UInt8] {
        let header = reader.prefix
        let sealed = try reader.data(reader.rest)
        var padded: Data
        do {
            padded = try Sealing.openBytes(sealed, with: key, context: header)
        } catch {
            throw .notAuthentic
        }
        defer { padded.wipe() }
        return try ObjectPadding.unpad([UInt8](padded), around: header.count + Sealing.overhead)
    }

    /// A reader for an object as it was found, after checking its size.
    static func reader(_ bytes: Data) throws(Refusal) -> ByteReader {
        guard bytes.count <= Bounds.object else { throw .tooLarge }
        return ByteReader(bytes)
    }
}

extension SegmentBody {
    /// Signs and seals a segment.
    package func sealed(_ header: SegmentHeader, keys: EpochKeys, signer: DeviceKeys) throws(Refusal) -> Data {
        var signed = self
        signed.signature = try signer.signature(of: message(header))
        return try ObjectSealing.seal(signed.bytes, after: header.bytes, with: keys.transport)
    }

    /// Opens a segment. Its signature is not checked: see ``check(_:by:)``.
    package static func open(_ bytes: Data, in keyring: Keyring) throws(Refusal) -> (SegmentHeader, SegmentBody) {
        var reader = try ObjectSealing.reader(bytes)
        let header = try SegmentHeader(from: &reader, ring: keyring.ring.ring)
        let keys = try keyring.keys(of: header.epoch)
        return (header, try SegmentBody(try ObjectSealing.open(&reader, with: keys.transport)))
    }

    package func check(_ header: SegmentHeader, by keys: PublicKeys) throws(Refusal) {
        try keys.hasSigned(message(header), signature)
    }
}

extension SegmentHeader {
    /// The clear fields of a segment, for a reader without the key of its epoch.
    package static func read(_ bytes: Data, ring: RingID) throws(Refusal) -> SegmentHeader {
        guard bytes.count <= Bounds.object else { throw .tooLarge }
        var reader = ByteReader(Data(bytes.prefix(length)))
        return try SegmentHeader(from: &reader, ring: ring)
    }
}

extension SnapshotManifest {
    package func signed(_ header: SnapshotHeader, by signer: DeviceKeys) throws(Refusal) -> SnapshotManifest {
        var signed = self
        signed.signature = try signer.signature(of: message(header))
        return signed
    }

    package func sealed(_ header: SnapshotHeader, keys: EpochKeys) throws(Refusal) -> Data {
        try ObjectSealing.seal(bytes, after: header.bytes, with: keys.transport)
    }

    /// Opens a manifest. Its signature is not checked: see ``check(_:by:)``.
    package static func open(_ bytes: Data, in keyring: Keyring) throws(Refusal) -> (SnapshotHeader, SnapshotManifest) {
        var reader = try ObjectSealing.reader(bytes)
        let header = try SnapshotHeader(from: &reader, ring: keyring.ring.ring, isPart: false)
        let keys = try keyring.keys(of: header.epoch)
        return (header, try SnapshotManifest(try ObjectSealing.open(&reader, with: keys.transport)))
    }

    package func check(_ header: SnapshotHeader, by keys: PublicKeys) throws(Refusal) {
        try keys.hasSigned(message(header), signature)
    }
}

extension SnapshotRecords {
    package static func sealed(_ piece: [UInt8], _ header: SnapshotHeader, keys: EpochKeys) throws(Refusal) -> Data {
        try ObjectSealing.seal(piece, after: header.bytes, with: keys.transport)
    }

    /// Opens a part, whose hash the manifest names.
    package static func open(
        _ bytes: Data, part: Int, of manifest: SnapshotManifest, _ snapshot: SnapshotHeader, in keyring: Keyring
    ) throws(Refusal) -> [UInt8] {
        var reader = try ObjectSealing.reader(bytes)
        let header = try SnapshotHeader(from: &reader, ring: snapshot.ring, isPart: true)
        guard header.epoch == snapshot.epoch, header.id == snapshot.id, header.part.map(Int.init) == part,
            (1...max(1, manifest.parts.count)).contains(part), part <= manifest.parts.count,
            manifest.parts[part - 1] == ObjectHash.hash(of: bytes)
        else { throw .notAuthentic }
        return try ObjectSealing.open(&reader, with: try keyring.keys(of: header.epoch).transport)
    }
}

extension HeadHeader {
    /// What a head says in clear.
    static func epoch(of bytes: Data, _ ring: RingID) -> EpochID? {
        var reader = ByteReader(Data(bytes.prefix(length)))
        return try? HeadHeader(from: &reader, ring: ring).epoch
    }
}

extension Head {
    package func sealed(_ header: HeadHeader, keys: EpochKeys, signer: DeviceKeys) throws(Refusal) -> Data {
        var signed = self
        signed.signature = try signer.signature(of: message(header))
        return try ObjectSealing.seal(signed.bytes, after: header.bytes, with: keys.transport)
    }

    /// Opens a head. Its signature is not checked: see ``check(_:by:)``.
    package static func open(_ bytes: Data, in keyring: Keyring) throws(Refusal) -> (HeadHeader, Head) {
        var reader = try ObjectSealing.reader(bytes)
        let header = try HeadHeader(from: &reader, ring: keyring.ring.ring)
        let keys = try keyring.keys(of: header.epoch)
        return (header, try Head(try ObjectSealing.open(&reader, with: keys.transport)))
    }

    package func check(_ header: HeadHeader, by keys: PublicKeys) throws(Refusal) {
        try keys.hasSigned(message(header), signature)
    }
}
