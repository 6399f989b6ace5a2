// SPDX-License-Identifier: Apache-2.0
// Values and keys that describe cryptographic keys.

// `nonisolated(unsafe)` is safe here: each constant is an immutable string literal that is never reassigned.

#if os(Linux)
    public import Foundation

    /// Public half of a key pair; a value of `kSecAttrKeyClass`.
    nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"

    /// Private half of a key pair; a value of `kSecAttrKeyClass`.
    nonisolated(unsafe) public let kSecAttrKeyClassPrivate: CFString = "1"

    /// Secret key of a symmetric algorithm; a value of `kSecAttrKeyClass`.
    nonisolated(unsafe) public let kSecAttrKeyClassSymmetric: CFString = "2"

    /// RSA; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"

    /// Older name of `kSecAttrKeyTypeECSECPrimeRandom`, with the same value.
    nonisolated(unsafe) public let kSecAttrKeyTypeEC: CFString = "73"

    /// Elliptic curves P-192 to P-521 over prime fields; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"

    /// DES; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyTypeDES: CFString = "14"

    /// Triple DES; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyType3DES: CFString = "17"

    /// RC2; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyTypeRC2: CFString = "23"

    /// RC4; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyTypeRC4: CFString = "25"

    /// DSA; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyTypeDSA: CFString = "43"

    /// CAST; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyTypeCAST: CFString = "56"

    /// ECDSA, with the same value as `kSecAttrKeyTypeECSECPrimeRandom`; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyTypeECDSA: CFString = "73"

    /// AES; a value of `kSecAttrKeyType`.
    nonisolated(unsafe) public let kSecAttrKeyTypeAES: CFString = "2147483649"

    /// HMAC with SHA-1; a value of `kSecAttrPRF`.
    nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"

    /// HMAC with SHA-224; a value of `kSecAttrPRF`.
    nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"

    /// HMAC with SHA-256; a value of `kSecAttrPRF`.
    nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"

    /// HMAC with SHA-384; a value of `kSecAttrPRF`.
    nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"

    /// HMAC with SHA-512; a value of `kSecAttrPRF`.
    nonisolated(unsafe) public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"

    /// Attributes for the private half of a new key pair (dictionary).
    nonisolated(unsafe) public let kSecPrivateKeyAttrs: CFString = "private"

    /// Attributes for the public half of a new key pair (dictionary).
    nonisolated(unsafe) public let kSecPublicKeyAttrs: CFString = "public"

    /// Make or find the key in the Secure Enclave; a value of `kSecAttrTokenID`.
    nonisolated(unsafe) public let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
#endif
