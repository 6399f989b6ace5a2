// SPDX-License-Identifier: Apache-2.0
// A public key as a value.

import Crypto
public import Foundation

/// A public key that is known to be valid: a point on its curve, or an RSA modulus and exponent of supported sizes.
///
/// ```swift
/// let key = try PublicKey(.p256, externalRepresentation: bytes)
/// let label = key.applicationLabel
/// ```
public struct PublicKey: Hashable, Sendable {
    public let kind: KeyKind
    /// The size in bits of the modulus or of the field.
    public let sizeInBits: Int
    let bytes: [UInt8]

    /// - Parameter bytes: In Apple's export format: 04 ‖ X ‖ Y (ANSI X9.63), an RSAPublicKey of PKCS#1, or the 32 bytes
    ///   of a Curve25519 key.
    public init(_ kind: KeyKind, externalRepresentation bytes: Data) throws(KeyFailure) {
        try self.init(kind, [UInt8](bytes))
    }

    init(_ kind: KeyKind, _ bytes: [UInt8]) throws(KeyFailure) {
        self.kind = kind
        self.bytes = bytes
        if let size = kind.sizeInBits {
            sizeInBits = size
            guard bytes.count == kind.publicLength else { throw .malformed("public key") }
        } else {
            sizeInBits = try RSANumbers.checkPublicKey(bytes)
        }
        try checkPoint()
    }

    /// A key of one of Apple's types (`kSecAttrKeyType`). For a NIST curve the length determines the curve.
    public init(typeNumber: Int, externalRepresentation bytes: Data) throws(KeyFailure) {
        let kind = try KeyKind.kind(typeNumber: typeNumber) { $0.publicLength == bytes.count }
        try self.init(kind, [UInt8](bytes))
    }

    /// The bytes in Apple's export format.
    public var externalRepresentation: Data { Data(bytes) }

    /// The value of `kSecAttrApplicationLabel`: SHA-1 of the key's bytes in a certificate.
    public var applicationLabel: Data { Data(Insecure.SHA1.hash(data: bytes)) }

    /// The length of an unencoded signature and of an RSA block, in bytes.
    public var blockSize: Int { (sizeInBits + 7) / 8 }

    private func checkPoint() throws(KeyFailure) {
        guard let curve = kind.curve else { return }
        guard bytes.first == 4 else { throw .malformed("public key") }
        func check<Curve: EllipticCurve>(_: Curve.Type) throws { _ = try Curve.Verifier(x963Representation: bytes) }
        do { try check(curve) } catch { throw .malformed("point of a public key") }
    }
}
