// SPDX-License-Identifier: Apache-2.0
// The dictionary that selects the items to migrate: its validation, and what is added to it.

import Foundation
@_spi(Wrappers) import KeychainServices

/// A program's dictionary. Its conditions are passed to the keychain unchanged.
struct MigrationQuery {
    let entries: [String: AnyHashable]

    /// Whether it selects all items of one class, and does not say what to return.
    var isValid: Bool {
        let isAboutPasswords = text(kSecClass) == kSecClassGenericPassword as String
        let isAboutAll = text(kSecMatchLimit) != kSecMatchLimitOne as String
        let leavesReturns =
            flag(kSecReturnData) != true && flag(kSecReturnRef) != true && flag(kSecReturnAttributes) != false
            && flag(kSecReturnPersistentRef) != false
        return isAboutPasswords && isAboutAll && leavesReturns && entries[kSecAttrAccessControl as String] == nil
    }

    /// Searches the names of all matching items. Values are read one by one, because Apple does not return the values
    /// of several items.
    var search: [String: Any] {
        adding([
            kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnPersistentRef: true,
            kSecReturnData: false, kSecReturnRef: false,
        ])
    }

    /// Reads the value of one found item, with the same conditions.
    func value(of reference: Data) -> [String: Any] {
        adding([kSecValuePersistentRef: reference, kSecReturnData: true]) {
            // The text of all `kSecUse…` keys. Apple's compiler warns of some of the constants.
            $0.hasPrefix("u_") || $0 == kSecUseDataProtectionKeychain as String
        }
    }

    private func adding(
        _ additions: [CFString: Any], to isKept: (String) -> Bool = { _ in true }
    ) -> [String: Any] {
        var result: [String: Any] = entries.filter { isKept($0.key) }.mapValues(\.base)
        for (key, value) in additions { result[key as String] = value }
        return result
    }

    private func text(_ key: CFString) -> String? { entries[key as String]?.base as? String }
    private func flag(_ key: CFString) -> Bool? { entries[key as String]?.base as? Bool }
}
