// SPDX-License-Identifier: Apache-2.0
// What a stored key can sign with.

package import KeychainKeys

/// An algorithm for signatures with a ``KeychainSigner``. Later versions may know more.
///
/// ```swift
/// let signature = try signer.sign(message, using: .ecdsaSHA256)
/// ```
///
/// The message is hashed by the algorithm.
///
/// | Algorithms | Keys | Signature |
/// |---|---|---|
/// | ``ecdsaSHA256``, … | P-256, P-384, P-521 | SEQUENCE { r, s } in DER, as X.509 and TLS have it |
/// | ``es256``, ``es384``, ``es512`` | P-256, P-384, P-521, each its own | r ‖ s at full width, as JSON Web Signatures have it |
/// | ``rsaSHA256``, … | RSA | PKCS#1 v1.5 |
/// | ``rsaPSSSHA256``, … | RSA | PSS, with a salt as long as the hash |
/// | ``ed25519`` | Ed25519 | 64 bytes |
public struct SigningAlgorithm: Hashable, Sendable, CustomStringConvertible {
    package let content: KeyAlgorithm
    /// The only kind of keys that the name is for; `nil`: all that the algorithm supports.
    private let kind: KeyKind?
    /// The name, for people: `ecdsa-sha256`, `ES256`.
    public let description: String

    private init(_ content: KeyAlgorithm, _ name: String, only kind: KeyKind? = nil) {
        (self.content, description, self.kind) = (content, name, kind)
    }

    /// ECDSA with SHA-256, in DER.
    public static let ecdsaSHA256 = Self(.ecdsaSignature(.message(.sha256), .der), "ecdsa-sha256")
    /// ECDSA with SHA-384, in DER.
    public static let ecdsaSHA384 = Self(.ecdsaSignature(.message(.sha384), .der), "ecdsa-sha384")
    /// ECDSA with SHA-512, in DER.
    public static let ecdsaSHA512 = Self(.ecdsaSignature(.message(.sha512), .der), "ecdsa-sha512")
    /// RSA with PKCS#1 v1.5 and SHA-256: `RS256`.
    public static let rsaSHA256 = Self(.rsaSignaturePKCS1(.message(.sha256)), "rsa-sha256")
    /// RSA with PKCS#1 v1.5 and SHA-384: `RS384`.
    public static let rsaSHA384 = Self(.rsaSignaturePKCS1(.message(.sha384)), "rsa-sha384")
    /// RSA with PKCS#1 v1.5 and SHA-512: `RS512`.
    public static let rsaSHA512 = Self(.rsaSignaturePKCS1(.message(.sha512)), "rsa-sha512")
    /// RSA with PSS and SHA-256: `PS256`.
    public static let rsaPSSSHA256 = Self(.rsaSignaturePSS(.message(.sha256)), "rsa-pss-sha256")
    /// RSA with PSS and SHA-384: `PS384`.
    public static let rsaPSSSHA384 = Self(.rsaSignaturePSS(.message(.sha384)), "rsa-pss-sha384")
    /// RSA with PSS and SHA-512: `PS512`.
    public static let rsaPSSSHA512 = Self(.rsaSignaturePSS(.message(.sha512)), "rsa-pss-sha512")
    /// Ed25519: `EdDSA`.
    public static let ed25519 = Self(.eddsaSignature, "ed25519")
    /// P-256 with SHA-256, r ‖ s (RFC 7518).
    public static let es256 = Self(.ecdsaSignature(.message(.sha256), .raw), "ES256", only: .p256)
    /// P-384 with SHA-384, r ‖ s (RFC 7518).
    public static let es384 = Self(.ecdsaSignature(.message(.sha384), .raw), "ES384", only: .p384)
    /// P-521 with SHA-512, r ‖ s (RFC 7518).
    public static let es512 = Self(.ecdsaSignature(.message(.sha512), .raw), "ES512", only: .p521)

    /// All of them.
    package static let all: [Self] =
        [.ed25519] + [.ecdsaSHA256, .ecdsaSHA384, .ecdsaSHA512, .es256, .es384, .es512]
        + [.rsaPSSSHA256, .rsaPSSSHA384, .rsaPSSSHA512, .rsaSHA256, .rsaSHA384, .rsaSHA512]

    private static let byJWSName: [String: Self] = [
        "ES256": .es256, "ES384": .es384, "ES512": .es512, "EdDSA": .ed25519,
        "RS256": .rsaSHA256, "RS384": .rsaSHA384, "RS512": .rsaSHA512,
        "PS256": .rsaPSSSHA256, "PS384": .rsaPSSSHA384, "PS512": .rsaPSSSHA512,
    ]

    /// The algorithm of a JSON Web Signature (RFC 7518, RFC 8037).
    ///
    /// ```swift
    /// let algorithm = SigningAlgorithm(jwsName: "ES256")
    /// ```
    ///
    /// - Parameter jwsName: The value of `alg`. `nil` is returned for algorithms without a private key, and for unknown ones.
    public init?(jwsName: String) {
        guard let algorithm = Self.byJWSName[jwsName] else { return nil }
        self = algorithm
    }

    /// The value of `alg` in a JSON Web Signature; `nil` if its signature has another format there.
    public var jwsName: String? { Self.byJWSName.first { $0.value == self }?.key }

    func isSupported(by key: PublicKey) -> Bool {
        (kind ?? key.kind) == key.kind && key.supports(content, for: .verify) && key.blockSize >= leastBlock
    }

    /// The size in bytes that an RSA key needs to sign: the hash, a salt of the same length, and two bytes.
    private var leastBlock: Int {
        if case .rsaSignaturePSS(.message(let hash)) = content { 2 * hash.byteCount + 2 } else { 0 }
    }
}
