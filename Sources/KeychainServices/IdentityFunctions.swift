// SPDX-License-Identifier: Apache-2.0
// The public function that finds the key of a certificate.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    import Foundation
    import KeychainKeys

    /// Makes an identity of a certificate and its private key, which is searched in the keychain. The certificate itself
    /// need not be there.
    ///
    /// - Parameters:
    ///   - keychainOrArray: has to be `nil`: there is one keychain.
    ///   - certificateRef: the certificate.
    ///   - identityRef: receives the identity; not touched on failure.
    /// - Returns: `errSecSuccess`; `errSecItemNotFound` if there is no such key; `errSecUnimplemented` for a keychain;
    ///   the results of `SecItemCopyMatching` for keys that require authentication.
    @discardableResult
    public func SecIdentityCreateWithCertificate(
        _ keychainOrArray: CFTypeRef?, _ certificateRef: SecCertificate,
        _ identityRef: UnsafeMutablePointer<SecIdentity?>
    ) -> OSStatus {
        guard keychainOrArray == nil else { return errSecUnimplemented }
        return Services.shared.makeIdentity(certificateRef, identityRef)
    }

    extension Services {
        package func makeIdentity(
            _ certificate: SecCertificate, _ identity: UnsafeMutablePointer<SecIdentity?>
        ) -> OSStatus {
            let query: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
                kSecAttrApplicationLabel: certificate.certificate.publicKeyHash,
                kSecAttrSynchronizable: kSecAttrSynchronizableAny, kSecReturnRef: true,
                kSecMatchLimit: kSecMatchLimitAll,
            ]
            var result: AnyObject?
            let status = copyMatching(query as NSDictionary, &result)
            guard status == errSecSuccess else { return status }
            let keys = result as? [SecKey] ?? []
            guard let found = keys.lazy.compactMap({ SecIdentity(certificate, $0) }).first else {
                return errSecItemNotFound
            }
            identity.pointee = found
            return errSecSuccess
        }
    }
#endif
