// SPDX-License-Identifier: Apache-2.0
// The kinds of keys, with Apple's numbers and the lengths of their bytes.

/// A kind of asymmetric key.
public enum KeyKind: Hashable, Sendable, CaseIterable {
    case rsa
    case p256
    case p384
    case p521
    /// Signs.
    case ed25519
    /// Agrees on secrets.
    case x25519

    /// The value of `kSecAttrKeyType`. The NIST curves share one; the length of a key distinguishes them.
    public var typeNumber: Int {
        switch self {
        case .rsa: 42
        case .p256, .p384, .p521: 73
        case .ed25519: 105
        case .x25519: 106
        }
    }

    /// The kind of key for one of Apple's types and a size in bits; `nil` if there is none.
    public init?(typeNumber: Int, sizeInBits: Int) {
        let curves: [Int: KeyKind] = [256: .p256, 384: .p384, 521: .p521]
        switch typeNumber {
        case 42: self = .rsa
        case 43, 73:
            guard let curve = curves[sizeInBits] else { return nil }
            self = curve
        case 105: self = .ed25519
        case 106: self = .x25519
        default: return nil
        }
    }

    /// The kind of one of Apple's types whose length fits, otherwise any kind of that type. Older systems use 43 for
    /// NIST curves.
    static func kind(typeNumber: Int, fits: (KeyKind) -> Bool) throws(KeyFailure) -> KeyKind {
        let kinds = allCases.filter { $0.typeNumber == (typeNumber == 43 ? 73 : typeNumber) }
        guard let kind = kinds.first(where: fits) ?? kinds.first else {
            throw .unsupportedAlgorithm("key type \(typeNumber)")
        }
        return kind
    }

    public var isNISTCurve: Bool { coordinateLength != nil }

    /// The bytes of a coordinate, and of a private number; `nil` for kinds without coordinates.
    var coordinateLength: Int? {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        case .rsa, .ed25519, .x25519: nil
        }
    }

    /// The length of a public key's bytes, if it only depends on the kind.
    var publicLength: Int? {
        switch self {
        case .rsa: nil
        case .ed25519, .x25519: 32
        case .p256, .p384, .p521: coordinateLength.map { 1 + 2 * $0 }
        }
    }

    var privateLength: Int? {
        switch self {
        case .rsa: nil
        case .ed25519, .x25519: 32
        case .p256, .p384, .p521: coordinateLength.map { 1 + 3 * $0 }
        }
    }

    /// The size in bits, if it only depends on the kind.
    var sizeInBits: Int? {
        switch self {
        case .rsa: nil
        case .p384: 384
        case .p521: 521
        case .p256, .ed25519, .x25519: 256
        }
    }
}
