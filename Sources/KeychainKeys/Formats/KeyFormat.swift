// SPDX-License-Identifier: Apache-2.0
// Detects the format of bytes by their structure, because labels in files are often wrong.

// Folders, from top to bottom:
//
// - PKCS12: files of keys with their certificates
// - Certificates: X.509 certificates and their names
// - Algorithms: signatures, encryption and agreement
// - Formats: keys as bytes for other programs
// - Keys: public and private keys as values
// - Ciphers: hashes, and encryption with a passphrase
// - Encoding: DER, Base64 and errors

public import SecretMemory

/// The formats of a DER key.
enum KeyFormat {
    case pkcs8
    case encryptedPKCS8
    case sec1
    case pkcs1Private
    case subjectPublicKeyInfo
    case pkcs1Public

    /// From the tags of the first elements.
    init(of bytes: some ByteSlice) throws(KeyFailure) {
        var reader = try DERReader.only(DERTag.sequence, in: bytes, "key")
        let first = try reader.next().tag
        let second = try reader.next().tag
        switch (first, second) {
        case (DERTag.integer, DERTag.sequence): self = .pkcs8
        case (DERTag.integer, DERTag.octetString): self = .sec1
        case (DERTag.integer, DERTag.integer): self = reader.isAtEnd ? .pkcs1Public : .pkcs1Private
        case (DERTag.sequence, DERTag.octetString): self = .encryptedPKCS8
        case (DERTag.sequence, DERTag.bitString): self = .subjectPublicKeyInfo
        default: throw .malformed("key")
        }
    }
}

extension PrivateKey {
    /// A private key in PKCS#8, encrypted PKCS#8, SEC 1 or PKCS#1; the format is detected.
    ///
    /// - Parameter passphrase: UTF-8; only read for an encrypted key.
    public init(der bytes: SecretBytes, passphrase: SecretBytes? = nil) throws(KeyFailure) {
        switch try KeyFormat(of: SecretSlice(bytes)) {
        case .pkcs8: try self.init(pkcs8: bytes)
        case .sec1: try self.init(sec1: bytes)
        case .pkcs1Private: try self.init(pkcs1: bytes)
        case .encryptedPKCS8:
            guard let passphrase else { throw .passphraseRequired }
            try self.init(encryptedPKCS8: SecretSlice(bytes), PKCS12Passphrase(passphrase))
        case .subjectPublicKeyInfo, .pkcs1Public: throw .malformed("private key: the bytes are a public key")
        }
    }
}

extension PublicKey {
    /// A public key in SubjectPublicKeyInfo or PKCS#1; the format is detected.
    init(der bytes: [UInt8]) throws(KeyFailure) {
        switch try KeyFormat(of: bytes[...]) {
        case .subjectPublicKeyInfo: try self.init(subjectPublicKeyInfo: bytes[...])
        case .pkcs1Public: try self.init(.rsa, bytes)
        default: throw .malformed("public key: the bytes are a private key")
        }
    }
}
