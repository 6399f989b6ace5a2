// SPDX-License-Identifier: Apache-2.0
// Parses the second dictionary of an update into typed changes: only attributes and the secret.

#if os(Linux)
    import Foundation
    import KeychainEngine

    extension Changes {
        /// Reads `attributesToUpdate`.
        ///
        /// - Throws: `noSuchAttribute` for every key that is neither an attribute nor `kSecValueData`, including class,
        ///   match, return and use keys; `invalidParameter` for keys that are not strings and for values of a wrong
        ///   type.
        init(_ dictionary: NSDictionary) throws(KeychainError) {
            var changes = Changes()
            try dictionary.forEachEntry { (key: Any, value: Any) throws(KeychainError) in
                guard let name = key as? String else {
                    throw KeychainError(.invalidParameter, "The keys of a dictionary have to be strings.")
                }
                try changes.take(name, value)
            }
            self = changes
        }

        private mutating func take(_ name: String, _ entry: Any) throws(KeychainError) {
            if name == "v_Data" {
                value = try secretData(entry)
                return
            }
            guard let attribute = Attribute(name) else { throw .unknownAttribute(name) }
            switch attribute {
            case .dataProtection: break
            case .accessControl: accessControl = try AccessControl(entry: entry)
            case .synchronizable where isSynchronizableAny(entry): break  // leaves items as they are
            default: attributes[attribute] = try AttributeValue(entry: entry, for: attribute)
            }
        }
    }
#endif
