// SPDX-License-Identifier: Apache-2.0
// Keys in tables and in JSON.

import Foundation
import KeychainAuthenticators
import KeychainKeyStore
import KeychainKit

struct KeyListing {
    private static let header = ["TAG", "TYPE", "FINGERPRINT", "LABEL", "GROUP", "MODIFIED"]

    let keys: [KeychainKeyStore.StoredKey]

    func text(within limit: Int?) -> String {
        guard !keys.isEmpty else { return "" }
        var (header, rows) = (Self.header, keys.map(\.cells))
        if keys.contains(where: \.requiresAuthentication) {
            header.append("PROTECTED")
            for (index, key) in keys.enumerated() { rows[index].append(key.requiresAuthentication ? "asks" : "-") }
        }
        if keys.contains(where: \.isOnToken) {
            header.append("TOKEN")
            for (index, key) in keys.enumerated() {
                rows[index].append(key.tokenIdentifier.map { $0.escapingControls() } ?? "-")
            }
        }
        return TextTable(header: header, rows: rows, cut: ["TAG", "LABEL", "GROUP"]).text(within: limit)
    }
}

extension KeychainKeyStore.StoredKey {
    fileprivate var cells: [String] {
        let modified = item.modified?.timestamp(withFraction: false)
        return [tag, typeName, fingerprint, label, accessGroup, modified].map { cell in
            // An empty cell would shift the others for programs that parse columns.
            cell.flatMap { $0.isEmpty ? nil : $0.escapingControls() } ?? "-"
        }
    }
}

/// A key in `key list --json`. Every key exists; the value is `null` if the item does not have it.
struct KeyJSON: Encodable {
    let key: KeychainKeyStore.StoredKey

    private enum Name: String, CodingKey {
        case tag, type, size, fingerprint, applicationLabel, label, accessGroup, created, modified, synchronizable
        case accessibility, requiresAuthentication, token
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        try object.encode(key.tag, forKey: .tag)
        try object.encode(key.type?.description, forKey: .type)
        try object.encode(key.sizeInBits, forKey: .size)
        try object.encode(key.fingerprint, forKey: .fingerprint)
        try object.encode(key.applicationLabel.hexadecimalText, forKey: .applicationLabel)
        try object.encode(key.label, forKey: .label)
        try object.encode(key.accessGroup, forKey: .accessGroup)
        try object.encode(key.item.created?.timestamp(withFraction: true), forKey: .created)
        try object.encode(key.item.modified?.timestamp(withFraction: true), forKey: .modified)
        try object.encode(key.synchronizable, forKey: .synchronizable)
        try object.encode(key.item.accessibility.name, forKey: .accessibility)
        try object.encode(key.requiresAuthentication, forKey: .requiresAuthentication)
        try object.encode(key.tokenIdentifier, forKey: .token)
    }
}

extension FoundEntries {
    /// Says how many items a list lacks: each may be a key or a certificate.
    func warnOfMissing() {
        Output.complainOfClosed(damaged: damaged, ofAnotherDevice: ofAnotherDevice)
        guard locked > 0 else { return }
        Output.complain("\(locked) locked item(s) cannot be shown. To show them: keychainctl unlock")
    }
}

extension Output {
    static func complainOfClosed(damaged: Int, ofAnotherDevice: Int) {
        for text in closed(damaged: damaged, ofAnotherDevice: ofAnotherDevice) { complain(text) }
    }

    static func closed(damaged: Int, ofAnotherDevice: Int) -> [String] {
        [(damaged, "damaged item(s)"), (ofAnotherDevice, "item(s) bound to another device")].filter { $0.0 > 0 }
            .map { "\($0) \($1) cannot be shown. They were not changed. See: keychainctl doctor" }
    }
}
