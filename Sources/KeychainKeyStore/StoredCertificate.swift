// SPDX-License-Identifier: Apache-2.0
// Certificates and identities as the keychain has them.

public import Foundation
import KeychainEngine
import KeychainKeys
public import KeychainKit

/// A certificate in the keychain.
///
/// ```swift
/// for stored in try keys.certificates() { print(stored.label ?? "-", stored.certificate.fingerprint) }
/// ```
public struct StoredCertificate: Hashable, Sendable, Identifiable {
    /// The item in lists of all items.
    public let item: KeychainItem
    /// The certificate itself.
    public let certificate: KeychainCertificate

    public var id: UUID { item.id }
    /// The name for people that its item has.
    public var label: String? { item.label }
    public var accessGroup: String { item.accessGroup }
    public var synchronizable: Bool { item.synchronizable }
}

extension StoredCertificate {
    /// Whether both are one certificate in one group, of which there may be a synchronizable item and another.
    package func isCopy(of other: StoredCertificate) -> Bool {
        certificate == other.certificate && accessGroup.utf8.elementsEqual(other.accessGroup.utf8)
    }

    /// `nil` if the bytes of the item are no certificate: any program may have stored them.
    init?(_ stored: StoredItem) {
        guard let value = stored.item.value, let content = try? Certificate(der: value) else { return nil }
        (item, certificate) = (KeychainItem(stored), KeychainCertificate(content))
    }
}

/// A private key in the keychain with a certificate of its public key. It never contains private bytes.
///
/// No item is an identity: a key and a certificate are one because the certificate has the key's public half. A key with
/// two certificates is two identities.
public struct KeychainIdentity: Hashable, Sendable {
    /// The certificate of the key.
    public let certificate: StoredCertificate
    /// The key. Its fingerprint is that of the certificate's key, so that it is known without the private bytes.
    public let key: StoredKey
    /// The certificate of the key first, then its issuers that are stored, up to the root or the first that is missing. Of
    /// several certificates of an issuer, it is one that was valid when the identity was listed, and of these the one that
    /// is valid longest.
    public let chain: [KeychainCertificate]
}

/// What an import found in a file, as the keychain has it now.
public struct ImportedItems: Hashable, Sendable {
    /// The identities of which the file has the key or the certificate. The other half may have been there before.
    public let identities: [KeychainIdentity]
    /// All private keys of the file.
    public let keys: [StoredKey]
    /// All certificates of the file.
    public let certificates: [StoredCertificate]
    /// How many keys and certificates were added.
    public let addedCount: Int
    /// How many were there already and are the same.
    public let existingCount: Int
}
