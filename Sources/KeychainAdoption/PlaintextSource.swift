// SPDX-License-Identifier: Apache-2.0
// Places where programs keep secrets in plain text.

public import Foundation
public import KeychainEngine

/// A source of plain-text values by key, in property list types.
public protocol PlaintextSource {
    /// `nil`: there is no such key.
    func propertyListValue(forKey key: String) throws(KeychainError) -> Any?

    /// Removes keys. They are gone when this returns.
    func removeValues(forKeys keys: [String]) throws(KeychainError)
}

extension UserDefaults: PlaintextSource {
    public func propertyListValue(forKey key: String) throws(KeychainError) -> Any? { object(forKey: key) }

    public func removeValues(forKeys keys: [String]) throws(KeychainError) {
        for key in keys { removeObject(forKey: key) }
        guard synchronize() else {
            throw KeychainError(
                .inputOutput,
                "The values are in the keychain now, but could not be removed from the defaults. Try again.")
        }
    }
}
