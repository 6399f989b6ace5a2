// SPDX-License-Identifier: Apache-2.0
// A stored key without its private bytes.

public import Foundation
import KeychainEngine
package import KeychainKeys
public import KeychainKit
import SecretMemory

/// A private key in the keychain: its name, its attributes and its public half. It never contains private bytes.
///
/// ```swift
/// for key in try keys.keys() { print(key.tag ?? "-", key.fingerprint ?? "-") }
/// ```
public struct StoredKey: Hashable, Sendable, Identifiable {
    /// The item in lists of all items.
    public let item: KeychainItem
    /// `nil` for a type that this version does not know.
    public let type: KeyType?
    /// The size of an RSA modulus or of a curve, in bits.
    public let sizeInBits: Int
    /// `kSecAttrApplicationLabel`: SHA-1 of the public key, as certificates of the key have it.
    public let applicationLabel: Data
    package let publicKey: PublicKey?

    /// Stays the same when the key is replaced under its tag.
    public var id: UUID { item.id }
    /// `nil` if it is not text.
    public var tag: String? { item.keyTag }
    /// `nil` also for a key that requires authentication: see ``requiresAuthentication``.
    public var label: String? { item.label }
    public var accessGroup: String { item.accessGroup }
    public var synchronizable: Bool { item.synchronizable }
    /// Whether the key requires authentication by the user or an application password. A list has only its name then,
    /// without its public half.
    public var requiresAuthentication: Bool { item.requiresAuthentication }

    /// Whether the key is in hardware, such as a TPM, which never gives it out. Reading and exporting it are `unsupported`; a
    /// ``KeychainSigner`` signs with it.
    public var isHardwareBound: Bool { isOnToken && tokenIdentifier != Item.keychainIdentifier }
    /// Whether calls give out the private key. They do not if it is in hardware or ``KeyProtection/notExportable``.
    public var isExportable: Bool { !isOnToken }
    package var isOnToken: Bool { tokenIdentifier != nil }
    /// The token that holds the key, for example `tpm` (`kSecAttrTokenID`); `keychain` for a key there that is not exportable; `nil`
    /// for any other key in the keychain.
    public var tokenIdentifier: String? {
        guard case .string(let identifier) = item.attributes[.tokenID], !identifier.isEmpty else { return nil }
        return identifier
    }

    /// The fingerprint of the public key, as `ssh-keygen -l` prints it: `SHA256:` and Base64. `nil` for a key that requires
    /// authentication, and for types that SSH does not have.
    public var fingerprint: String? { publicKey?.fingerprint }
    /// The public key as a line of OpenSSH's `authorized_keys`, without a comment. `nil` as ``fingerprint``.
    public var openSSHPublicKey: String? { publicKey?.openSSH() }
    /// The public key as SubjectPublicKeyInfo in PEM. `nil` for a key that requires authentication, and for ML-KEM,
    /// ML-DSA and X-Wing.
    public var publicKeyPEM: String? { publicKey?.pem }
}

extension StoredKey {
    /// - Parameter value: The private bytes; `nil` if they were not read.
    init(_ stored: StoredItem, value: SecretBytes?) {
        let type = KeyType(stored.item)
        // Any program may have stored bytes that are no key. A list shows such an item without a fingerprint; reading it fails.
        let publicKey = value.flatMap { bytes in
            type?.kind.flatMap { try? PrivateKey($0, externalRepresentation: bytes).publicKey }
        }
        self.init(stored, publicKey: publicKey)
    }

    /// - Parameter publicKey: The public half, if it is known without the private bytes.
    init(_ stored: StoredItem, publicKey: PublicKey?) {
        let type = KeyType(stored.item)
        item = KeychainItem(stored)
        (self.type, sizeInBits) = (type, stored.item.keyNumbers?.size ?? 0)
        if case .data(let label) = stored.item.attributes[.applicationLabel] {
            applicationLabel = label
        } else {
            applicationLabel = Data()
        }
        // Of a key on a token, every list knows it.
        self.publicKey =
            publicKey ?? stored.item.tokenPublicKey.flatMap { try? PublicKey(.p256, externalRepresentation: $0) }
    }
}

extension KeychainItem {
    /// The tag of a key; `nil` if it is not text.
    package var keyTag: String? {
        switch attributes[.applicationTag] {
        case .string(let text): text.isEmpty ? nil : text
        case .data(let bytes): bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
        case .number, .date, .bool, .unsupported, nil: nil
        }
    }
}
