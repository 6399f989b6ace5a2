// SPDX-License-Identifier: Apache-2.0
// The private keys of swift-crypto.

public import Crypto
public import CryptoExtras
import Foundation
public import SecretMemory

extension P256.Signing.PrivateKey: StorableKey {
    public static var keyType: KeyType { .p256 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(x963Representation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(x963Representation) }
}

extension P256.KeyAgreement.PrivateKey: StorableKey {
    public static var keyType: KeyType { .p256 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(x963Representation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(x963Representation) }
}

extension P384.Signing.PrivateKey: StorableKey {
    public static var keyType: KeyType { .p384 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(x963Representation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(x963Representation) }
}

extension P384.KeyAgreement.PrivateKey: StorableKey {
    public static var keyType: KeyType { .p384 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(x963Representation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(x963Representation) }
}

extension P521.Signing.PrivateKey: StorableKey {
    public static var keyType: KeyType { .p521 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(x963Representation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(x963Representation) }
}

extension P521.KeyAgreement.PrivateKey: StorableKey {
    public static var keyType: KeyType { .p521 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(x963Representation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(x963Representation) }
}

extension Curve25519.Signing.PrivateKey: StorableKey {
    public static var keyType: KeyType { .ed25519 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(rawRepresentation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(rawRepresentation) }
}

extension Curve25519.KeyAgreement.PrivateKey: StorableKey {
    public static var keyType: KeyType { .x25519 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(rawRepresentation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(rawRepresentation) }
}

extension _RSA.Signing.PrivateKey: StorableKey {
    public static var keyType: KeyType { .rsa }
    /// Keys of 1024 bits too: what is weak was decided when the key was made.
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(unsafeDERRepresentation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(derRepresentation) }
}

extension _RSA.Encryption.PrivateKey: StorableKey {
    public static var keyType: KeyType { .rsa }
    /// Keys of 1024 bits too: what is weak was decided when the key was made.
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(unsafeDERRepresentation: $0) }
    }
    public var storedBytes: SecretBytes { .moving(derRepresentation) }
}

extension SecretBytes {
    /// Moves what the library returned into secret memory.
    static func moving(_ data: Data) -> SecretBytes {
        var data = data
        defer { data.resetBytes(in: data.startIndex..<data.endIndex) }
        return data.withUnsafeBytes { SecretBytes(copying: $0) }
    }
}
