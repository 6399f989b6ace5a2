// SPDX-License-Identifier: Apache-2.0
// Object identifiers: the names of algorithms, curves and attributes in DER.

import SwiftASN1

extension DERReader {
    mutating func objectIdentifier() throws(KeyFailure) -> ASN1ObjectIdentifier {
        guard nextTag == DERTag.objectIdentifier else { throw .malformed(format) }
        let element = try next()
        // No registered identifier is longer.
        guard element.content.count <= 64, let found = try? ASN1ObjectIdentifier(derEncoded: [UInt8](element.encoded))
        else { throw .malformed(format) }
        return found
    }
}

extension DERNode {
    static func oid(_ identifier: ASN1ObjectIdentifier) -> DERNode {
        var serializer = DER.Serializer()
        // Does not fail for object identifiers.
        try? serializer.serialize(identifier)
        return .bytes(serializer.serializedBytes)
    }

    /// An AlgorithmIdentifier.
    static func algorithm(_ identifier: ASN1ObjectIdentifier, _ parameters: DERNode? = nil) -> DERNode {
        .element(DERTag.sequence, [oid(identifier)] + (parameters.map { [$0] } ?? []))
    }
}

extension ASN1ObjectIdentifier {
    // Keys
    static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    static let ecPublicKey: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 2, 1]
    static let p256: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 3, 1, 7]
    static let p384: ASN1ObjectIdentifier = [1, 3, 132, 0, 34]
    static let p521: ASN1ObjectIdentifier = [1, 3, 132, 0, 35]
    static let x25519: ASN1ObjectIdentifier = [1, 3, 101, 110]
    static let ed25519: ASN1ObjectIdentifier = [1, 3, 101, 112]
}

extension ASN1ObjectIdentifier {
    // Encryption with passphrases
    static let pbes2: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 5, 13]
    static let pbkdf2: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 5, 12]
    static let hmacSHA1: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 2, 7]
    static let hmacSHA224: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 2, 8]
    static let hmacSHA256: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 2, 9]
    static let hmacSHA384: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 2, 10]
    static let hmacSHA512: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 2, 11]
    static let aes128CBC: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 2]
    static let aes192CBC: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 22]
    static let aes256CBC: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 42]
}

extension ASN1ObjectIdentifier {
    // Names
    static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    static let organization: ASN1ObjectIdentifier = [2, 5, 4, 10]
    static let organizationalUnit: ASN1ObjectIdentifier = [2, 5, 4, 11]
    static let descriptionAttribute: ASN1ObjectIdentifier = [2, 5, 4, 13]
    static let emailAddress: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 1]

    // Extensions of certificates
    static let subjectKeyIdentifier: ASN1ObjectIdentifier = [2, 5, 29, 14]
    static let keyUsage: ASN1ObjectIdentifier = [2, 5, 29, 15]
    static let subjectAlternativeName: ASN1ObjectIdentifier = [2, 5, 29, 17]
    static let basicConstraints: ASN1ObjectIdentifier = [2, 5, 29, 19]
    static let authorityKeyIdentifier: ASN1ObjectIdentifier = [2, 5, 29, 35]
    static let extendedKeyUsage: ASN1ObjectIdentifier = [2, 5, 29, 37]
}

extension ASN1ObjectIdentifier {
    // PKCS#12
    static let tripleDESCBC: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 3, 7]
    static let pkcs12TripleDES: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 1, 3]
    static let pkcs12RC2of128Bits: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 1, 5]
    static let pkcs12RC2of40Bits: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 1, 6]
    static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    static let encryptedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 6]
    static let keyBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 1]
    static let shroudedKeyBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 2]
    static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 3]
    static let safeContentsBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 6]
    static let x509Certificate: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 22, 1]
    static let friendlyName: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 20]
    static let localKeyIdentifier: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 21]
    static let sha1: ASN1ObjectIdentifier = [1, 3, 14, 3, 2, 26]
    static let sha224: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 4]
    static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    static let sha384: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 2]
    static let sha512: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 3]
}
