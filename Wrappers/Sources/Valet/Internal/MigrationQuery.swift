// SPDX-License-Identifier: Apache-2.0
// The dictionary that says what is migrated: whether it can be, and what is added to it.

import Foundation
@_spi(Wrappers) import KeychainServices

/// A program's dictionary. Its conditions go to the keychain as they are.
struct MigrationQuery {
    let entries: [String: AnyHashable]

    /// Whether it asks for all items of one class, and leaves to the migration what is returned of them.
    var isValid: Bool {
        let isAboutPasswords = text(kSecClass) == kSecClassGenericPassword as String
        let isAboutAll = text(kSecMatchLimit) != kSecMatchLimitOne as String
        let leavesReturns =
            flag(kSecReturnData) != true && flag(kSecReturnRef) != true && flag(kSecReturnAttributes) != false
            && flag(kSecReturnPersistentRef) != false
        return isAboutPasswords && isAboutAll && leavesReturns && entries[kSecAttrAccessControl as String] == nil
    }

    /// For the names of all that match. Values are fetched one by one: Apple does not return those of several.
    var search: [String: Any] {
        adding([
            kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true, kSecReturnPersistentRef: true,
            kSecReturnData: false, kSecReturnRef: false,
        ])
    }

    /// For the value of one that was found, asked for in the same way.
    func value(of reference: Data) -> [String: Any] {
        adding([kSecValuePersistentRef: reference, kSecReturnData: true]) {
            // The names of all `kSecUse…` keys, some of which Apple's compiler warns of.
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
