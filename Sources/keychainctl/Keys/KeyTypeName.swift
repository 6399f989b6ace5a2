// SPDX-License-Identifier: Apache-2.0
// The types of keys on the command line and in lists.

import ArgumentParser
import KeychainKeyStore
import KeychainKeys

/// A type of key that can be generated: `p256`, `rsa-3072`.
struct KeyTypeName: ExpressibleByArgument {
    let kind: KeyKind
    let sizeInBits: Int

    private static let kinds: [String: KeyKind] = [
        "p256": .p256, "p384": .p384, "p521": .p521, "ed25519": .ed25519, "x25519": .x25519,
    ]
    static let help =
        "p256, p384, p521, ed25519, x25519, or rsa- and the bits, such as rsa-3072 (2048 to 8192 in steps of 128)"
    static let defaultCompletionKind = CompletionKind.list(
        ["p256", "p384", "p521", "ed25519", "x25519", "rsa-2048", "rsa-3072", "rsa-4096"])

    /// New RSA keys have at least 2048 bits; smaller ones can be imported.
    init?(argument: String) {
        if let kind = Self.kinds[argument] {
            (self.kind, sizeInBits) = (kind, 0)
        } else {
            guard argument.hasPrefix("rsa-"), let size = Int(argument.dropFirst(4)), (2048...8192).contains(size),
                // The number may not have a sign or leading zeros.
                size % 128 == 0, argument == "rsa-\(size)"
            else { return nil }
            (kind, sizeInBits) = (.rsa, size)
        }
    }
}

extension PublicKey {
    /// As on the command line.
    var typeName: String {
        switch kind {
        case .rsa: "rsa-\(sizeInBits)"
        case .p256: "p256"
        case .p384: "p384"
        case .p521: "p521"
        case .ed25519: "ed25519"
        case .x25519: "x25519"
        }
    }

    /// For messages.
    var shown: String { fingerprint.map { "\(typeName) key \($0)" } ?? "\(typeName) key" }
}

extension KeychainKeyStore.StoredKey {
    /// As on the command line; RSA with its size.
    var typeName: String { type == .rsa ? "rsa-\(sizeInBits)" : type?.description ?? "unknown" }
}
