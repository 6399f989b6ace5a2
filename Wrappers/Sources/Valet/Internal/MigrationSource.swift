// SPDX-License-Identifier: Apache-2.0
// The items to migrate, as a dictionary finds them in a keychain.

import Foundation
import KeychainEngine
@_spi(Wrappers) import KeychainKit
@_spi(Wrappers) import KeychainSecItem
@_spi(Wrappers) import KeychainServices

/// The items to migrate, with the dictionary that finds them.
struct MigrationSource {
    let keychain: ChosenKeychain
    let query: MigrationQuery

    /// - Throws: `invalidQuery` for a dictionary that cannot be migrated.
    init(_ keychain: ChosenKeychain, _ entries: [String: AnyHashable]) throws(MigrationError) {
        (self.keychain, query) = (keychain, MigrationQuery(entries: entries))
        guard query.isValid else { throw .invalidQuery }
    }

    /// All matching items; empty if there are none.
    func items(_ context: AuthenticationContext) throws -> [FoundItem] {
        let functions = try functions()
        let asking = functions.authenticationContext(Authorization(context))
        guard let result = try functions.result(query.search, asking) else { return [] }
        guard let list = (result as? [[String: Any]]) ?? (result as? [String: Any]).map({ [$0] }) else {
            throw MigrationError.dataToMigrateInvalid
        }
        return try list.compactMap { attributes in
            guard var item = FoundItem(attributes) else { return nil }
            if item.isCanary { return item }
            item.value = try functions.result(query.value(of: item.reference), asking) as? Data
            return item
        }
    }

    private func functions() throws -> SecItemFunctions {
        try SecItemFunctions.over(keychain.store, accessGroups: keychain.accessGroups)
    }
}

extension SecItemFunctions {
    /// - Returns: `nil` if nothing matches, or there is nothing to return.
    fileprivate func result(_ query: [String: Any], _ asking: LAContext?) throws -> CFTypeRef? {
        var query = query
        if query[kSecUseAuthenticationContext as String] == nil {
            query[kSecUseAuthenticationContext as String] = asking
        }
        var result: CFTypeRef?
        let status = copyMatching(query as CFDictionary, &result)
        guard status != errSecItemNotFound else { return nil }
        guard status == errSecSuccess else { throw failure(status, query) }
        return result
    }

    /// A locked keychain and an item that requires authentication have the same status. If the search works without such items,
    /// authentication was the reason.
    private func failure(_ status: OSStatus, _ query: [String: Any]) -> KeychainKit.KeychainError {
        let error = KeychainKit.KeychainError(system: status)
        guard status == errSecInteractionNotAllowed else { return error }
        var search = query
        search[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUISkip
        for key in [kSecReturnData, kSecUseAuthenticationContext] { search[key as String] = nil }
        search[kSecReturnPersistentRef as String] = true
        var result: CFTypeRef?
        let isLocked = copyMatching(search as CFDictionary, &result) == errSecInteractionNotAllowed
        return isLocked ? error : KeychainKit.KeychainError(.interactionNotAllowed, error.message)
    }
}

/// An item that was found, and its value if it has one.
struct FoundItem {
    /// Text or bytes.
    let key: AnyHashable
    let reference: Data
    /// `nil` for an item whose service or key is not text.
    let name: ItemName?
    /// `nil` if there is none, or it was not read.
    var value: Data?

    var isCanary: Bool { key.base as? String == Compartment.canaryKey }
    /// Whether a migration may remove the item. An item with attributes alone was not copied, and stays.
    var mayGo: Bool { isCanary || value != nil }

    init?(_ attributes: [String: Any]) {
        guard let reference = attributes[kSecValuePersistentRef as String] as? Data else { return nil }
        self.reference = reference
        let account = attributes[kSecAttrAccount as String]
        if let text = account as? String {
            key = text
        } else if let bytes = account as? Data {
            key = bytes
        } else {
            return nil
        }
        name = ItemName(attributes)
    }
}

/// The attributes that identify an item.
struct ItemName {
    let service, accessGroup, account: String
    let isSynchronizable: Bool

    init?(_ attributes: [String: Any]) {
        guard let service = (attributes[kSecAttrService as String] ?? "") as? String,
            let accessGroup = attributes[kSecAttrAccessGroup as String] as? String,
            let account = attributes[kSecAttrAccount as String] as? String
        else { return nil }
        (self.service, self.accessGroup, self.account) = (service, accessGroup, account)
        isSynchronizable = (attributes[kSecAttrSynchronizable as String] as? NSNumber)?.intValue ?? 0 != 0
    }

    func secrets(in keychain: ChosenKeychain) -> SecretStore {
        var secrets = keychain.secrets(service: service, accessGroup: accessGroup)
        secrets.synchronizable = isSynchronizable
        return secrets
    }

    /// Whether it is the item of a key in a valet.
    func isIn(_ compartment: Compartment, _ key: String) -> Bool {
        let (other, group) = (compartment.service, compartment.service.accessGroup ?? accessGroup)
        let texts = [(service, other.description), (account, key), (accessGroup, group)]
        return texts.allSatisfy { $0.utf8.elementsEqual($1.utf8) }
            && isSynchronizable == other.configuration.isSynchronizable
    }
}
