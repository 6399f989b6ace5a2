// SPDX-License-Identifier: Apache-2.0
// Why a key, a certificate or a file of them was rejected, or an operation failed.

/// An error of this module. It contains names of formats and algorithms, never bytes of a key.
public enum KeyFailure: Error, Equatable, Sendable {
    /// The bytes are not a valid encoding of the named format.
    case malformed(String)
    /// Well formed, but of an algorithm, curve or parameter that is not supported: its name or object identifier.
    case unsupportedAlgorithm(String)
    /// The file's integrity cannot be checked, since the method is not supported: its object identifier.
    case unsupportedAuthentication(String)
    /// A key of a size that is not supported, in bits.
    case unsupportedSize(Int)
    /// The key is encrypted, and no passphrase was given.
    case passphraseRequired
    /// The passphrase is wrong. If the format has no checksum, damaged bytes have the same error.
    case wrongPassphrase
    /// The bytes require more work or memory than is allowed, as named.
    case limitExceeded(String)
    /// The key does not support the algorithm for this operation.
    case algorithmNotSupported
    /// A digest, message, ciphertext or requested size whose length does not fit the algorithm and the key.
    case invalidLength
    /// The ciphertext was not encrypted for this key, or was changed.
    case decryptionFailed
    /// The other party's key is of another curve or kind, or its shared secret would be known to everyone.
    case invalidPeer
}

extension KeyFailure {
    /// A key that is encrypted as before PKCS#8.
    static let headerEncryption = KeyFailure.unsupportedAlgorithm("encryption in PEM headers")

    /// Ciphers of OpenSSH files that this module does not read and ssh-keygen does.
    private static let ciphersOfOpenSSH = [
        "3des-cbc", "aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com",
    ]

    /// The command after which this module reads the key of a file; `nil` if there is none. The key stays encrypted.
    public var conversion: String? {
        if self == .headerEncryption { return "openssl pkcs8 -topk8 -in FILE -out NEW" }
        guard case .unsupportedAlgorithm(let name) = self, Self.ciphersOfOpenSSH.contains(name) else { return nil }
        return "ssh-keygen -p -Z aes256-ctr -f FILE"
    }
}
