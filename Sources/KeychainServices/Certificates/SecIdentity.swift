// SPDX-License-Identifier: Apache-2.0
// A private key with its certificate, as an object.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainKeys

    /// A private key and a certificate of its public key.
    ///
    /// Identities are equal if their keys and certificates are. A private key and a certificate of the keychain are an
    /// identity if they belong together, however they were added; `SecPKCS12Import` and `SecIdentityCreate` make
    /// identities outside of it.
    ///
    /// ```swift
    /// let query: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecAttrLabel: "client", kSecReturnRef: true]
    /// var result: CFTypeRef?
    /// guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess, let result else { return nil }
    /// let identity = result as! SecIdentity
    /// ```
    public final class SecIdentity: NSObject, Sendable {
        let certificate: SecCertificate
        let privateKey: SecKey

        /// - Returns: `nil` if the key is public, or the certificate is that of another key.
        init?(_ certificate: SecCertificate, _ privateKey: SecKey) {
            guard privateKey.isPrivate,
                certificate.certificate.publicKeyHash == privateKey.publicKey.applicationLabel
            else { return nil }
            (self.certificate, self.privateKey) = (certificate, privateKey)
        }

        /// Whether the other object has the same key and the same certificate.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? SecIdentity else { return false }
            return other.certificate == certificate && other.privateKey == privateKey
        }

        /// Equal objects have equal hashes.
        public override var hash: Int { certificate.hash }

        /// The summary of the certificate, and nothing of the key.
        public override var description: String {
            "<SecIdentity: \(certificate.certificate.subjectSummary ?? "without a name")>"
        }
    }

    extension SecIdentity: CustomReflectable {
        /// Shows nothing.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The type number of identities. It can only be compared, for example with the result of `CFGetTypeID`.
    public func SecIdentityGetTypeID() -> CFTypeID { 0x6964_6E74 }

    /// Joins a private key and its certificate.
    ///
    /// - Parameter allocator: has no effect.
    /// - Returns: `nil` if the key is public, or the certificate is that of another key.
    public func SecIdentityCreate(
        _ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey
    ) -> SecIdentity? {
        SecIdentity(certificate, privateKey)
    }

    /// The certificate of an identity.
    ///
    /// - Parameter certificateRef: receives the certificate.
    /// - Returns: `errSecSuccess`.
    @discardableResult
    public func SecIdentityCopyCertificate(
        _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
    ) -> OSStatus {
        certificateRef.pointee = identityRef.certificate
        return errSecSuccess
    }

    /// The private key of an identity.
    ///
    /// - Parameter privateKeyRef: receives the key.
    /// - Returns: `errSecSuccess`.
    @discardableResult
    public func SecIdentityCopyPrivateKey(
        _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
    ) -> OSStatus {
        privateKeyRef.pointee = identityRef.privateKey
        return errSecSuccess
    }
#endif
