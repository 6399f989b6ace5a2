// SPDX-License-Identifier: Apache-2.0
// A private key in the form that swift-crypto uses.

import Crypto
import CryptoExtras
import Foundation
import SecretMemory

/// A private key that is ready for use. Keep it for a series of operations: loading a key takes about half as long as
/// signing with it. The library wipes its memory when the last copy is released, but does not lock it.
public struct LoadedKey: Sendable {
    enum Signer: Sendable {
        case curve(any CurveSigner)
        case rsa(_RSA.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
        /// Keys for agreement alone are created from the bytes for each agreement.
        case agreement
    }

    public let key: PrivateKey
    let signer: Signer
}

extension PrivateKey {
    /// - Throws: `KeyFailure.malformed` if the numbers of the key are inconsistent.
    public func loaded() throws(KeyFailure) -> LoadedKey {
        do {
            return LoadedKey(key: self, signer: try externalRepresentation.withUnsafeBytes(signer))
        } catch {
            throw .malformed("private key")
        }
    }

    private func signer(_ bytes: UnsafeRawBufferPointer) throws -> LoadedKey.Signer {
        switch kind {
        case .p256: .curve(try P256.Signing.PrivateKey(x963Representation: bytes))
        case .p384: .curve(try P384.Signing.PrivateKey(x963Representation: bytes))
        case .p521: .curve(try P521.Signing.PrivateKey(x963Representation: bytes))
        case .ed25519: .ed25519(try Curve25519.Signing.PrivateKey(rawRepresentation: bytes))
        case .rsa: .rsa(try _RSA.Signing.PrivateKey(unsafeDERRepresentation: bytes))
        case .x25519: .agreement
        }
    }
}
