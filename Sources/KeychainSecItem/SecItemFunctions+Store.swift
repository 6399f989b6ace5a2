// SPDX-License-Identifier: Apache-2.0
// The four functions over another store than the system's.

import Foundation
package import KeychainEngine
import KeychainServices

extension SecItemFunctions {
    /// The functions that every program has, or the same over another store: for interfaces in which programs hand over
    /// dictionaries.
    ///
    /// - Parameters:
    ///   - store: `nil`: the keychain of the user. Apple's functions know no other: with a store they are `unsupported` there.
    ///   - caller: `nil`: all access groups.
    package static func over(
        _ store: (any ItemStore)?, caller: Caller?
    ) throws(KeychainError) -> SecItemFunctions {
        guard let store else { return .system }
        #if canImport(Darwin)
            throw KeychainError(.unsupported, "The functions of this system know no other keychain than the user's.")
        #else
            let services = Services(over: store, caller: caller ?? .unrestricted)
            return SecItemFunctions(
                add: { services.add($0, $1) }, copyMatching: { services.copyMatching($0, $1) },
                update: { services.update($0, $1) }, delete: { services.delete($0) })
        #endif
    }
}
