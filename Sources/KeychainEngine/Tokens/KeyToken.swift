// SPDX-License-Identifier: Apache-2.0
// What holds private keys that nothing can take out.

public import Foundation
public import SecretMemory

/// Hardware, for example a TPM, that makes P-256 keys and never gives their private halves out.
///
/// The token wraps a key for itself. The wrapped form, the object, is stored as the value of an item, and is useless
/// without the token. So a token needs no space for keys, and forgets none.
///
/// Calls may take a second on slow hardware, and come from any thread, several at once.
///
/// Does not protect against programs that may use the token and read the item: they can sign, but not copy the key.
public protocol KeyToken: Sendable {
    /// The value of `kSecAttrTokenID` of its keys, for example `tpm`.
    var identifier: String { get }
    /// What people call it in messages, for example `TPM`.
    var name: String { get }

    /// Makes a key in the token.
    ///
    /// - Throws: `unavailable` if the token does not answer, is locked out or was never set up.
    func makeKey() throws(KeychainError) -> TokenKey

    /// Signs a digest with ECDSA. The result is r and s, 32 bytes each.
    ///
    /// - Throws: `ofAnotherDevice` if another token, or this one before it was cleared, made the key; `corrupt` if the
    ///   bytes are no object; `unsupported` if the token does not sign digests of this hash; `unavailable`.
    func sign(_ digest: Data, of hash: TokenHash, with object: Data) throws(KeychainError) -> Data

    /// The shared secret of a key and a public key: the x coordinate, 32 bytes.
    ///
    /// - Parameter publicKey: An uncompressed point of the curve, 65 bytes (ANSI X9.63).
    /// - Throws: As `sign`, and `invalidParameter` for a point that is not on the curve.
    func agree(with publicKey: Data, object: Data) throws(KeychainError) -> SecretBytes

    /// Removes what the token itself keeps of a key, after its item was deleted. A TPM keeps nothing.
    func forget(_ object: Data) throws(KeychainError)
}

/// A new key of a token.
public struct TokenKey: Sendable {
    /// The private half as the token wrapped it for itself.
    public let object: Data
    /// The public half: an uncompressed point of P-256, 65 bytes (ANSI X9.63).
    public let publicKey: Data

    public init(object: Data, publicKey: Data) {
        (self.object, self.publicKey) = (object, publicKey)
    }
}

/// The hash functions whose digests a token may sign.
public enum TokenHash: String, Sendable, CaseIterable {
    case sha1, sha256, sha384, sha512
}
