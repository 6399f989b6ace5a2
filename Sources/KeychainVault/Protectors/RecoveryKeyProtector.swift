// SPDX-License-Identifier: Apache-2.0
// The protector for a recovery key: 256 random bits, on paper.

import KeychainCrypto
import KeychainEngine
import SecretMemory

/// Wraps under a key derived from a recovery key. Parameters: salt (32 bytes).
struct RecoveryKeyProtector: KeyProtector {
    static let kind = ProtectorKind(
        number: 3, word: "recovery-key", name: "recovery key", holder: .person, input: .generated,
        protectsFrom: "anyone who has the files but not the recovery key",
        doesNotProtectFrom: "anyone who finds a written copy of it")

    let secret: SecretBytes

    static func probe(_: ProtectorEnvironment) -> (any Protector)? { nil }

    /// - Parameter secret: The text that was shown.
    static func make(
        _ secret: SecretBytes, _: ProtectorEnvironment
    ) throws(KeychainError) -> (any Protector)? {
        switch RecoveryKey.read(secret) {
        case .key(let key): return RecoveryKeyProtector(secret: key)
        case .mistyped:
            throw KeychainError(
                .invalidParameter,
                "The recovery key has a typing mistake: its checksum is wrong. Check it and try again.")
        case .other:
            throw KeychainError(
                .invalidParameter, "This is not a recovery key. A recovery key has 14 groups of 4 letters and digits.")
        }
    }
}
