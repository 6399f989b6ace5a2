// SPDX-License-Identifier: Apache-2.0
// The algorithms of SecKey, by Apple's names.

/// An algorithm for signatures, encryption or agreement on a secret.
///
/// ```swift
/// let algorithm = KeyAlgorithm(rawValue: "algid:sign:ECDSA:message-X962:SHA256")
/// ```
public enum KeyAlgorithm: Hashable, Sendable {
    /// The input of a signature: a message that is hashed first, or a digest of exactly the length of the hash.
    public enum Input: Hashable, Sendable {
        case message(KeyHash)
        case digest(KeyHash)
    }

    /// The encoding of the two numbers of an ECDSA signature.
    public enum SignatureFormat: Hashable, Sendable, CaseIterable {
        /// SEQUENCE { r, s }.
        case der
        /// r ‖ s at full width (RFC 4754), as JSON Web Tokens have it.
        case raw
    }

    /// The curves here have cofactor 1, so both give the same result.
    public enum Agreement: String, Hashable, Sendable, CaseIterable {
        case standard = "ECDH"
        case cofactor = "ECDHC"
    }

    /// The source of the initialization vector of ECIES.
    public enum InitializationVector: Hashable, Sendable, CaseIterable {
        case zero
        case derived
    }

    case rsaSignatureRaw
    /// The caller's bytes are padded unchanged.
    case rsaSignaturePKCS1Raw
    case rsaSignaturePKCS1(Input)
    case rsaSignaturePSS(Input)
    case ecdsaSignature(Input, SignatureFormat)
    /// A digest of any length.
    case ecdsaSignatureOfAnyDigest(SignatureFormat)
    /// The deprecated name of `ecdsaSignatureOfAnyDigest(.raw)`.
    case ecdsaSignatureRFC4754
    /// Ed25519 over a message.
    case eddsaSignature
    case rsaEncryptionRaw
    case rsaEncryptionPKCS1
    case rsaEncryptionOAEP(KeyHash)
    case rsaEncryptionOAEPAESGCM(KeyHash)
    case ecies(Agreement, KeyHash, InitializationVector)
    case keyExchange(Agreement)
    /// Agreement followed by the key derivation of ANSI X9.63.
    case keyExchangeX963(Agreement, KeyHash)
}

extension KeyAlgorithm: CaseIterable, RawRepresentable {
    public static let allCases: [KeyAlgorithm] = rsa + ecdsa + ecies + agreements

    private static let inputs: [Input] = KeyHash.allCases.flatMap { [.digest($0), .message($0)] }

    private static let rsa: [KeyAlgorithm] =
        [.rsaSignatureRaw, .rsaSignaturePKCS1Raw, .rsaEncryptionRaw, .rsaEncryptionPKCS1]
        + inputs.flatMap { [.rsaSignaturePKCS1($0), .rsaSignaturePSS($0)] }
        + KeyHash.allCases.flatMap { [.rsaEncryptionOAEP($0), .rsaEncryptionOAEPAESGCM($0)] }

    private static let ecdsa: [KeyAlgorithm] =
        [.ecdsaSignatureRFC4754, .eddsaSignature]
        + SignatureFormat.allCases.flatMap { format in
            [.ecdsaSignatureOfAnyDigest(format)] + inputs.map { .ecdsaSignature($0, format) }
        }

    private static let ecies: [KeyAlgorithm] = Agreement.allCases.flatMap { agreement in
        KeyHash.allCases.map { .ecies(agreement, $0, .zero) }
            + KeyHash.allCases.filter { $0 != .sha1 }.map { .ecies(agreement, $0, .derived) }
    }

    private static let agreements: [KeyAlgorithm] = Agreement.allCases.flatMap { agreement in
        [.keyExchange(agreement)] + KeyHash.allCases.map { .keyExchangeX963(agreement, $0) }
    }

    private static let byRawValue = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// - Parameter rawValue: The text of Apple's constant.
    public init?(rawValue: String) {
        guard let algorithm = Self.byRawValue[rawValue] else { return nil }
        self = algorithm
    }

    public var rawValue: String {
        switch self {
        case .rsaSignatureRaw: "algid:sign:RSA:raw"
        case .rsaSignaturePKCS1Raw: "algid:sign:RSA:digest-PKCS1v15"
        case .rsaSignaturePKCS1(let input): "algid:sign:RSA:\(input.kind)-PKCS1v15:\(input.hash.name)"
        case .rsaSignaturePSS(let input):
            "algid:sign:RSA:\(input.kind)-PSS:\(input.hash.name):\(input.hash.name):\(input.hash.byteCount)"
        case .ecdsaSignature(let input, let format):
            "algid:sign:ECDSA:\(input.kind)-\(format.name):\(input.hash.name)"
        case .ecdsaSignatureOfAnyDigest(let format): "algid:sign:ECDSA:digest-\(format.name)"
        case .ecdsaSignatureRFC4754: "algid:sign:ECDSA:RFC4754"
        case .eddsaSignature: "algid:sign:EdDSA:message-Curve25519:SHA512"
        case .rsaEncryptionRaw: "algid:encrypt:RSA:raw"
        case .rsaEncryptionPKCS1: "algid:encrypt:RSA:PKCS1"
        case .rsaEncryptionOAEP(let hash): "algid:encrypt:RSA:OAEP:\(hash.name)"
        case .rsaEncryptionOAEPAESGCM(let hash): "algid:encrypt:RSA:OAEP:\(hash.name):AESGCM"
        case .ecies(let agreement, let hash, let iv):
            "algid:encrypt:ECIES:\(agreement.rawValue):KDFX963:\(hash.name):AESGCM\(iv == .derived ? "-KDFIV" : "")"
        case .keyExchange(let agreement): "algid:keyexchange:\(agreement.rawValue)"
        case .keyExchangeX963(let agreement, let hash):
            "algid:keyexchange:\(agreement.rawValue):KDFX963:\(hash.name)"
        }
    }
}

extension KeyHash {
    fileprivate var name: String { "SHA\(rawValue)" }
}

extension KeyAlgorithm.SignatureFormat {
    fileprivate var name: String { self == .der ? "X962" : "RFC4754" }
}

extension KeyAlgorithm.Input {
    fileprivate var kind: String { if case .message = self { "message" } else { "digest" } }

    var hash: KeyHash {
        switch self {
        case .message(let hash), .digest(let hash): hash
        }
    }
}
