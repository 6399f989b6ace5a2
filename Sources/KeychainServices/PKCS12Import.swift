// SPDX-License-Identifier: Apache-2.0
// Reading a PKCS#12 file into objects, and storing them on request.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainEngine
    import KeychainKeys
    import SecretMemory

    /// Reads the identities and certificates of a PKCS#12 file.
    ///
    /// ```swift
    /// var items: CFArray?
    /// let options = [kSecImportExportPassphrase: "correct horse"] as CFDictionary
    /// guard SecPKCS12Import(file as CFData, options, &items) == errSecSuccess,
    ///     let first = (items as? [[String: Any]])?.first
    /// else { throw Failure.noIdentity }
    /// let identity = first[kSecImportItemIdentity as String] as! SecIdentity
    /// ```
    ///
    /// Nothing of the file is verified but its checksum. With the trait `Certificates`, `kSecImportItemTrust` has the verdict
    /// on each chain, of the first 16 identities.
    ///
    /// - Parameters:
    ///   - pkcs12_data: The file, of at most 16 MiB.
    ///   - options: `kSecImportExportPassphrase` as text, empty if it is left out. With `kSecUseDataProtectionKeychain`
    ///     keys and certificates are also stored, unless `kSecImportToMemoryOnly` is `true`, with the other entries as
    ///     their attributes; those that exist are left as they are.
    ///   - items: Receives an array with a dictionary for each private key that has its certificate: the identity, the
    ///     chain of its certificates, its `SecTrust`, a label and the hash of its key; and one with a chain alone for the
    ///     other certificates. It is not touched if the file cannot be read.
    /// - Returns: `errSecSuccess`; `errSecAuthFailed` for a wrong passphrase, `errSecDecode` for a file that cannot be read,
    ///   `errSecParam` for a passphrase that is no text. If something could not be stored, the status of the last such
    ///   addition; the array is set, and what was stored stays.
    @discardableResult
    public func SecPKCS12Import(
        _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
    ) -> OSStatus {
        importPKCS12(pkcs12_data as Data, options, items, { Services.shared.certificates(ofSubject: $0) }) {
            SecItemAdd($0, nil)
        }
    }

    extension Services {
        package func importPKCS12(
            _ file: Data, _ options: NSDictionary, _ items: UnsafeMutablePointer<NSArray?>
        ) -> OSStatus {
            KeychainServices.importPKCS12(file, options, items, { certificates(ofSubject: $0) }) { add($0, nil) }
        }
    }

    private func importPKCS12(
        _ file: Data, _ options: NSDictionary, _ items: UnsafeMutablePointer<NSArray?>,
        _ issuers: @escaping IssuerSearch, _ add: (NSDictionary) -> OSStatus
    ) -> OSStatus {
        do throws(KeychainError) {
            let content = try PKCS12Content(file, options)
            items.pointee = content.dictionaries(issuers) as NSArray
            guard isSet(kSecUseDataProtectionKeychain, options), !isSet(kSecImportToMemoryOnly, options) else {
                return errSecSuccess
            }
            return try content.store(options, add)
        } catch {
            return error.status
        }
    }

    /// A value that is no Boolean counts as absent.
    private func isSet(_ option: CFString, _ options: NSDictionary) -> Bool {
        options[option].flatMap { exactBool($0) } ?? false
    }

    /// The objects of a file.
    private struct PKCS12Content {
        private typealias Chain = [SecCertificate]

        private let identities: [(identity: SecIdentity, chain: Chain)]
        private let others: Chain

        init(_ file: Data, _ options: NSDictionary) throws(KeychainError) {
            let passphrase = try Self.passphrase(options)
            do throws(KeyFailure) {
                let content = try PKCS12(file, passphrase: passphrase)
                identities = try content.identities().compactMap { read in
                    let chain = read.chain.map { SecCertificate($0) }
                    return chain.first.flatMap { SecIdentity($0, SecKey(read.key)) }.map { ($0, chain) }
                }
                others = try content.otherCertificates().map { SecCertificate($0) }
            } catch {
                throw Self.failure(error)
            }
        }

        private static func passphrase(_ options: NSDictionary) throws(KeychainError) -> SecretBytes {
            guard let entry = options[kSecImportExportPassphrase] else { return SecretBytes(count: 0) { _ in } }
            guard var text = entry as? String else { throw .invalidValue("kSecImportExportPassphrase", "a string") }
            return text.withUTF8 { SecretBytes(copying: UnsafeRawBufferPointer($0)) }
        }

        private static func failure(_ failure: KeyFailure) -> KeychainError {
            switch failure {
            case .wrongPassphrase, .passphraseRequired, .unsupportedAuthentication:
                KeychainError(.authenticationFailed, "The file does not open with this passphrase.")
            default: KeychainError(.undecodableInput, "The data is not a PKCS#12 file that can be read.")
            }
        }

        /// Each evaluation is limited, and a file may have thousands of identities.
        private static let mostEvaluated = 16

        /// - Parameter issuers: Completes the chains that are evaluated.
        func dictionaries(_ issuers: @escaping IssuerSearch) -> [[String: Any]] {
            let ofIdentities = identities.enumerated().map { number, read in
                let (identity, chain) = read
                let certificate = identity.certificate.certificate
                var dictionary: [String: Any] = [
                    kSecImportItemIdentity as String: identity, kSecImportItemCertChain as String: chain,
                    kSecImportItemKeyID as String: certificate.publicKeyHash,
                ]
                dictionary[kSecImportItemLabel as String] = certificate.subjectSummary
                if number < Self.mostEvaluated,
                    let trust = CertificatePolicies.basic?.trust(chain + others, issuers)
                {
                    dictionary[kSecImportItemTrust as String] = trust.object
                    // An evaluation ends at a certificate whose signature it cannot verify.
                    if trust.chain.count >= chain.count { dictionary[kSecImportItemCertChain as String] = trust.chain }
                }
                return dictionary
            }
            return others.isEmpty ? ofIdentities : ofIdentities + [[kSecImportItemCertChain as String: others]]
        }

        /// - Returns: The last status that is no success; what exists already is one.
        func store(_ options: NSDictionary, _ add: (NSDictionary) -> OSStatus) throws(KeychainError) -> OSStatus {
            var attributes = try Self.attributes(options)
            var status = errSecSuccess
            var objects: [NSObject] = identities.flatMap { [$0.identity.privateKey] + $0.chain as [NSObject] }
            objects += others
            for object in objects {
                attributes[kSecValueRef as String] = object
                let added = add(attributes as NSDictionary)
                if added != errSecSuccess, added != errSecDuplicateItem { status = added }
            }
            return status
        }

        /// What the options say about the items.
        private static func attributes(_ options: NSDictionary) throws(KeychainError) -> [String: Any] {
            var attributes: [String: Any] = [:]
            try options.forEachEntry { (key: Any, value: Any) throws(KeychainError) in
                guard let name = key as? String else { throw .invalidKey(key) }
                attributes[name] = value
            }
            let ofImport = [
                kSecImportExportPassphrase, kSecImportExportKeychain, kSecImportExportAccess, kSecImportToMemoryOnly,
            ]
            for key in ofImport { attributes[key as String] = nil }
            return attributes
        }
    }
#endif
