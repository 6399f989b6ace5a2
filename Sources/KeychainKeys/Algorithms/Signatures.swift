// SPDX-License-Identifier: Apache-2.0
// Signing and verifying.

import Crypto
import CryptoExtras
public import Foundation
import SecretMemory

extension LoadedKey {
    /// - Parameter data: The message or the digest, depending on the algorithm.
    /// - Throws: `KeyFailure.algorithmNotSupported`, or `KeyFailure.invalidLength` for a digest of another length.
    public func sign(_ data: Data, _ algorithm: KeyAlgorithm) throws(KeyFailure) -> Data {
        guard key.supports(algorithm, for: .sign) else { throw .algorithmNotSupported }
        let digest = try algorithm.digest(of: data)
        defer { scrubStack() }
        do {
            switch signer {
            case .curve(let signer):
                let signature = try signer.sign(AnyDigest(digest))
                return algorithm.hasDERSignature ? signature.derRepresentation : signature.rawRepresentation
            case .rsa(let signer): return try algorithm.rsaSignature(digest, signer)
            case .ed25519(let signer): return try signer.signature(for: data)
            case .agreement: throw KeyFailure.algorithmNotSupported
            }
        } catch {
            throw .algorithmNotSupported
        }
    }
}

extension PublicKey {
    /// - Parameter data: The message or the digest, depending on the algorithm.
    /// - Returns: Also `false` for a signature of another length or in another format.
    /// - Throws: `KeyFailure.algorithmNotSupported`, or `KeyFailure.invalidLength` for a digest of another length.
    public func isValidSignature(
        _ signature: Data, for data: Data, _ algorithm: KeyAlgorithm
    ) throws(KeyFailure) -> Bool {
        guard supports(algorithm, for: .verify) else { throw .algorithmNotSupported }
        let digest = try algorithm.digest(of: data)
        do {
            switch kind {
            case .p256, .p384, .p521: return try verifyECDSA(signature, algorithm.hasDERSignature, AnyDigest(digest))
            case .rsa: return try algorithm.isRSASignature(signature, digest, self)
            case .ed25519:
                return try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
                    .isValidSignature(signature, for: data)
            case .x25519: throw KeyFailure.algorithmNotSupported
            }
        } catch {
            throw .algorithmNotSupported
        }
    }

    private func verifyECDSA(_ signature: Data, _ isDER: Bool, _ digest: AnyDigest) throws -> Bool {
        func verify<Curve: EllipticCurve>(_: Curve.Type) throws -> Bool {
            typealias Signature = Curve.Verifier.Signature
            let key = try Curve.Verifier(x963Representation: bytes)
            // What is no signature verifies as little as a wrong one.
            let signature =
                isDER
                ? try? Signature(derRepresentation: signature) : try? Signature(rawRepresentation: signature)
            return signature.map { key.isValidSignature($0, for: digest) } ?? false
        }
        guard let curve = kind.curve else { return false }
        return try verify(curve)
    }
}

extension KeyAlgorithm {
    var hasDERSignature: Bool {
        switch self {
        case .ecdsaSignature(_, let format), .ecdsaSignatureOfAnyDigest(let format): format == .der
        default: false
        }
    }

    /// The signed bytes: the digest of the data, or the data if it is already a digest.
    func digest(of data: Data) throws(KeyFailure) -> [UInt8] {
        switch self {
        case .rsaSignaturePKCS1(let input), .rsaSignaturePSS(let input), .ecdsaSignature(let input, _):
            if case .message(let hash) = input { return hash.digest(data) }
            guard data.count == input.hash.byteCount else { throw .invalidLength }
            return [UInt8](data)
        case .ecdsaSignatureOfAnyDigest, .ecdsaSignatureRFC4754: return [UInt8](data)
        default: return []
        }
    }
}

// MARK: - RSA

extension KeyAlgorithm {
    private var rsaPadding: (KeyHash, _RSA.Signing.Padding)? {
        switch self {
        case .rsaSignaturePKCS1(let input): (input.hash, .insecurePKCS1v1_5)
        case .rsaSignaturePSS(let input): (input.hash, .PSS)
        default: nil
        }
    }

    fileprivate func rsaSignature(_ digest: [UInt8], _ key: _RSA.Signing.PrivateKey) throws -> Data {
        guard let (hash, padding) = rsaPadding else { throw KeyFailure.algorithmNotSupported }
        return try hash.function.rsaSignature(digest, padding, key)
    }

    fileprivate func isRSASignature(_ signature: Data, _ digest: [UInt8], _ key: PublicKey) throws -> Bool {
        guard let (hash, padding) = rsaPadding, signature.count == key.blockSize else { return false }
        return try hash.function.isRSASignature(
            signature, digest, padding, _RSA.Signing.PublicKey(unsafeDERRepresentation: key.bytes))
    }
}

extension KeyHashFunction {
    fileprivate static func rsaSignature(
        _ bytes: [UInt8], _ padding: _RSA.Signing.Padding, _ key: _RSA.Signing.PrivateKey
    ) throws -> Data {
        guard let digest = digest(bytes) else { throw KeyFailure.algorithmNotSupported }
        return try key.signature(for: digest, padding: padding).rawRepresentation
    }

    fileprivate static func isRSASignature(
        _ signature: Data, _ bytes: [UInt8], _ padding: _RSA.Signing.Padding, _ key: _RSA.Signing.PublicKey
    ) throws -> Bool {
        guard let digest = digest(bytes) else { throw KeyFailure.algorithmNotSupported }
        return key.isValidSignature(.init(rawRepresentation: signature), for: digest, padding: padding)
    }
}
