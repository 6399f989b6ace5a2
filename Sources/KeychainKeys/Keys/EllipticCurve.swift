// SPDX-License-Identifier: Apache-2.0
// The three NIST curves, behind one protocol, because swift-crypto has separate types for each.

import Crypto
import Foundation

/// A curve with its swift-crypto types.
protocol EllipticCurve: Sendable {
    associatedtype Signer: CurveSigner
    associatedtype Verifier: CurveVerifier
    associatedtype Agreement: CurveAgreement

    static func makeSigner() -> Signer
}

extension KeyKind {
    var curve: (any EllipticCurve.Type)? {
        switch self {
        case .p256: P256.self
        case .p384: P384.self
        case .p521: P521.self
        case .rsa, .ed25519, .x25519: nil
        }
    }
}

/// A private key that signs.
protocol CurveSigner: Sendable {
    init(rawRepresentation: some ContiguousBytes) throws
    init(x963Representation: some ContiguousBytes) throws
    var x963Representation: Data { get }
    func sign(_ digest: AnyDigest) throws -> any CurveSignature
}

/// A signature as r ‖ s and as DER.
protocol CurveSignature {
    init(rawRepresentation: some DataProtocol) throws
    init(derRepresentation: some DataProtocol) throws
    var rawRepresentation: Data { get }
    var derRepresentation: Data { get }
}

protocol CurveVerifier {
    associatedtype Signature: CurveSignature
    /// - Throws: If the point is not on the curve.
    init(x963Representation: some ContiguousBytes) throws
    func isValidSignature<D: Digest>(_ signature: Signature, for digest: D) -> Bool
}

/// A private key that agrees on secrets.
protocol CurveAgreement {
    associatedtype Peer: CurvePeer
    init(rawRepresentation: some ContiguousBytes) throws
    func sharedSecretFromKeyAgreement(with peer: Peer) throws -> SharedSecret
}

protocol CurvePeer {
    init(x963Representation: some ContiguousBytes) throws
}

extension P256: EllipticCurve {
    typealias Signer = Signing.PrivateKey
    typealias Verifier = Signing.PublicKey
    typealias Agreement = KeyAgreement.PrivateKey
    static func makeSigner() -> Signer { Signer() }
}
extension P256.Signing.PrivateKey: CurveSigner {
    func sign(_ digest: AnyDigest) throws -> any CurveSignature { try signature(for: digest) }
}
extension P256.Signing.PublicKey: CurveVerifier {}
extension P256.Signing.ECDSASignature: CurveSignature {}
extension P256.KeyAgreement.PrivateKey: CurveAgreement {}
extension P256.KeyAgreement.PublicKey: CurvePeer {}

extension P384: EllipticCurve {
    typealias Signer = Signing.PrivateKey
    typealias Verifier = Signing.PublicKey
    typealias Agreement = KeyAgreement.PrivateKey
    static func makeSigner() -> Signer { Signer() }
}
extension P384.Signing.PrivateKey: CurveSigner {
    func sign(_ digest: AnyDigest) throws -> any CurveSignature { try signature(for: digest) }
}
extension P384.Signing.PublicKey: CurveVerifier {}
extension P384.Signing.ECDSASignature: CurveSignature {}
extension P384.KeyAgreement.PrivateKey: CurveAgreement {}
extension P384.KeyAgreement.PublicKey: CurvePeer {}

extension P521: EllipticCurve {
    typealias Signer = Signing.PrivateKey
    typealias Verifier = Signing.PublicKey
    typealias Agreement = KeyAgreement.PrivateKey
    static func makeSigner() -> Signer { Signer() }
}
extension P521.Signing.PrivateKey: CurveSigner {
    func sign(_ digest: AnyDigest) throws -> any CurveSignature { try signature(for: digest) }
}
extension P521.Signing.PublicKey: CurveVerifier {}
extension P521.Signing.ECDSASignature: CurveSignature {}
extension P521.KeyAgreement.PrivateKey: CurveAgreement {}
extension P521.KeyAgreement.PublicKey: CurvePeer {}

/// A digest of any length. Apple's ECDSA signs the caller's bytes, of which the leftmost bits count.
struct AnyDigest: Digest {
    /// Only swift-crypto's own types have one length; it is not used here.
    static var byteCount: Int { 0 }
    private let bytes: [UInt8]

    /// An empty digest is the number zero, and so is one zero byte. The library rejects an empty buffer.
    init(_ bytes: [UInt8]) { self.bytes = bytes.isEmpty ? [0] : bytes }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }

    var description: String { "digest of \(bytes.count) bytes" }
}
