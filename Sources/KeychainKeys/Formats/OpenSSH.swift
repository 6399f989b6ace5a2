// SPDX-License-Identifier: Apache-2.0
// Private keys as ssh-keygen writes them (openssh-key-v1), and as clients add them to an SSH agent.

import Crypto
import CryptoExtras
import Foundation
public import SecretMemory

extension PrivateKey {
    /// The key of an OpenSSH file, without the PEM lines around it.
    ///
    /// - Parameter passphrase: Only read for an encrypted key.
    public init(openSSH bytes: SecretBytes, passphrase: SecretBytes? = nil) throws(KeyFailure) {
        var reader = SSHReader(bytes)
        guard reader.take(prefix: "openssh-key-v1\0") else { throw .malformed(SSHReader.format) }
        let cipher = try reader.text()
        let derivation = try reader.text()
        let options = try reader.string()
        guard try reader.number() == 1 else { throw .unsupportedAlgorithm("OpenSSH file with several keys") }
        _ = try reader.string()
        let section = try reader.string()
        guard cipher != "none" else {
            try reader.finish()
            try self.init(openSSHSection: section)
            return
        }
        guard derivation == "bcrypt" else { throw .unsupportedAlgorithm(derivation) }
        let scheme = try SSHCipher(cipher)
        try reader.finish()
        guard let passphrase else { throw .passphraseRequired }
        let opened = try scheme.decrypt(section, passphrase, BcryptDerivation(options))
        try self.init(openSSHSection: SecretSlice(opened))
    }

    private init(openSSHSection section: SecretSlice) throws(KeyFailure) {
        var reader = SSHReader(section)
        // The same number twice, to detect a wrong passphrase.
        guard try reader.number() == reader.number() else { throw .wrongPassphrase }
        self = try reader.privateKey()
        // The comment.
        _ = try reader.string()
        try reader.finishPadding()
    }
}

extension SSHReader {
    /// The name of its type, and its numbers. A message that adds a key to an SSH agent has the same (draft-ietf-sshm-ssh-agent).
    package mutating func privateKey() throws(KeyFailure) -> PrivateKey {
        let type = try text()
        switch type {
        case "ssh-ed25519": return try ed25519()
        case "ssh-rsa": return try rsa()
        case "ecdsa-sha2-nistp256": return try ecdsa(.p256, "nistp256")
        case "ecdsa-sha2-nistp384": return try ecdsa(.p384, "nistp384")
        case "ecdsa-sha2-nistp521": return try ecdsa(.p521, "nistp521")
        default: throw .unsupportedAlgorithm(type)
        }
    }

    /// The public key, and then the private key followed by the public key.
    private mutating func ed25519() throws(KeyFailure) -> PrivateKey {
        let point = try string()
        let both = try string()
        guard both.count == 64, both.dropFirst(32).elementsEqual(point) else { throw .malformed(Self.format) }
        let key = try PrivateKey(.ed25519, externalRepresentation: both.prefix(32).copy)
        guard point.elementsEqual(key.publicKey.bytes) else { throw .malformed(Self.format) }
        return key
    }

    private mutating func ecdsa(_ kind: KeyKind, _ curve: String) throws(KeyFailure) -> PrivateKey {
        guard try text() == curve else { throw .malformed(Self.format) }
        let point = try string()
        let key = try PrivateKey(kind, scalar: integer())
        guard point.elementsEqual(key.publicKey.bytes) else { throw .malformed(Self.format) }
        return key
    }

    /// n, e, d, 1/q mod p, p, q. PKCS#1 has them in another order, and two more.
    private mutating func rsa() throws(KeyFailure) -> PrivateKey {
        let (modulus, exponent) = ([UInt8](try integer()), [UInt8](try integer()))
        let publicKey = try PublicKey(.rsa, DERNode.sequence(.unsigned(modulus), .unsigned(exponent)).encoded)
        let (number, inverse, first, second) = (try integer(), try integer(), try integer(), try integer())
        for prime in [first, second] {
            guard (1...publicKey.blockSize).contains(prime.count), prime.last.map({ $0 & 1 }) == 1 else {
                throw .malformed(Self.format)
            }
        }
        let exponents = (
            try RSANumbers.privateExponent(of: first, for: exponent),
            try RSANumbers.privateExponent(of: second, for: exponent)
        )
        let key = DERNode.sequence(
            .integer(0), .unsigned(modulus), .unsigned(exponent), .unsigned(number), .unsigned(first),
            .unsigned(second), .unsigned(SecretSlice(exponents.0)), .unsigned(SecretSlice(exponents.1)),
            .unsigned(inverse))
        return try PrivateKey(pkcs1: key.encodedSecret)
    }
}

// MARK: - Encryption

extension BcryptDerivation {
    /// Reads the options of the derivation: the salt and the number of rounds.
    fileprivate init(_ options: SecretSlice) throws(KeyFailure) {
        var reader = SSHReader(options)
        let salt = [UInt8](try reader.string())
        let rounds = try reader.number()
        try reader.finish()
        try self.init(salt: salt, rounds: rounds)
    }
}

/// A cipher by the name that the SSH protocol gives it.
private struct SSHCipher {
    private let keyLength: Int
    private let isCounter: Bool

    init(_ name: String) throws(KeyFailure) {
        let ciphers = [
            "aes128-ctr": (16, true), "aes192-ctr": (24, true), "aes256-ctr": (32, true), "aes128-cbc": (16, false),
            "aes192-cbc": (24, false), "aes256-cbc": (32, false),
        ]
        guard let (length, isCounter) = ciphers[name] else { throw .unsupportedAlgorithm(name) }
        (keyLength, self.isCounter) = (length, isCounter)
    }

    func decrypt(
        _ section: SecretSlice, _ passphrase: SecretBytes, _ derivation: BcryptDerivation
    ) throws(KeyFailure) -> SecretBytes {
        guard !section.isEmpty, section.count % 16 == 0 else { throw .malformed(SSHReader.format) }
        defer { scrubResidue() }
        let derived = SecretSlice(derivation.key(passphrase, count: keyLength + 16))
        let key = derived.prefix(keyLength).withUnsafeBytes { SymmetricKey(data: $0) }
        let (ciphertext, iv) = ([UInt8](section), [UInt8](derived.suffix(16)))
        do {
            var opened =
                isCounter
                ? try AES._CTR.decrypt(ciphertext, using: key, nonce: .init(nonceBytes: iv))
                : try AES._CBC.decrypt(ciphertext, using: key, iv: .init(ivBytes: iv), noPadding: true)
            return SecretBytes(moving: &opened)
        } catch {
            throw .malformed(SSHReader.format)
        }
    }
}
