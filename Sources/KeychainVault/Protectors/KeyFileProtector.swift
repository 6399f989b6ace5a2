// SPDX-License-Identifier: Apache-2.0
// The protector for a key from a file or a descriptor, which is named explicitly each time.

import KeychainEngine
import SecretMemory

/// Wraps under a key derived from the bytes of a file. Parameters: salt (32 bytes).
struct KeyFileProtector: KeyProtector {
    static let kind = ProtectorKind(
        number: 5, word: "key-file", name: "key file", holder: .machine, input: .bytes,
        protectsFrom: "anyone who has the vault's files but not the key file",
        doesNotProtectFrom: "anyone who can read the key file: keep it on another medium or service")

    /// A shorter key could be guessed; a longer file is not a key file.
    static let lengths = 32...4096

    let secret: SecretBytes

    static func probe(_: ProtectorEnvironment) -> (any Protector)? { nil }

    static func make(_ secret: SecretBytes, _: ProtectorEnvironment) throws(KeychainError) -> (any Protector)? {
        try checkLength(secret, "A key file")
        return KeyFileProtector(secret: secret)
    }

    static func checkLength(_ secret: SecretBytes, _ what: String) throws(KeychainError) {
        guard lengths.contains(secret.count) else {
            throw KeychainError(.invalidParameter, "\(what) has \(expected)")
        }
    }

    static func wrongLength(_ path: String) -> KeychainError {
        KeychainError(.invalidParameter, "'\(path)' is not a key file. A key file has \(expected)")
    }

    private static let expected =
        "\(lengths.lowerBound) to \(lengths.upperBound) random bytes, for example: head -c 32 /dev/urandom"
}
