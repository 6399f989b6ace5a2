// SPDX-License-Identifier: Apache-2.0
// Signatures in the encoding of the SSH protocol.

public import Foundation

extension LoadedKey {
    /// A signature as the SSH protocol has it (RFC 4253, 5656, 8332, 8709): the name of the algorithm and the bytes.
    ///
    /// - Parameter rsaHash: The hash for an RSA key, SHA-256 or SHA-512. SHA-1 is not offered.
    /// - Throws: `KeyFailure.algorithmNotSupported` for X25519, and for another hash.
    public func sshSignature(of data: Data, rsaHash: KeyHash = .sha512) throws(KeyFailure) -> Data {
        var encoding = SSHWriter()
        switch key.kind {
        case .p256: try encoding.ecdsa(self, data, .sha256)
        case .p384: try encoding.ecdsa(self, data, .sha384)
        case .p521: try encoding.ecdsa(self, data, .sha512)
        case .ed25519:
            encoding.string("ssh-ed25519".utf8)
            encoding.string(try sign(data, .eddsaSignature))
        case .rsa:
            guard rsaHash == .sha256 || rsaHash == .sha512 else { throw .algorithmNotSupported }
            encoding.string("rsa-sha2-\(rsaHash.rawValue)".utf8)
            encoding.string(try sign(data, .rsaSignaturePKCS1(.message(rsaHash))))
        case .x25519: throw .algorithmNotSupported
        }
        return encoding.bytes
    }
}

extension PublicKey {
    /// An ECDSA signature of this key as the SSH protocol has it.
    ///
    /// - Parameter raw: r ‖ s.
    /// - Throws: `KeyFailure.algorithmNotSupported` for keys of other kinds.
    public func sshSignature(ofRaw raw: Data) throws(KeyFailure) -> Data {
        guard kind.isNISTCurve else { throw .algorithmNotSupported }
        var encoding = SSHWriter()
        try encoding.ecdsa(kind, raw)
        return encoding.bytes
    }
}

extension SSHWriter {
    fileprivate mutating func ecdsa(_ key: LoadedKey, _ data: Data, _ hash: KeyHash) throws(KeyFailure) {
        try ecdsa(key.key.kind, key.sign(data, .ecdsaSignature(.message(hash), .raw)))
    }

    /// r and s as numbers, in a string of their own.
    fileprivate mutating func ecdsa(_ kind: KeyKind, _ raw: Data) throws(KeyFailure) {
        guard let name = kind.sshName else { throw .algorithmNotSupported }
        var numbers = SSHWriter()
        for half in [raw.prefix(raw.count / 2), raw.suffix(raw.count / 2)] {
            numbers.unsigned([UInt8](half.drop { $0 == 0 }))
        }
        string(name.utf8)
        string(numbers.bytes)
    }
}
