// SPDX-License-Identifier: Apache-2.0
// The protector behind a recovery key: 256 random bits, on paper.

import KeychainCrypto
import KeychainEngine
import SecretMemory

/// Wraps under a key derived from a recovery key. Parameters: salt (32 bytes).
struct RecoveryKeyProtector: KeyProtector {
    static let kind = ProtectorKind(
        number: 3, word: "recovery-key", name: "recovery key", holder: .person, input: .generated,
        protectsFrom: "everyone who has the files and not the recovery key",
        doesNotProtectFrom: "whoever finds where it is written down")

    let secret: SecretBytes

    static func probe(_: Surroundings) -> (any Protector)? { nil }

    /// - Parameter secret: The text that was shown.
    static func make(
        _ secret: SecretBytes, _: Surroundings
    ) throws(KeychainError) -> (any Protector)? {
        switch RecoveryKey.read(secret) {
        case .key(let key): return RecoveryKeyProtector(secret: key)
        case .mistyped:
            throw KeychainError(
                .invalidParameter, "The recovery key has a typing mistake: its checksum does not fit. Compare it.")
        case .other:
            throw KeychainError(
                .invalidParameter, "That is not a recovery key: it has 14 groups of 4 letters and digits.")
        }
    }
}
