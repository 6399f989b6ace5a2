// SPDX-License-Identifier: Apache-2.0
// Entries of the ring log on the carrier, and the keys of an epoch for one member.

package import Foundation
import KeychainCrypto
package import SecretMemory

extension RingEntry {
    /// - Throws: `tooLarge` if no entry can hold the action.
    package func signed(by keys: DeviceKeys) throws(Refusal) -> RingEntry {
        // The length of a longer one may not be a number of 16 bits.
        guard action.payload.count <= Bounds.entry else { throw .tooLarge }
        var copy = self
        copy.signature = try keys.signature(of: message)
        return copy
    }

    /// Members read all entries, also older ones, so the key belongs to the ring and not to an epoch.
    package func sealed(with keys: RingKeys) throws(Refusal) -> Data {
        guard bytes.count <= Bounds.entry else { throw .tooLarge }
        return try ObjectSealing.seal(bytes, after: ObjectKind.entry.header(of: keys.ring).bytes, with: keys.log)
    }

    /// Opens an entry. The log checks its signature, because it knows the author's keys.
    package static func open(_ sealed: Data, with keys: RingKeys) throws(Refusal) -> RingEntry {
        guard sealed.count <= 2 * Bounds.entry else { throw .tooLarge }
        var reader = ByteReader(sealed)
        try ObjectKind.entry.readHeader(&reader, of: keys.ring)
        let entry = try RingEntry(try ObjectSealing.open(&reader, with: keys.log))
        guard entry.ring == keys.ring || entry.hash == keys.ring else { throw .wrongRing }
        return entry
    }
}

/// The root key of an epoch and the ring key, wrapped for one member and signed by another.
package struct KeyWrap: Equatable, Sendable {
    package let ring: RingID
    package let epoch: EpochID
    package let recipient: MemberID
    package let author: MemberID
    let sealed: Data
    let signature: Data

    private static let sealedLength = HybridKey.sealedLength(64)

    private static func context(_ ring: RingID, _ epoch: EpochID, _ recipient: MemberID, _ author: MemberID)
        -> [UInt8]
    {
        var writer = ObjectKind.wrap.header(of: ring)
        epoch.write(to: &writer)
        recipient.write(to: &writer)
        author.write(to: &writer)
        return writer.bytes
    }

    private var unsigned: [UInt8] { Self.context(ring, epoch, recipient, author) + sealed }
    private var message: [UInt8] { SignedMessage.bytes("key wrap", unsigned) }
    package var bytes: Data { Data(unsigned) + signature }

    /// - Throws: `malformed` if nothing can be sealed to the recipient's keys, which it has chosen.
    package init(
        root: SecretBytes, epoch: EpochID, ring keys: RingKeys, to recipient: PublicKeys, from author: MemberID,
        signer: DeviceKeys
    ) throws(Refusal) {
        (ring, self.epoch, self.recipient, self.author) = (keys.ring, epoch, recipient.member, author)
        let context = Self.context(ring, epoch, self.recipient, author)
        do {
            sealed = try HybridKey.seal(.concatenating(root, keys.secret), to: recipient.wrapping, context: context)
        } catch {
            throw .malformed
        }
        signature = try signer.signature(of: SignedMessage.bytes("key wrap", context + [UInt8](sealed)))
    }

    package init(_ bytes: Data) throws(Refusal) {
        guard bytes.count <= 2 * Self.sealedLength else { throw .tooLarge }
        var reader = ByteReader(bytes)
        ring = try ObjectKind.wrap.readHeader(&reader)
        epoch = try reader.epoch()
        recipient = try reader.bytes16()
        author = try reader.bytes16()
        sealed = try reader.data(Self.sealedLength)
        signature = try reader.data(SigningKey.signatureLength)
        try reader.end()
    }

    /// The wrapped keys. They must not be used before ``check(by:)`` and the commitment of the epoch were verified.
    package func open(with wrapping: SecretBytes) throws(Refusal) -> (root: SecretBytes, ringSecret: SecretBytes) {
        let opened: SecretBytes
        defer { scrubExpandedKeys() }
        do {
            opened = try HybridKey.open(
                sealed, with: wrapping, context: Self.context(ring, epoch, recipient, author))
        } catch {
            throw .notAuthentic
        }
        return opened.withUnsafeBytes { bytes in
            func part(_ range: Range<Int>) -> SecretBytes {
                SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
            return (part(0..<32), part(32..<64))
        }
    }

    package func check(by keys: PublicKeys) throws(Refusal) {
        guard keys.member == author else { throw .badSignature }
        try keys.hasSigned(message, signature)
    }
}
