// SPDX-License-Identifier: Apache-2.0
// The four functions over another store than the system's.

import Foundation
public import KeychainEngine
import KeychainServices

extension SecItemFunctions {
    /// The system's functions, or the same functions over another store: for APIs to which programs pass dictionaries.
    ///
    /// - Parameters:
    ///   - store: `nil`: the user's keychain. Apple's functions support no other: with a store they return
    ///     `unsupported` there.
    ///   - accessGroups: `nil`: all access groups.
    @_spi(Wrappers) public static func over(
        _ store: (any ItemStore)?, accessGroups: AccessGroups?
    ) throws(KeychainError) -> SecItemFunctions {
        guard let store else { return .system }
        #if canImport(Darwin)
            throw KeychainError(.unsupported, "The functions of this system support only the user's keychain.")
        #else
            let services = Services(over: store, accessGroups: accessGroups ?? .unrestricted)
            return SecItemFunctions(
                add: { services.add($0, $1) }, copyMatching: { services.copyMatching($0, $1) },
                update: { services.update($0, $1) }, delete: { services.delete($0) })
        #endif
    }
}
