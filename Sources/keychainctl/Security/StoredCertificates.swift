// SPDX-License-Identifier: Apache-2.0
// Certificates and keys as items of the vault, with the attributes that Apple gives them.

import Foundation
import KeychainEngine
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import SecretMemory

/// A stored certificate that could be parsed.
struct StoredCertificate {
    let found: FoundPassword
    let certificate: Certificate
}

/// A stored key that could be parsed.
struct StoredKey {
    enum Content {
        case `private`(PrivateKey)
        case `public`(PublicKey)
    }

    let found: FoundPassword
    let content: Content

    var isExtractable: Bool { found.item.attributes[.isExtractable] != .number(0) }

    /// Joins a private key with its certificate.
    var label: Data {
        switch content {
        case .private(let key): key.publicKey.applicationLabel
        case .public(let key): key.applicationLabel
        }
    }
}

extension SecurityCall {
    /// Certificates that cannot be parsed are left out; another program may have stored anything.
    func certificates(in keychains: [NamedKeychain]) throws(SecurityFailure) -> [StoredCertificate] {
        var all: [StoredCertificate] = []
        for found in try everything([.certificate], in: keychains) {
            let value = try value(of: found, "SecKeychainItemCopyContent")
            if let certificate = try? Certificate(der: value) {
                all.append(StoredCertificate(found: found, certificate: certificate))
            }
        }
        return all
    }

    func keys(in keychains: [NamedKeychain]) throws(SecurityFailure) -> [StoredKey] {
        var all: [StoredKey] = []
        for found in try everything([.key], in: keychains) {
            var value = try value(of: found, "SecKeychainItemCopyContent")
            defer { value.wipe() }
            if let content = StoredKey.content(found.item, value) {
                all.append(StoredKey(found: found, content: content))
            }
        }
        return all
    }
}

extension StoredKey {
    fileprivate static func content(_ item: KeychainItem, _ value: Data) -> Content? {
        guard case .number(let type)? = item.attributes[.type], let type = Int(exactly: type) else { return nil }
        if item.attributes[.keyClass] == .number(1) {
            let bytes = value.withUnsafeBytes { SecretBytes(copying: $0) }
            return (try? PrivateKey(typeNumber: type, externalRepresentation: bytes)).map { .private($0) }
        }
        return (try? PublicKey(typeNumber: type, externalRepresentation: value)).map { .public($0) }
    }
}

// MARK: - New items

extension Certificate {
    /// The item that stores this certificate: that of the typed interface and of the item functions. As on macOS, its
    /// label is a name of the certificate, whatever a PKCS#12 file calls it: scripts look for that.
    func newItem(in group: String) -> Query {
        var item = Query(.certificate, CertificateForm(self).attributes)
        item.attributes[.accessGroup] = .string(group)
        item.attributes[.synchronizable] = .number(0)
        item.attributes[.alias] = emailAddresses.first.map { .string($0) }
        item.value = der
        return item
    }
}

extension PrivateKey {
    /// The same for a private key; its label is the name in the file.
    func newItem(in group: String, name: String?, isExtractable: Bool) -> Query {
        var item = Query(.key, KeyForm(self).attributes)
        item.attributes[.accessGroup] = .string(group)
        item.attributes[.synchronizable] = .number(0)
        item.attributes[.label] = .string(name ?? "Imported Private Key")
        item.attributes[.isExtractable] = .number(isExtractable ? 1 : 0)
        item.value = externalRepresentation.withUnsafeBytes { Data($0) }
        return item
    }
}

extension PublicKey {
    func newItem(in group: String) -> Query {
        let size = AttributeValue.number(Int64(sizeInBits))
        var attributes: Attributes = [
            .accessGroup: .string(group), .synchronizable: .number(0), .label: .string("Imported Public Key"),
            .applicationLabel: .data(applicationLabel), .type: .number(Int64(kind.typeNumber)),
            .keySizeInBits: size, .effectiveKeySize: size, .isPermanent: .number(1),
        ]
        for attribute in [Attribute.canVerify, .canEncrypt, .canWrap] { attributes[attribute] = .number(1) }
        (attributes[.keyClass], attributes[.isExtractable]) = (.number(0), .number(1))
        var item = Query(.key, attributes)
        item.value = externalRepresentation
        return item
    }
}
