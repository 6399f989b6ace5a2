// SPDX-License-Identifier: Apache-2.0
// Certificates and keys as items of the vault, with the attributes that Apple gives them.

import Foundation
import KeychainEngine
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
    /// The item that stores this certificate.
    func newItem(in group: String, name: String?) -> Query {
        var attributes: Attributes = [
            .accessGroup: .string(group), .synchronizable: .number(0),
            // X.509 version 3 is type 3, and DER is encoding 3.
            .certificateType: .number(Int64(version)), .certificateEncoding: .number(3),
            .issuer: .data(normalizedIssuer ?? Data()), .serialNumber: .data(serialNumber),
            .publicKeyHash: .data(publicKeyHash),
        ]
        attributes[.subject] = normalizedSubject.map { .data($0) }
        attributes[.subjectKeyID] = subjectKeyIdentifier.map { .data($0) }
        attributes[.label] = (name ?? subjectSummary).map { .string($0) }
        attributes[.alias] = emailAddresses.first.map { .string($0) }
        var item = Query(.certificate, attributes)
        item.value = der
        return item
    }
}

extension PrivateKey {
    func newItem(in group: String, name: String?, isExtractable: Bool) -> Query {
        var attributes = publicKey.attributes(in: group, label: name ?? "Imported Private Key")
        for attribute in [Attribute.isPrivate, .canSign, .canDecrypt, .canUnwrap, .canDerive] {
            attributes[attribute] = .number(1)
        }
        attributes[.keyClass] = .number(1)
        attributes[.isExtractable] = .number(isExtractable ? 1 : 0)
        var item = Query(.key, attributes)
        item.value = externalRepresentation.withUnsafeBytes { Data($0) }
        return item
    }
}

extension PublicKey {
    func newItem(in group: String) -> Query {
        var attributes = attributes(in: group, label: "Imported Public Key")
        for attribute in [Attribute.canVerify, .canEncrypt, .canWrap] { attributes[attribute] = .number(1) }
        (attributes[.keyClass], attributes[.isExtractable]) = (.number(0), .number(1))
        var item = Query(.key, attributes)
        item.value = externalRepresentation
        return item
    }

    fileprivate func attributes(in group: String, label: String) -> Attributes {
        let size = AttributeValue.number(Int64(sizeInBits))
        return [
            .accessGroup: .string(group), .synchronizable: .number(0), .label: .string(label),
            .applicationLabel: .data(applicationLabel), .type: .number(Int64(kind.typeNumber)),
            .keySizeInBits: size, .effectiveKeySize: size, .isPermanent: .number(1),
        ]
    }
}
