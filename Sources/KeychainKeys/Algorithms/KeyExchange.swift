// SPDX-License-Identifier: Apache-2.0
// Agreement on a secret, and the key derivation of ANSI X9.63.

import Crypto
public import Foundation
public import SecretMemory

extension PrivateKey {
    /// The maximum length of a derived result.
    public static let largestExchangeResult = 16 << 20

    /// - Parameters:
    ///   - size: How many bytes to derive; required for algorithms with a derivation, otherwise ignored.
    ///   - sharedInfo: Additional input of the derivation.
    /// - Throws: `KeyFailure.invalidPeer` for a key of another curve; `KeyFailure.algorithmNotSupported` for a key that
    ///   does not support key agreement.
    public func exchange(
        with peer: PublicKey, _ algorithm: KeyAlgorithm, size: Int? = nil, sharedInfo: Data = Data()
    ) throws(KeyFailure) -> SecretBytes {
        guard supports(algorithm, for: .keyExchange) else { throw .algorithmNotSupported }
        defer { scrubResidue() }
        let secret = try sharedSecret(with: peer)
        guard case .keyExchangeX963(_, let hash) = algorithm else {
            return secret.withUnsafeBytes { SecretBytes(copying: $0) }
        }
        guard let size, (0...Self.largestExchangeResult).contains(size) else { throw .invalidLength }
        return secret.x963(hash, sharedInfo: sharedInfo, count: size)
    }

    /// The X coordinate of the common point.
    func sharedSecret(with peer: PublicKey) throws(KeyFailure) -> SharedSecret {
        guard peer.kind == kind else {
            if peer.kind.isNISTCurve && kind.isNISTCurve { throw .invalidPeer }
            throw .algorithmNotSupported
        }
        do {
            let secret = try scalar.withUnsafeBytes { try sharedSecret($0, peer) }
            // A point of small order makes every secret of X25519 zero. On the other curves, zero is a valid X
            // coordinate.
            guard kind.isNISTCurve || secret.withUnsafeBytes({ $0.contains { $0 != 0 } }) else {
                throw KeyFailure.invalidPeer
            }
            return secret
        } catch {
            throw .invalidPeer
        }
    }

    private func sharedSecret(_ scalar: UnsafeRawBufferPointer, _ peer: PublicKey) throws -> SharedSecret {
        func agree<Curve: EllipticCurve>(_: Curve.Type) throws -> SharedSecret {
            try Curve.Agreement(rawRepresentation: scalar)
                .sharedSecretFromKeyAgreement(with: .init(x963Representation: peer.bytes))
        }
        if let curve = kind.curve { return try agree(curve) }
        return try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: scalar)
            .sharedSecretFromKeyAgreement(with: .init(rawRepresentation: peer.bytes))
    }
}

extension SharedSecret {
    /// The key derivation of ANSI X9.63: hashes of the secret, a counter and the shared info, concatenated.
    func x963(_ hash: KeyHash, sharedInfo: Data, count: Int) -> SecretBytes {
        hash.function.x963(self, sharedInfo, count).withUnsafeBytes { SecretBytes(copying: $0) }
    }
}

extension KeyHashFunction {
    fileprivate static func x963(_ secret: SharedSecret, _ sharedInfo: Data, _ count: Int) -> SymmetricKey {
        secret.x963DerivedSymmetricKey(using: Self.self, sharedInfo: sharedInfo, outputByteCount: count)
    }
}
