// SPDX-License-Identifier: Apache-2.0
// The private keys of algorithms that withstand quantum computers. They are stored as seeds, which Apple's own
// representation of such keys is not, so their rows name the representation.

public import Crypto
import Foundation
public import SecretMemory

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MLKEM768.PrivateKey: StorableKey {
    public static var keyType: KeyType { .mlKEM768 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(seedRepresentation: $0, publicKey: nil) }
    }
    public var storedBytes: SecretBytes { .moving(seedRepresentation) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MLKEM1024.PrivateKey: StorableKey {
    public static var keyType: KeyType { .mlKEM1024 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(seedRepresentation: $0, publicKey: nil) }
    }
    public var storedBytes: SecretBytes { .moving(seedRepresentation) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MLDSA65.PrivateKey: StorableKey {
    public static var keyType: KeyType { .mlDSA65 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(seedRepresentation: $0, publicKey: nil) }
    }
    public var storedBytes: SecretBytes { .moving(seedRepresentation) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MLDSA87.PrivateKey: StorableKey {
    public static var keyType: KeyType { .mlDSA87 }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(seedRepresentation: $0, publicKey: nil) }
    }
    public var storedBytes: SecretBytes { .moving(seedRepresentation) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension XWingMLKEM768X25519.PrivateKey: StorableKey {
    public static var keyType: KeyType { .xWing }
    public init(storedBytes: SecretBytes) throws {
        self = try storedBytes.withUnsafeBytes { try Self(seedRepresentation: $0, publicKey: nil) }
    }
    public var storedBytes: SecretBytes { .moving(seedRepresentation) }
}

extension KeyType {
    /// The public key of a seed, which also checks the seed's length.
    ///
    /// - Throws: For other types, and on systems that do not know the type.
    func publicKey(ofSeed seed: SecretBytes) throws -> Data {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            throw CryptoKitError.incorrectParameterSize
        }
        switch code {
        case .mlKEM768: return try MLKEM768.PrivateKey(storedBytes: seed).publicKey.rawRepresentation
        case .mlKEM1024: return try MLKEM1024.PrivateKey(storedBytes: seed).publicKey.rawRepresentation
        case .mlDSA65: return try MLDSA65.PrivateKey(storedBytes: seed).publicKey.rawRepresentation
        case .mlDSA87: return try MLDSA87.PrivateKey(storedBytes: seed).publicKey.rawRepresentation
        case .xWing: return try XWingMLKEM768X25519.PrivateKey(storedBytes: seed).publicKey.rawRepresentation
        case .p256, .p384, .p521, .rsa, .ed25519, .x25519: throw CryptoKitError.incorrectParameterSize
        }
    }
}
