// SPDX-License-Identifier: Apache-2.0
// The two messages by which a machine joins a ring.

import Foundation
import KeychainCrypto
import SecretMemory

/// The message of the inviting machine.
package struct InvitationOffer: Equatable, Sendable {
    package let ring: RingID
    /// Entries that the log of the ring must contain, so that the joiner rejects an older log.
    package let tips: [EntryHash]
    package let nonce: RequestID

    package init(ring: RingID, tips: [EntryHash], nonce: RequestID) {
        self.ring = ring
        self.tips = tips
        self.nonce = nonce
    }

    func bytes(authenticatedBy key: SecretBytes) -> Data {
        var writer = ObjectKind.invitation.header(of: ring)
        writer.append(tips: tips)
        nonce.write(to: &writer)
        return JoinAuthentication.append(to: writer, key)
    }

    init(_ bytes: Data, authenticatedBy key: SecretBytes) throws(Refusal) {
        var reader = ByteReader(try JoinAuthentication.check(bytes, key))
        ring = try ObjectKind.invitation.readHeader(&reader)
        tips = try reader.tips()
        nonce = try reader.bytes16()
        try reader.end()
    }
}

/// The message of the joining machine.
package struct JoinRequest: Equatable, Sendable {
    package let ring: RingID
    package let keys: PublicKeys
    /// The nonce of the invitation, so that a request for an earlier invitation is rejected.
    package let invitation: RequestID

    package init(ring: RingID, keys: PublicKeys, invitation: RequestID) {
        self.ring = ring
        self.keys = keys
        self.invitation = invitation
    }

    /// Kind ‖ format ‖ suite ‖ ring ‖ keys ‖ nonce ‖ code of authentication.
    package static let length = 4 + 1 + 1 + 32 + PublicKeys.length + 16 + 32

    func bytes(authenticatedBy key: SecretBytes) -> Data {
        var writer = ObjectKind.request.header(of: ring, capacity: Self.length)
        writer.append(keys.bytes)
        invitation.write(to: &writer)
        return JoinAuthentication.append(to: writer, key)
    }

    init(_ bytes: Data, authenticatedBy key: SecretBytes) throws(Refusal) {
        var reader = ByteReader(try JoinAuthentication.check(bytes, key))
        ring = try ObjectKind.request.readHeader(&reader)
        keys = try PublicKeys(from: &reader)
        invitation = try reader.bytes16()
        try reader.end()
    }
}

/// The 32 authentication bytes at the end of both messages.
private enum JoinAuthentication {
    static func append(to writer: ByteWriter, _ key: SecretBytes) -> Data {
        writer.data + Authentication.code(for: writer.bytes, key: key)
    }

    /// - Returns: The bytes that are authenticated.
    static func check(_ bytes: Data, _ key: SecretBytes) throws(Refusal) -> [UInt8] {
        guard bytes.count <= Bounds.entry else { throw .tooLarge }
        guard bytes.count > 32 else { throw .malformed }
        let content = [UInt8](bytes.dropLast(32))
        guard Authentication.isValid(Data(bytes.suffix(32)), for: content, key: key) else { throw .notAuthentic }
        return content
    }
}
