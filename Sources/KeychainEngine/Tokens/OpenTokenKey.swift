// SPDX-License-Identifier: Apache-2.0
// A key on a token, for one use.

package import Foundation
package import SecretMemory

/// A key on a token with its object, after all that its access control requires. It is opened again for each use.
package struct OpenTokenKey: Sendable {
    private let token: any KeyToken
    private let secret: SecretBytes

    /// - Parameter object: For hardware the object is no secret; for keys in the keychain it is.
    package init(_ token: any KeyToken, _ object: SecretBytes) { (self.token, self.secret) = (token, object) }

    package var object: Data { secret.withUnsafeBytes { Data($0) } }

    private func withObject<Result>(
        _ body: (Data) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        var copy = object
        defer { copy.resetBytes(in: copy.startIndex..<copy.endIndex) }
        return try body(copy)
    }

    /// Signs a digest of any length. The result is r ‖ s.
    ///
    /// ECDSA takes the leftmost 256 bits of a digest as a number. So a token that does not know a hash signs the same number as
    /// a digest of SHA-256.
    package func signature(ofDigest digest: Data) throws(KeychainError) -> Data {
        let signature = try signed(Data(digest))
        guard signature.count == 64 else { throw .unexpectedAnswer(of: token) }
        return signature
    }

    private func signed(_ digest: Data) throws(KeychainError) -> Data {
        if let hash = TokenHash.allCases.first(where: { $0.byteCount == digest.count }) {
            do throws(KeychainError) {
                return try withObject { (object) throws(KeychainError) in
                    try token.sign(digest, of: hash, with: object)
                }
            } catch {
                guard error.reason == .unsupported, hash != .sha256 else { throw error }
            }
        }
        return try withObject { (object) throws(KeychainError) in
            try token.sign(Self.number(digest), of: .sha256, with: object)
        }
    }

    private static func number(_ digest: Data) -> Data {
        Data(count: max(0, 32 - digest.count)) + digest.prefix(32)
    }

    /// The x coordinate of the common point.
    ///
    /// - Parameter publicKey: An uncompressed point on P-256.
    package func sharedSecret(with publicKey: Data) throws(KeychainError) -> SecretBytes {
        let secret = try withObject { (object) throws(KeychainError) in
            try token.agree(with: publicKey, object: object)
        }
        guard secret.count == 32 else { throw .unexpectedAnswer(of: token) }
        return secret
    }
}

extension TokenHash {
    fileprivate var byteCount: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}

extension KeychainError {
    package static func unexpectedAnswer(of token: any KeyToken) -> KeychainError {
        KeychainError(.unavailable, "The token '\(token.name)' gave an answer of the wrong form. Nothing was done.")
    }
}
