// SPDX-License-Identifier: Apache-2.0
// Seals the content of records, and opens it.

import Foundation
import KeychainCrypto

extension SealedRecord {
    /// Signs and seals the content of a write.
    ///
    /// The signature is inside, and does not contain the epoch. So it stays valid when another member moves the record
    /// to a snapshot or to the keys of a new epoch.
    package static func seal(
        _ content: [UInt8], _ header: RecordHeader, author: MemberID, ring: RingID, keys: EpochKeys, signer: DeviceKeys
    ) throws(Refusal) -> SealedRecord {
        guard content.count <= Bounds.item else { throw .tooLarge }
        guard let key = keys.classes[header.accessibility] else { throw .noKey }
        var message = Self.message(content, header, author, ring)
        defer { message.wipe() }
        let signature = try signer.signature(of: message)
        var plaintext = [UInt8](signature) + content
        defer { plaintext.wipe() }
        do {
            let sealed = try Sealing.sealWithOneTimeKey(
                plaintext, wrappingKey: key, keyContext: keyContext(header, ring, keys.id),
                context: context(header, ring))
            return SealedRecord(header: header, author: author, epoch: keys.id, sealed: sealed)
        } catch {
            throw .notAuthentic
        }
    }

    /// Opens the content, and checks that the author signed it.
    ///
    /// - Parameter keysOfAuthor: `nil` if the signature was checked before.
    package func open(ring: RingID, keys: EpochKeys, author keysOfAuthor: PublicKeys?) throws(Refusal) -> [UInt8] {
        guard keys.id == epoch, let key = keys.classes[header.accessibility] else { throw .noKey }
        var plaintext: Data
        do {
            plaintext = try Sealing.openWithOneTimeKey(
                sealed, wrappingKey: key, keyContext: Self.keyContext(header, ring, epoch),
                context: Self.context(header, ring))
        } catch {
            throw .notAuthentic
        }
        defer { plaintext.wipe() }
        guard plaintext.count >= SigningKey.signatureLength else { throw .malformed }
        let content = [UInt8](plaintext.dropFirst(SigningKey.signatureLength))
        guard header.kind == .value || content.isEmpty else { throw .malformed }
        guard let keysOfAuthor else { return content }
        var message = Self.message(content, header, author, ring)
        defer { message.wipe() }
        try keysOfAuthor.hasSigned(message, Data(plaintext.prefix(SigningKey.signatureLength)))
        return content
    }

    /// The same record under the keys of another epoch. Its content is not decrypted or encrypted again.
    package func moved(from old: EpochKeys, to new: EpochKeys, ring: RingID) throws(Refusal) -> SealedRecord {
        if old.id == new.id { return self }
        guard old.id == epoch, let oldKey = old.classes[header.accessibility],
            let newKey = new.classes[header.accessibility]
        else { throw .noKey }
        do {
            let moved = try Sealing.rewrap(
                sealed, from: oldKey, Self.keyContext(header, ring, old.id),
                to: newKey, Self.keyContext(header, ring, new.id))
            return SealedRecord(header: header, author: author, epoch: new.id, sealed: moved)
        } catch {
            throw .notAuthentic
        }
    }

    /// - Returns: Bytes to wipe after use.
    private static func message(_ content: [UInt8], _ header: RecordHeader, _ author: MemberID, _ ring: RingID)
        -> [UInt8]
    {
        // The content is copied once.
        SignedMessage.bytes("record", header.bytes(of: ring) + author.bytes) + content
    }

    /// The associated data of the content, independent of the epoch.
    private static func context(_ header: RecordHeader, _ ring: RingID) -> [UInt8] {
        Array("KREC".utf8) + [ObjectKind.format, ObjectKind.suite] + header.bytes(of: ring)
    }

    /// The associated data of its key.
    private static func keyContext(_ header: RecordHeader, _ ring: RingID, _ epoch: EpochID) -> [UInt8] {
        var writer = ByteWriter(capacity: 160)
        writer.append("KREK")
        writer.append(ObjectKind.format)
        writer.append(ObjectKind.suite)
        epoch.write(to: &writer)
        writer.append(header.bytes(of: ring))
        return writer.bytes
    }
}
