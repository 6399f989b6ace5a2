// SPDX-License-Identifier: Apache-2.0
// Why a key or a certificate cannot be saved or read.

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

    // MARK: - Certificates and files

    static let otherCertificate = KeychainError(
        .duplicateItem,
        "Another certificate of that issuer with the same serial number is stored; nothing was changed. Remove it first."
    )

    static let otherOptions = KeychainError(
        .duplicateItem,
        "A key or certificate of the file is stored already, with another label or accessibility; nothing was changed. "
            + "Leave out --label and --accessibility, or remove it first: keychainctl identity delete, or keychainctl "
            + "certificate delete")

    static let removedMeanwhile = KeychainError(
        .itemNotFound, "The item was removed while it was changed; nothing was stored. Try again.")

    static let certificateOfAnotherKey = KeychainError(
        .invalidParameter, "The certificate is that of another key; nothing was stored.")

    static let otherKeyOfTag = KeychainError(
        .duplicateItem,
        "Another key of this tag exists; nothing was stored. Use another tag, or remove the key of this tag first.")

    static let otherBytesOfKey = KeychainError(
        .duplicateItem,
        "The key is stored already, but the value of its item is not this key; nothing was stored. Remove that item first."
    )

    static let notExported = KeychainError(
        .unsupported, "The private key was imported so that it is not exported. Nothing was written.")

    static let emptyPassphrase = KeychainError(
        .invalidParameter, "A file with a private key needs a passphrase that is not empty. Nothing was written.")

    static let nothingInFile = KeychainError(
        .undecodableInput, "The file contains no private key and no certificate; nothing was stored.")

    static let publicKeyInFile = KeychainError(
        .unsupported,
        "The file contains a public key, which is only stored as part of a private key or certificate. Nothing was stored."
    )

    static func tagForSeveral(_ count: Int) -> KeychainError {
        KeychainError(
            .invalidParameter,
            "A tag names one private key, and the file contains \(count). Nothing was stored. Leave the tag out.")
    }

    static let labelForSeveral = KeychainError(
        .invalidParameter, "The file contains several keys or certificates; nothing was stored. Leave the label out.")
}
