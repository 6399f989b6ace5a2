// SPDX-License-Identifier: Apache-2.0
// Keys whose type is known only at run time, for the tool.

package import KeychainKeys
package import KeychainKit

extension KeyStore {
    /// - Parameter replacing: Whether a key of the tag is replaced. If not, it is `duplicateItem`.
    package func put(
        _ key: PrivateKey, tag: String, label: String?, replacing: Bool
    ) throws(KeychainError) {
        let form = KeyForm(key)
        try call { (requests) throws(KeychainError) in
            if replacing { try requests.save(form, tag, label) } else { try requests.create(form, tag, label) }
        }
    }

    /// The key of a tag, whatever its type.
    ///
    /// - Throws: `unsupported` for ML-KEM, ML-DSA and X-Wing; otherwise the errors of `read`.
    package func privateKey(tag: String) throws(KeychainError) -> UntypedKey? {
        try call { (requests) throws(KeychainError) in try requests.privateKey(tag) }
    }

    /// A listed key with its private bytes; `nil` if it was removed meanwhile.
    package func privateKey(of stored: StoredKey) throws(KeychainError) -> UntypedKey? {
        try call { (requests) throws(KeychainError) in try requests.privateKey(of: stored) }
    }
}

/// A key whose type is known only at run time.
package struct UntypedKey: Sendable {
    package let key: PrivateKey
    /// Whether a program that exports keys may export it (`kSecAttrIsExtractable`).
    package let isExtractable: Bool
}
