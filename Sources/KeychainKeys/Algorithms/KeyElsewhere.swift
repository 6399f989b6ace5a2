// SPDX-License-Identifier: Apache-2.0
// Operations with the private half of a NIST key that is elsewhere, such as in a TPM: what is asked of it, and what is made of
// its answers.

import Crypto
public import Foundation
public import SecretMemory

extension PublicKey {
    /// The digest that the private half has to sign.
    ///
    /// - Parameter data: The message or the digest, depending on the algorithm.
    /// - Throws: `KeyFailure.algorithmNotSupported`, or `KeyFailure.invalidLength` for a digest of another length.
    public func digestToSign(_ data: Data, _ algorithm: KeyAlgorithm) throws(KeyFailure) -> Data {
        guard kind.isNISTCurve, privateHalfSupports(algorithm, for: .sign) else { throw .algorithmNotSupported }
        return Data(try algorithm.digest(of: data))
    }

    /// The signature in the format of the algorithm.
    ///
    /// - Parameter raw: r ‖ s at full width.
    /// - Throws: `KeyFailure.malformed` for another length.
    public func signature(ofRaw raw: Data, _ algorithm: KeyAlgorithm) throws(KeyFailure) -> Data {
        func der<Curve: EllipticCurve>(_: Curve.Type) throws -> Data {
            try Curve.Verifier.Signature(rawRepresentation: raw).derRepresentation
        }
        guard let curve = kind.curve, raw.count == 2 * blockSize else { throw .malformed("signature") }
        guard algorithm.hasDERSignature else { return raw }
        do { return try der(curve) } catch { throw .malformed("signature") }
    }

    /// The key that the private half has to agree with to decrypt a ciphertext of ECIES.
    ///
    /// - Throws: `KeyFailure.algorithmNotSupported`, or `KeyFailure.decryptionFailed` for bytes that are no ciphertext.
    public func sender(of ciphertext: Data, _ algorithm: KeyAlgorithm) throws(KeyFailure) -> PublicKey {
        guard kind.isNISTCurve, privateHalfSupports(algorithm, for: .decrypt) else { throw .algorithmNotSupported }
        return try partsOfECIES(Data(ciphertext)).sender
    }

    /// Decrypts a ciphertext of ECIES.
    ///
    /// - Parameter sharedSecret: The x coordinate of the common point with the ``sender(of:_:)``.
    /// - Throws: `KeyFailure.algorithmNotSupported`, or `KeyFailure.decryptionFailed` without a reason.
    public func decrypt(
        _ ciphertext: Data, _ algorithm: KeyAlgorithm, sharedSecret: SecretBytes
    ) throws(KeyFailure) -> SecretBytes {
        guard case .ecies(_, let hash, let iv) = algorithm else { throw .algorithmNotSupported }
        defer { scrubResidue() }
        let (sender, sealed) = try partsOfECIES(Data(ciphertext))
        let cipher = SixteenByteGCM(iv, recipient: self) { count in
            sharedSecret.x963(hash, sharedInfo: sender.externalRepresentation, count: count)
        }
        return try cipher.open(sealed)
    }

    /// Checks an exchange before the private half is asked.
    ///
    /// - Throws: As `PrivateKey.exchange`.
    public func checkExchange(
        with peer: PublicKey, _ algorithm: KeyAlgorithm, size: Int?
    ) throws(KeyFailure) {
        guard kind.isNISTCurve, privateHalfSupports(algorithm, for: .keyExchange) else { throw .algorithmNotSupported }
        guard peer.kind == kind else { throw peer.kind.isNISTCurve ? .invalidPeer : .algorithmNotSupported }
        guard case .keyExchangeX963 = algorithm else { return }
        guard let size, (0...PrivateKey.largestExchangeResult).contains(size) else { throw .invalidLength }
    }

    /// The result of an exchange.
    ///
    /// - Parameters:
    ///   - sharedSecret: The x coordinate of the common point.
    ///   - size: How many bytes to derive, for algorithms with a derivation.
    ///   - sharedInfo: Additional input of the derivation.
    /// - Throws: As `PrivateKey.exchange`.
    public func exchangeResult(
        of sharedSecret: SecretBytes, _ algorithm: KeyAlgorithm, size: Int? = nil, sharedInfo: Data = Data()
    ) throws(KeyFailure) -> SecretBytes {
        guard case .keyExchangeX963(_, let hash) = algorithm else { return sharedSecret }
        guard let size, (0...PrivateKey.largestExchangeResult).contains(size) else { throw .invalidLength }
        defer { scrubResidue() }
        return sharedSecret.x963(hash, sharedInfo: sharedInfo, count: size)
    }
}

extension SecretBytes {
    /// The key derivation of ANSI X9.63 with this shared secret. The library derives only from secrets that it agreed on itself.
    fileprivate func x963(_ hash: KeyHash, sharedInfo: Data, count: Int) -> SecretBytes {
        SecretBytes(count: count) { hash.function.x963(self, sharedInfo, into: $0) }
    }
}

extension KeyHashFunction {
    fileprivate static func x963(_ secret: SecretBytes, _ sharedInfo: Data, into target: UnsafeMutableRawBufferPointer)
    {
        var (filled, counter): (Int, UInt32) = (0, 1)
        while filled < target.count {
            var hash = Self()
            secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
            withUnsafeBytes(of: counter.bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(data: sharedInfo)
            hash.finalize().withUnsafeBytes { digest in
                let part = digest.prefix(target.count - filled)
                UnsafeMutableRawBufferPointer(rebasing: target[filled...]).copyBytes(from: part)
                filled += part.count
            }
            counter += 1
        }
    }
}
