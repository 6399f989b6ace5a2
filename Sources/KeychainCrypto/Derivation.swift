// SPDX-License-Identifier: Apache-2.0
// derive: every key that follows from another one, each by its own name.

import Crypto
public import Foundation
public import SecretMemory

/// Deterministic derivation of keys: HKDF with SHA-256 (RFC 5869), 32 bytes out.
public enum Derivation {
    /// The names that keep derived keys apart; they go into `info` (Docs/FORMAT.md).
    public enum Purpose: String, Sendable, CaseIterable {
        case slotWrap = "slot wrap"
        case slotCommitment = "slot commitment"
        case deviceBinding = "device binding"
        case keybagWrap = "keybag wrap"
        case keybagAuthentication = "keybag authentication"
        case metadata = "metadata"
        case value = "value"
        case reference = "reference"
        /// Of the user key: wraps the root key.
        case userRootWrap = "user root wrap"
        /// Of the device key: seals the class keys that work before the first unlock.
        case alwaysSection = "always section"
        /// Of the key that scrypt makes of an application's password.
        case applicationPassword = "application password"
        /// Of the index key: seals the head.
        case head = "head"
        /// Of the index key: digests the rows that the head adds up.
        case headRows = "head rows"
        /// Derived from the index key: authenticates the anchors of the head, outside the vault.
        case headAnchor = "head anchor"
    }

    /// - Parameters:
    ///   - salt: The vault's identity, or a slot's random salt.
    ///   - context: What the key is for within its purpose; every field of fixed or stated length.
    public static func key(from secret: SecretBytes, salt: Data, _ purpose: Purpose, context: Data = Data())
        -> SecretBytes
    {
        key(from: secret, salt: salt, info: Data("swift-keychain/1 \(purpose.rawValue)\0".utf8) + context)
    }

    /// HKDF as it is: every key goes through here.
    static func key(from secret: SecretBytes, salt: Data, info: Data) -> SecretBytes {
        // The library has the last digest, which is the key, on the stack.
        defer { scrubStack() }
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: symmetric(secret), salt: salt, info: info, outputByteCount: 32)
        return derived.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    /// The context of a key that belongs to one class key generation and one access group.
    ///
    /// The group is empty today: one key serves all groups. It is part of the derivation so that a later vault can give
    /// groups keys of their own without a change of format.
    public static func context(keyClass: UInt8, generation: UInt32, accessGroup: String) -> Data {
        var context = ByteWriter(capacity: 16)
        context.append(keyClass)
        context.append(bigEndian: generation)
        context.append(bigEndian: UInt32(accessGroup.utf8.count))
        context.append(accessGroup)
        return context.data
    }
}

/// Message authentication with HMAC-SHA-256 (RFC 2104).
public enum Authentication {
    public static func code(for message: [UInt8], key: SecretBytes) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: message, using: symmetric(key)))
    }

    /// Compares in constant time.
    public static func isValid(_ code: Data, for message: [UInt8], key: SecretBytes) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: symmetric(key))
    }
}

/// An unkeyed SHA-256, for noticing accidental damage of a file; it is no protection against attackers.
public enum Checksum {
    public static func sha256(_ bytes: Data) -> Data { Data(SHA256.hash(data: bytes)) }
}
