// SPDX-License-Identifier: Apache-2.0
// Fields of a certificate.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import KeychainEngine
    import KeychainKeys

    /// One line for people: the common name, otherwise an address, a host or another part of the subject; `nil` for a
    /// certificate without any name.
    public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
        certificate.certificate.subjectSummary.map { NSString(string: $0) }
    }

    /// The last common name of the subject.
    ///
    /// - Parameter commonName: receives the name; `nil` if there is none.
    /// - Returns: `errSecSuccess`; -26276 if there is none.
    @discardableResult
    public func SecCertificateCopyCommonName(
        _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
    ) -> OSStatus {
        commonName.pointee = certificate.certificate.commonName.map { NSString(string: $0) }
        return commonName.pointee == nil ? -26276 : errSecSuccess
    }

    /// The e-mail addresses: those in the alternative names, then those in the subject.
    ///
    /// - Parameter emailAddresses: receives an array of strings; it is empty if there are none, or if one is not ASCII.
    /// - Returns: `errSecSuccess`.
    @discardableResult
    public func SecCertificateCopyEmailAddresses(
        _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
    ) -> OSStatus {
        emailAddresses.pointee = certificate.certificate.emailAddresses as NSArray
        return errSecSuccess
    }

    /// The content of the serial number, including a leading zero byte.
    ///
    /// - Parameter error: never receives an error.
    public func SecCertificateCopySerialNumberData(
        _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> CFData? {
        NSData(data: certificate.certificate.serialNumber)
    }

    /// The issuer in the form in which names are compared, as DER; `nil` if it is damaged.
    public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
        certificate.certificate.normalizedIssuerSequence.map { NSData(data: $0) }
    }

    /// The subject in the form in which names are compared, as DER; `nil` if it is damaged.
    public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
        certificate.certificate.normalizedSubjectSequence.map { NSData(data: $0) }
    }

    /// When the certificate becomes valid.
    public func SecCertificateCopyNotValidBeforeDate(_ certificate: SecCertificate) -> CFDate? {
        certificate.certificate.notBefore as NSDate
    }

    /// When the certificate expires.
    public func SecCertificateCopyNotValidAfterDate(_ certificate: SecCertificate) -> CFDate? {
        certificate.certificate.notAfter as NSDate
    }

    // MARK: - Refused functions of macOS

    /// Certificates are not taken apart here: read them with swift-certificates.
    ///
    /// - Parameter error: receives an error that the caller releases: `errSecUnimplemented`.
    /// - Returns: `nil`.
    public func SecCertificateCopyValues(
        _ certificate: SecCertificate, _ keys: CFArray?, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> CFDictionary? {
        reporting(to: error) { throw KeychainError.noDescription }
    }

    /// There is no description: show `SecCertificateCopySubjectSummary`.
    ///
    /// - Parameter error: receives an error that the caller releases: `errSecUnimplemented`.
    /// - Returns: `nil`.
    public func SecCertificateCopyLongDescription(
        _ alloc: CFAllocator?, _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> CFString? {
        reporting(to: error) { throw KeychainError.noDescription }
    }

    /// There is no description: show `SecCertificateCopySubjectSummary`.
    ///
    /// - Parameter error: receives an error that the caller releases: `errSecUnimplemented`.
    /// - Returns: `nil`.
    public func SecCertificateCopyShortDescription(
        _ alloc: CFAllocator?, _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
    ) -> CFString? {
        reporting(to: error) { throw KeychainError.noDescription }
    }

    extension KeychainError {
        fileprivate static let noDescription = KeychainError(
            .unsupported,
            "Certificates have no list of values and no description here. Use the functions for single fields, or "
                + "swift-certificates.")
    }
#endif
