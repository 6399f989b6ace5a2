// SPDX-License-Identifier: Apache-2.0
// Saving, finding and removing certificates, on the caller's thread.

public import KeychainKit

extension KeyStore {
    /// Saves a certificate. It is no error if it is stored already.
    ///
    /// ```swift
    /// try keys.save(certificate, label: "Proxy")
    /// ```
    ///
    /// The label, and the store's accessibility, also apply to a certificate that is there; what is not given stays as it
    /// is. A new certificate is always open unless the store has an accessibility, since it is public. The store's access
    /// control is for keys alone.
    ///
    /// - Parameter label: A name for people; `nil`: a new certificate gets its own ``KeychainCertificate/name``.
    /// - Throws: `duplicateItem` if another certificate of the same issuer has the same serial number; `locked`;
    ///   `missingEntitlement`; and errors of the store.
    public func save(_ certificate: KeychainCertificate, label: String? = nil) throws(KeychainError) {
        try call { (requests) throws(KeychainError) in try requests.save(certificate.content, label) }
    }

    /// The certificates of the store's access group, or of all groups that the program may use. The user is not asked:
    /// a certificate that requires authentication is left out. The order is the same in every keychain.
    ///
    /// ```swift
    /// let authorities = try keys.certificates().filter(\.certificate.isAuthority)
    /// ```
    ///
    /// - Throws: `locked` if a certificate is locked; `corrupt` if there are only damaged ones; and errors of the store.
    public func certificates(
        matching search: CertificateSearch = CertificateSearch()
    ) throws(KeychainError) -> [StoredCertificate] {
        try call { (requests) throws(KeychainError) in try requests.certificates(matching: search) }
    }

    /// Removes a certificate. A private key of it stays. A store without an ``accessGroup`` removes it from all groups
    /// that the program may use.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    public func remove(_ certificate: KeychainCertificate) throws(KeychainError) -> Bool {
        try call { (requests) throws(KeychainError) in try requests.remove(certificate.content) }
    }
}
