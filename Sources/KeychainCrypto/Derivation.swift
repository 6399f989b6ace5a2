// SPDX-License-Identifier: Apache-2.0
// derive: all derived keys, each with its own name.

import Crypto
public import Foundation
public import SecretMemory

/// Deterministic derivation of keys: HKDF with SHA-256 (RFC 5869), 32 bytes out.
public enum Derivation {
    /// The names that separate derived keys; they are part of `info` (Docs/FORMAT.md).
    public enum Purpose: String, Sendable, CaseIterable {
        case slotWrap = "slot wrap"
        case slotCommitment = "slot commitment"
        case deviceBinding = "device binding"
        case keybagWrap = "keybag wrap"
        case keybagAuthentication = "keybag authentication"
        case metadata = "metadata"
        case value = "value"
        case reference = "reference"
        /// From the user key: wraps the root key.
        case userRootWrap = "user root wrap"
        /// From the device key: seals the class keys that work before the first unlock.
        case alwaysSection = "always section"
        /// From the key that scrypt derives from an application's password.
        case applicationPassword = "application password"
        /// From the index key: seals the head.
        case head = "head"
        /// From the index key: digests the rows that the head sums up.
        case headRows = "head rows"
        /// Derived from the index key: authenticates the anchors of the head, outside the vault.
        case headAnchor = "head anchor"
    }

    /// - Parameters:
    ///   - salt: The vault's identity, or a slot's random salt.
    ///   - context: The purpose within `purpose`; every field of fixed or stated length.
    public static func key(from secret: SecretBytes, salt: Data, _ purpose: Purpose, context: Data = Data())
        -> SecretBytes
    {
        var info = ByteWriter(capacity: 64)
        info.append("swift-keychain/1 ")
        info.append(purpose.rawValue)
        info.append(UInt8(0))
        info.append(context)
        return key(from: secret, salt: salt, info: info.bytes)
    }

    /// Plain HKDF. Every key is derived here.
    static func key(from secret: SecretBytes, salt: Data, info: [UInt8]) -> SecretBytes {
        // The digests, of which the last is the key, are on the stack below.
        defer { scrubStack() }
        return derived(from: secret, salt: salt, info: info)
    }

    /// swift-crypto's `HKDF` is generic, and its first use takes the runtime longer than all keys of a keybag take
    /// here.
    @inline(never)
    private static func derived(from secret: SecretBytes, salt: Data, info: [UInt8]) -> SecretBytes {
        let extracted = secret.withUnsafeBytes { secret in
            salt.withUnsafeBytes { KeyedDigest.code(forSecret: secret, key: $0) }
        }
        // One block of the expansion is enough, since it has the length of a key.
        let key = (info + [1]).withUnsafeBytes { block in
            extracted.withUnsafeBytes { KeyedDigest.code(forSecret: block, key: $0) }
        }
        return key.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    /// The context of a key that belongs to one class key generation and one access group.
    ///
    /// The group is always empty today: one key serves all groups. It is part of the derivation so that a later vault
    /// can use keys for each group without changing the format.
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
        computed(message, key).withUnsafeBytes { bytes in
            bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data()
        }
    }

    /// Compares in constant time.
    public static func isValid(_ code: Data, for message: [UInt8], key: SecretBytes) -> Bool {
        computed(message, key) == code
    }

    private static func computed(_ message: [UInt8], _ key: SecretBytes) -> SHA256Digest {
        message.withUnsafeBytes { KeyedDigest(key: key).code(for: $0) }
    }
}

/// An unkeyed SHA-256, to detect accidental damage of a file. It does not protect against attackers.
public enum Checksum {
    public static func sha256(_ bytes: Data) -> Data { data(SHA256.hash(data: bytes)) }

    /// The digest of bytes that contain a secret.
    public static func sha256(secret bytes: Data) -> Data {
        defer { scrubStack() }
        return data(bytes.withUnsafeBytes { SHA256.digest(of: $0) })
    }

    private static func data(_ digest: SHA256Digest) -> Data {
        digest.withUnsafeBytes { bytes in bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data() }
    }
}
