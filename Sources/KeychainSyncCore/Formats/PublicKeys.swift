// SPDX-License-Identifier: Apache-2.0
// The public keys of a member, which identify it.

package import Foundation
import KeychainCrypto

package struct PublicKeys: Hashable, Sendable {
    package let signing: Data
    package let wrapping: Data

    package init(signing: Data, wrapping: Data) {
        self.signing = signing
        self.wrapping = wrapping
    }

    static let length = SigningKey.publicKeyLength + HybridKey.publicKeyLength

    var bytes: [UInt8] { [UInt8](signing + wrapping) }

    init(from reader: inout ByteReader) throws(Refusal) {
        signing = try reader.data(SigningKey.publicKeyLength)
        wrapping = try reader.data(HybridKey.publicKeyLength)
    }

    /// The member with these keys. Other keys cannot have the same identity.
    package var member: MemberID {
        let digest = ObjectHash.hash(of: Data(SignedMessage.bytes("member", bytes)))
        return digest.short()
    }

    package func hasSigned(_ message: [UInt8], _ signature: Data) throws(Refusal) {
        guard SigningKey.isValid(signature, of: message, by: signing) else { throw .badSignature }
    }
}
