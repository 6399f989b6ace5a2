// SPDX-License-Identifier: Apache-2.0
// Encryption for a public key: RSA, RSA with AES-GCM, and ECIES, compatible with Apple's.

import Crypto
import CryptoExtras
public import Foundation
public import SecretMemory

extension PublicKey {
    /// - Throws: `KeyFailure.algorithmNotSupported`, or `KeyFailure.invalidLength` for a plaintext that is too long for RSA.
    public func encrypt(_ plaintext: Data, _ algorithm: KeyAlgorithm) throws(KeyFailure) -> Data {
        guard supports(algorithm, for: .encrypt) else { throw .algorithmNotSupported }
        defer { scrubResidue() }
        switch algorithm {
        case .ecies(_, let hash, let iv): return try encryptECIES(plaintext, hash, iv)
        case .rsaEncryptionOAEPAESGCM(let hash): return try encryptHybrid(plaintext, hash)
        default: return try encryptRSA(plaintext, algorithm)
        }
    }
}

extension PrivateKey {
    /// - Throws: `KeyFailure.algorithmNotSupported`, or `KeyFailure.decryptionFailed` without a reason.
    public func decrypt(_ ciphertext: Data, _ algorithm: KeyAlgorithm) throws(KeyFailure) -> SecretBytes {
        guard supports(algorithm, for: .decrypt) else { throw .algorithmNotSupported }
        defer { scrubResidue() }
        // Without an index that begins elsewhere.
        let ciphertext = Data(ciphertext)
        switch algorithm {
        case .ecies(_, let hash, let iv): return try decryptECIES(ciphertext, hash, iv)
        case .rsaEncryptionOAEPAESGCM(let hash): return try decryptHybrid(ciphertext, hash)
        default: return try decryptRSA(ciphertext, algorithm)
        }
    }
}

/// AES-GCM as Apple's constructions use it: with an initialization vector of 16 bytes, which GCM hashes first.
struct SixteenByteGCM {
    static let tagLength = 16
    let key: SecretBytes
    let iv: [UInt8]
    let associated: [UInt8]

    init(_ key: SecretBytes, iv: [UInt8] = [UInt8](repeating: 0, count: 16), associated: [UInt8] = []) {
        (self.key, self.iv, self.associated) = (key, iv, associated)
    }

    /// Ciphertext ‖ tag.
    func seal(_ plaintext: Data) throws(KeyFailure) -> Data {
        do {
            let box = try AES.GCM.seal(
                plaintext, using: symmetricKey, nonce: AES.GCM.Nonce(data: iv), authenticating: associated)
            return box.ciphertext + box.tag
        } catch {
            throw .invalidLength
        }
    }

    func open(_ sealed: Data) throws(KeyFailure) -> SecretBytes {
        guard sealed.count >= Self.tagLength else { throw .decryptionFailed }
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: iv), ciphertext: sealed.dropLast(Self.tagLength),
                tag: sealed.suffix(Self.tagLength))
            var opened = try AES.GCM.open(box, using: symmetricKey, authenticating: associated)
            return SecretBytes(moving: &opened)
        } catch {
            throw .decryptionFailed
        }
    }

    private var symmetricKey: SymmetricKey { key.withUnsafeBytes { SymmetricKey(data: $0) } }
}

// MARK: - ECIES

extension PublicKey {
    /// The public key of the one-time key, and ciphertext ‖ tag.
    func partsOfECIES(_ ciphertext: Data) throws(KeyFailure) -> (sender: PublicKey, sealed: Data) {
        guard ciphertext.count >= bytes.count + SixteenByteGCM.tagLength else { throw .decryptionFailed }
        do {
            let sender = try PublicKey(kind, externalRepresentation: ciphertext.prefix(bytes.count))
            return (sender, ciphertext.dropFirst(bytes.count))
        } catch {
            throw .decryptionFailed
        }
    }

    /// Public key of the one-time key ‖ ciphertext ‖ tag.
    fileprivate func encryptECIES(
        _ plaintext: Data, _ hash: KeyHash, _ iv: KeyAlgorithm.InitializationVector
    ) throws(KeyFailure) -> Data {
        let oneTime = try PrivateKey.generate(kind)
        let secret = try oneTime.secret(forRecipient: self)
        let cipher = SixteenByteGCM(iv, recipient: self) { count in
            secret.x963(hash, sharedInfo: oneTime.publicKey.externalRepresentation, count: count)
        }
        return try oneTime.publicKey.externalRepresentation + cipher.seal(plaintext)
    }
}

extension PrivateKey {
    /// - Throws: `KeyFailure.malformed` for a point of small order, with which every secret is zero.
    fileprivate func secret(forRecipient recipient: PublicKey) throws(KeyFailure) -> SharedSecret {
        do { return try sharedSecret(with: recipient) } catch { throw .malformed("public key") }
    }

    fileprivate func decryptECIES(
        _ ciphertext: Data, _ hash: KeyHash, _ iv: KeyAlgorithm.InitializationVector
    ) throws(KeyFailure) -> SecretBytes {
        do {
            let (sender, sealed) = try publicKey.partsOfECIES(ciphertext)
            let secret = try sharedSecret(with: sender)
            let cipher = SixteenByteGCM(iv, recipient: publicKey) { count in
                secret.x963(hash, sharedInfo: sender.externalRepresentation, count: count)
            }
            return try cipher.open(sealed)
        } catch {
            throw .decryptionFailed
        }
    }
}

extension SixteenByteGCM {
    /// Derives the key, and for some algorithms the initialization vector.
    ///
    /// - Parameter derive: Derives as many bytes from the shared secret and the sender's public key.
    init(_ iv: KeyAlgorithm.InitializationVector, recipient: PublicKey, derive: (_ count: Int) -> SecretBytes) {
        // AES-256 for P-384 and P-521, AES-128 for the others.
        let keyLength = (recipient.bytes.count - 1) / 2 * 8 > 256 ? 32 : 16
        let ivLength = iv == .derived ? 16 : 0
        let bytes = SecretSlice(derive(keyLength + ivLength))
        self.init(
            bytes.prefix(keyLength).copy,
            iv: iv == .derived ? Array(bytes.suffix(ivLength)) : [UInt8](repeating: 0, count: 16))
    }
}

// MARK: - RSA

extension PublicKey {
    /// OAEP of a session key ‖ ciphertext ‖ tag. The tag also covers the public key.
    fileprivate func encryptHybrid(_ plaintext: Data, _ hash: KeyHash) throws(KeyFailure) -> Data {
        let session = SecretBytes.random(count: sessionKeyLength)
        var copy = session.withUnsafeBytes { Data($0) }
        defer { copy.withUnsafeMutableBytes { wipeMemory($0) } }
        let block = try encryptRSA(copy, .rsaEncryptionOAEP(hash))
        return try block + SixteenByteGCM(session, associated: bytes).seal(plaintext)
    }

    fileprivate var sessionKeyLength: Int { sizeInBits < 4096 ? 16 : 32 }

    fileprivate func encryptRSA(_ plaintext: Data, _ algorithm: KeyAlgorithm) throws(KeyFailure) -> Data {
        guard let (padding, overhead) = algorithm.rsaPadding, plaintext.count <= blockSize - overhead else {
            throw .invalidLength
        }
        do {
            return try _RSA.Encryption.PublicKey(unsafeDERRepresentation: bytes).encrypt(plaintext, padding: padding)
        } catch {
            throw .invalidLength
        }
    }
}

extension PrivateKey {
    fileprivate func decryptHybrid(_ ciphertext: Data, _ hash: KeyHash) throws(KeyFailure) -> SecretBytes {
        let length = publicKey.blockSize
        guard ciphertext.count >= length + SixteenByteGCM.tagLength else { throw .decryptionFailed }
        let session = try decryptRSA(ciphertext.prefix(length), .rsaEncryptionOAEP(hash))
        guard session.count == publicKey.sessionKeyLength else { throw .decryptionFailed }
        return try SixteenByteGCM(session, associated: publicKey.bytes).open(ciphertext.dropFirst(length))
    }

    fileprivate func decryptRSA(_ ciphertext: Data, _ algorithm: KeyAlgorithm) throws(KeyFailure) -> SecretBytes {
        guard let (padding, _) = algorithm.rsaPadding, ciphertext.count == publicKey.blockSize else {
            throw .decryptionFailed
        }
        do {
            var plaintext = try externalRepresentation.withUnsafeBytes {
                try _RSA.Encryption.PrivateKey(unsafeDERRepresentation: $0).decrypt(ciphertext, padding: padding)
            }
            return SecretBytes(moving: &plaintext)
        } catch {
            throw .decryptionFailed
        }
    }
}

extension KeyAlgorithm {
    /// The padding, and how many bytes of a block it takes.
    fileprivate var rsaPadding: (_RSA.Encryption.Padding, overhead: Int)? {
        switch self {
        case .rsaEncryptionPKCS1: (._WEAK_AND_INSECURE_PKCS_V1_5, 11)
        case .rsaEncryptionOAEP(.sha1): (.PKCS1_OAEP, 2 * 20 + 2)
        case .rsaEncryptionOAEP(.sha256): (.PKCS1_OAEP_SHA256, 2 * 32 + 2)
        default: nil
        }
    }
}
