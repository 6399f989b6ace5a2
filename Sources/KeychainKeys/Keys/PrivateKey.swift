// SPDX-License-Identifier: Apache-2.0
// A private key as a value, whose bytes are in secret memory.

import Crypto
import CryptoExtras
import Foundation
public import SecretMemory

/// A private key that is known to be valid. Its bytes are locked in memory, and wiped when the last copy of the value
/// is released.
///
/// ```swift
/// let key = try PrivateKey.generate(.p256)
/// let signature = try key.loaded().sign(message, .ecdsaSignature(.message(.sha256), .der))
/// ```
public struct PrivateKey: Sendable, CustomStringConvertible, CustomReflectable {
    public let publicKey: PublicKey
    /// The bytes as Apple exports them: 04 ‖ X ‖ Y ‖ K, an RSAPrivateKey of PKCS#1, or the 32 bytes of a Curve25519 key.
    public let externalRepresentation: SecretBytes

    public var kind: KeyKind { publicKey.kind }
    public var sizeInBits: Int { publicKey.sizeInBits }

    init(_ publicKey: PublicKey, _ externalRepresentation: SecretBytes) {
        (self.publicKey, self.externalRepresentation) = (publicKey, externalRepresentation)
    }

    /// - Throws: `KeyFailure.malformed`, also if the public half in the bytes does not match the private one.
    public init(_ kind: KeyKind, externalRepresentation bytes: SecretBytes) throws(KeyFailure) {
        defer { scrubResidue() }
        switch kind {
        case .rsa: try self.init(pkcs1: bytes)
        case .p256, .p384, .p521: try self.init(kind, x963: bytes)
        case .ed25519, .x25519: try self.init(kind, curve25519: bytes)
        }
    }

    /// A key of one of Apple's types (`kSecAttrKeyType`). For a NIST curve the length determines the curve.
    public init(typeNumber: Int, externalRepresentation bytes: SecretBytes) throws(KeyFailure) {
        let kind = try KeyKind.kind(typeNumber: typeNumber) { $0.privateLength == bytes.count }
        try self.init(kind, externalRepresentation: bytes)
    }

    /// A two-prime RSAPrivateKey.
    public init(pkcs1 bytes: SecretBytes) throws(KeyFailure) {
        let (numbers, _) = try RSANumbers.checkPrivateKey(SecretSlice(bytes))
        publicKey = try PublicKey(.rsa, numbers)
        externalRepresentation = bytes
        _ = try loaded()
    }

    /// A key of a NIST curve from its private number, of at most the full length.
    init(_ kind: KeyKind, scalar: SecretSlice) throws(KeyFailure) {
        guard let curve = kind.curve, let length = kind.coordinateLength, (1...length).contains(scalar.count) else {
            throw .malformed("private number")
        }
        let padded = SecretBytes(count: length) { target in
            scalar.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: target[(length - $0.count)...]).copyMemory(from: $0)
            }
        }
        try self.init(kind, x963: Self.x963(of: padded, on: curve))
    }

    public var description: String { "PrivateKey(\(kind), \(sizeInBits) bits)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension PrivateKey {
    /// - Parameter sizeInBits: Only read for RSA: from 1024 to 8192, a multiple of 128.
    public static func generate(_ kind: KeyKind, sizeInBits: Int = 2048) throws(KeyFailure) -> PrivateKey {
        defer { scrubResidue() }
        switch kind {
        case .ed25519, .x25519: return try PrivateKey(kind, curve25519: .random(count: 32))
        case .rsa: return try PrivateKey(pkcs1: generateRSA(sizeInBits))
        case .p256, .p384, .p521:
            guard let curve = kind.curve else { throw .algorithmNotSupported }
            var bytes = curve.makeSigner().x963Representation
            return try PrivateKey(kind, x963: SecretBytes(moving: &bytes))
        }
    }

    private static func generateRSA(_ size: Int) throws(KeyFailure) -> SecretBytes {
        // The library would round other sizes down.
        guard RSANumbers.sizes.contains(size), size % 128 == 0 else { throw .unsupportedSize(size) }
        do {
            var bytes = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: size)).derRepresentation
            return SecretBytes(moving: &bytes)
        } catch {
            throw .unsupportedSize(size)
        }
    }

    fileprivate init(_ kind: KeyKind, x963 bytes: SecretBytes) throws(KeyFailure) {
        guard bytes.count == kind.privateLength, let length = kind.publicLength else { throw .malformed("private key") }
        let point = bytes.withUnsafeBytes { [UInt8]($0.prefix(length)) }
        self.init(try PublicKey(kind, point), bytes)
        // Rejects a point that does not match the private number.
        _ = try loaded()
    }

    fileprivate init(_ kind: KeyKind, curve25519 bytes: SecretBytes) throws(KeyFailure) {
        guard bytes.count == 32 else { throw .malformed("private key") }
        do {
            let point = try bytes.withUnsafeBytes {
                kind == .ed25519
                    ? try Curve25519.Signing.PrivateKey(rawRepresentation: $0).publicKey.rawRepresentation
                    : try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0).publicKey.rawRepresentation
            }
            self.init(try PublicKey(kind, externalRepresentation: point), bytes)
        } catch {
            throw .malformed("private key")
        }
    }

    private static func x963(
        of scalar: SecretBytes, on curve: any EllipticCurve.Type
    ) throws(KeyFailure) -> SecretBytes {
        func signer<Curve: EllipticCurve>(_: Curve.Type) throws -> Curve.Signer {
            try scalar.withUnsafeBytes { try Curve.Signer(rawRepresentation: $0) }
        }
        do {
            var bytes = try signer(curve).x963Representation
            return SecretBytes(moving: &bytes)
        } catch {
            throw .malformed("private number")
        }
    }

    /// The private number: the end of the bytes for a NIST curve, all of them for Curve25519.
    var scalar: SecretSlice {
        SecretSlice(externalRepresentation).suffix(kind.coordinateLength ?? externalRepresentation.count)
    }
}

extension PrivateKey: Equatable {
    /// Whether these are the same kind of key with the same bytes.
    public static func == (first: PrivateKey, second: PrivateKey) -> Bool {
        first.publicKey == second.publicKey
            && first.externalRepresentation.holdsSameBytes(as: second.externalRepresentation)
    }
}
