// SPDX-License-Identifier: Apache-2.0
// Why a key cannot be saved or read.

import KeychainKit

extension KeychainError {
    static let severalKeys = KeychainError(
        .duplicateItem,
        "Several keys have this tag; nothing was changed. Remove all of them (by the tag), or give them different tags."
    )

    static let keyExists = KeychainError(
        .duplicateItem, "A key of this tag exists and was not changed. Save to it, or use another tag.")

    /// Any program may store other bytes.
    static let notAKey = KeychainError(
        .typeMismatch, "The item exists, but its value is not a private key of the type that the item names.")

    static let typeIsNotForThis = KeychainError(
        .unsupported, "Keys of this type can only be read by programs, with their type in swift-crypto.")

    static func otherType(_ type: KeyType?, than wanted: KeyType) -> KeychainError {
        KeychainError(
            .typeMismatch,
            "The key of this tag is of type \(type?.description ?? "unknown"), not \(wanted). Read it as its own type.")
    }
}
