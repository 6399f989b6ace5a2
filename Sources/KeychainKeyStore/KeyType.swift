// SPDX-License-Identifier: Apache-2.0
// The types of private keys that are stored, with the numbers that their rows have.

import KeychainEngine
import KeychainKeys

/// A type of private keys. Later versions may know more types.
///
/// ```swift
/// let signing = try keys.keys().filter { $0.type == .ed25519 }
/// ```
public struct KeyType: Hashable, Sendable, CustomStringConvertible {
    /// The types as cases, so that tables of this package need no `default`.
    package enum Code: String, CaseIterable, Sendable {
        case p256, p384, p521, rsa, ed25519, x25519
        case mlKEM768 = "ml-kem-768"
        case mlKEM1024 = "ml-kem-1024"
        case mlDSA65 = "ml-dsa-65"
        case mlDSA87 = "ml-dsa-87"
        case xWing = "x-wing"
    }

    package let code: Code

    package init(_ code: Code) { self.code = code }

    /// NIST P-256, for signatures and for agreement on secrets.
    public static let p256 = KeyType(.p256)
    /// NIST P-384, for signatures and for agreement on secrets.
    public static let p384 = KeyType(.p384)
    /// NIST P-521, for signatures and for agreement on secrets.
    public static let p521 = KeyType(.p521)
    /// RSA of any supported size, for signatures and for encryption.
    public static let rsa = KeyType(.rsa)
    /// Signatures with Curve25519.
    public static let ed25519 = KeyType(.ed25519)
    /// Agreement on secrets with Curve25519.
    public static let x25519 = KeyType(.x25519)
    /// Key encapsulation with ML-KEM-768.
    public static let mlKEM768 = KeyType(.mlKEM768)
    /// Key encapsulation with ML-KEM-1024.
    public static let mlKEM1024 = KeyType(.mlKEM1024)
    /// Signatures with ML-DSA-65.
    public static let mlDSA65 = KeyType(.mlDSA65)
    /// Signatures with ML-DSA-87.
    public static let mlDSA87 = KeyType(.mlDSA87)
    /// Key encapsulation with X-Wing: ML-KEM-768 and X25519.
    public static let xWing = KeyType(.xWing)

    /// The name, for people: `p256`, `ml-kem-768`.
    public var description: String { code.rawValue }
}

extension KeyType {
    init(kind: KeyKind) {
        switch kind {
        case .rsa: self = .rsa
        case .p256: self = .p256
        case .p384: self = .p384
        case .p521: self = .p521
        case .ed25519: self = .ed25519
        case .x25519: self = .x25519
        }
    }

    /// The kind of a key that the C API knows too; `nil` for the others, which are stored as seeds.
    var kind: KeyKind? {
        switch code {
        case .rsa: .rsa
        case .p256: .p256
        case .p384: .p384
        case .p521: .p521
        case .ed25519: .ed25519
        case .x25519: .x25519
        case .mlKEM768, .mlKEM1024, .mlDSA65, .mlDSA87, .xWing: nil
        }
    }

    /// What a row of a seed has: Apple's number of the type, and what it calls the size. X-Wing has no number there, so
    /// its rows have 0 and the length of its public key.
    var numbersOfSeed: (type: Int, size: Int)? {
        switch code {
        case .mlKEM768: (110, 768)
        case .mlKEM1024: (110, 1024)
        case .mlDSA65: (111, 65)
        case .mlDSA87: (111, 87)
        case .xWing: (0, 1216)
        case .p256, .p384, .p521, .rsa, .ed25519, .x25519: nil
        }
    }

    /// The type of a stored row; `nil` for a type that this version does not know.
    init?(_ item: Item) {
        guard let (type, size) = item.keyNumbers else { return nil }
        if let kind = KeyKind(typeNumber: type, sizeInBits: size) {
            self.init(kind: kind)
        } else {
            let code = Code.allCases.first { KeyType($0).numbersOfSeed.map { $0 == (type, size) } ?? false }
            guard let code else { return nil }
            self.init(code)
        }
    }
}

extension Item {
    /// Whether the row leaves open which curve the key is of: other programs may store a key without its size.
    func mayBe(_ type: KeyType) -> Bool {
        guard let numbers = keyNumbers, numbers.size == 0, let kind = type.kind else { return false }
        return kind.typeNumber == numbers.type
    }

    /// Its type and its size in bits. Any program may have stored other values.
    var keyNumbers: (type: Int, size: Int)? {
        guard case .number(let type) = attributes[.type], case .number(let size) = attributes[.keySizeInBits] else {
            return nil
        }
        return (Int(type), Int(size))
    }
}
