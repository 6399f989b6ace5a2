// SPDX-License-Identifier: Apache-2.0
// The protector behind a key that a file or a descriptor holds, which is named explicitly each time.

import KeychainEngine
import SecretMemory

/// Wraps under a key derived from the bytes of a file. Parameters: salt (32 bytes).
struct KeyFileProtector: KeyProtector {
    static let kind = ProtectorKind(
        number: 5, word: "key-file", name: "key file", holder: .machine, input: .bytes,
        protectsFrom: "everyone who has the vault's files and not the key file",
        doesNotProtectFrom: "whoever can read the key file: keep it on another medium, or with another service")

    /// Shorter ones could be guessed; a longer one is some other file.
    static let lengths = 32...4096

    let secret: SecretBytes

    static func probe(_: Surroundings) -> (any Protector)? { nil }

    static func make(_ secret: SecretBytes, _: Surroundings) throws(KeychainError) -> (any Protector)? {
        try checkLength(secret, "A key file")
        return KeyFileProtector(secret: secret)
    }

    static func checkLength(_ secret: SecretBytes, _ what: String) throws(KeychainError) {
        guard lengths.contains(secret.count) else {
            throw KeychainError(.invalidParameter, "\(what) has \(expected)")
        }
    }

    static func wrongLength(_ path: String) -> KeychainError {
        KeychainError(.invalidParameter, "'\(path)' is no key file: one has \(expected)")
    }

    private static let expected =
        "\(lengths.lowerBound) to \(lengths.upperBound) random bytes, for example: head -c 32 /dev/urandom"
}
