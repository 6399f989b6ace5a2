// SPDX-License-Identifier: Apache-2.0
// Public keys in SubjectPublicKeyInfo (RFC 5280, 4.1.2.7), as in certificates and for other programs.

public import Foundation
import SwiftASN1

extension KeyKind {
    /// The algorithm of SubjectPublicKeyInfo and PKCS#8.
    var algorithm: DERNode {
        switch self {
        case .rsa: .algorithm(.rsaEncryption, .null)
        case .p256, .p384, .p521: .algorithm(.ecPublicKey, curveName.map(DERNode.oid))
        case .ed25519: .algorithm(.ed25519)
        case .x25519: .algorithm(.x25519)
        }
    }

    /// The name of a NIST curve.
    var curveName: ASN1ObjectIdentifier? {
        switch self {
        case .p256: .p256
        case .p384: .p384
        case .p521: .p521
        case .rsa, .ed25519, .x25519: nil
        }
    }

    static func curve(named name: ASN1ObjectIdentifier) throws(KeyFailure) -> KeyKind {
        guard let kind = allCases.first(where: { $0.curveName == name }) else {
            throw .unsupportedAlgorithm("curve \(name)")
        }
        return kind
    }

    /// Reads an AlgorithmIdentifier of a key.
    static func algorithm<Bytes>(_ reader: inout DERReader<Bytes>) throws(KeyFailure) -> KeyKind {
        var algorithm = try reader.within(DERTag.sequence)
        let name = try algorithm.objectIdentifier()
        let kind: KeyKind
        switch name {
        case .rsaEncryption:
            // Some writers omit the NULL.
            if let parameters = try algorithm.contentIfPresent(DERTag.null), !parameters.isEmpty {
                throw .malformed(reader.format)
            }
            kind = .rsa
        case .ecPublicKey:
            // Any other element contains explicit curve parameters, which RFC 5480 forbids.
            guard algorithm.nextTag == DERTag.objectIdentifier else { throw .unsupportedAlgorithm("unnamed curve") }
            kind = try curve(named: algorithm.objectIdentifier())
        case .ed25519: kind = .ed25519
        case .x25519: kind = .x25519
        default: throw .unsupportedAlgorithm("\(name)")
        }
        try algorithm.finish()
        return kind
    }
}

extension PublicKey {
    public init(subjectPublicKeyInfo bytes: Data) throws(KeyFailure) {
        try self.init(subjectPublicKeyInfo: [UInt8](bytes)[...])
    }

    init(subjectPublicKeyInfo bytes: ArraySlice<UInt8>) throws(KeyFailure) {
        var reader = try DERReader.only(DERTag.sequence, in: bytes, "SubjectPublicKeyInfo")
        let kind = try KeyKind.algorithm(&reader)
        let key = try reader.bitString()
        try reader.finish()
        try self.init(kind, [UInt8](key))
    }

    /// Creates a key of one of Apple's types from the input of `SecKeyCreateWithData`: the external representation, and
    /// for RSA also SubjectPublicKeyInfo.
    public static func importing(_ bytes: Data, typeNumber: Int) throws(KeyFailure) -> PublicKey {
        if typeNumber == KeyKind.rsa.typeNumber, let key = try? PublicKey(subjectPublicKeyInfo: bytes),
            key.kind == .rsa
        {
            return key
        }
        return try PublicKey(typeNumber: typeNumber, externalRepresentation: bytes)
    }

    public var subjectPublicKeyInfo: Data { Data(DERNode.sequence(kind.algorithm, .bits(bytes)).encoded) }
}
