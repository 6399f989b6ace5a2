// SPDX-License-Identifier: Apache-2.0
// A certificate as an object.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    package import KeychainKeys

    /// An X.509 certificate. Nothing in it is verified: it may be expired, or signed by nobody.
    ///
    /// Certificates are equal if their bytes are.
    ///
    /// ```swift
    /// guard let certificate = SecCertificateCreateWithData(nil, der as CFData) else { throw Failure.noCertificate }
    /// print(SecCertificateCopySubjectSummary(certificate) as String? ?? "no name")
    /// ```
    public final class SecCertificate: NSObject, Sendable {
        package let certificate: Certificate

        package init(_ certificate: Certificate) {
            self.certificate = certificate
        }

        /// Whether the other object is a certificate with the same bytes.
        public override func isEqual(_ object: Any?) -> Bool {
            (object as? SecCertificate)?.certificate == certificate
        }

        /// Equal objects have equal hashes.
        public override var hash: Int { certificate.hashValue }

        /// The summary of the subject.
        public override var description: String {
            "<SecCertificate: \(certificate.subjectSummary ?? "without a name")>"
        }
    }

    /// The type number of certificates. It can only be compared, for example with the result of `CFGetTypeID`.
    public func SecCertificateGetTypeID() -> CFTypeID { 0x6365_7274 }

    /// Creates a certificate from DER.
    ///
    /// - Parameters:
    ///   - allocator: has no effect.
    ///   - data: DER; bytes after the certificate are ignored.
    /// - Returns: `nil` if the bytes are not a certificate, PEM included. Certificates with unknown algorithms, or with
    ///   keys that are too small, are accepted.
    public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
        (try? Certificate(der: data as Data)).map { SecCertificate($0) }
    }

    /// The DER of a certificate.
    public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
        NSData(data: certificate.certificate.der)
    }

    /// The public key; `nil` if it is of a kind or size that is not supported.
    public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? {
        certificate.certificate.publicKey.map { SecKey($0) }
    }

    /// The older name of `SecCertificateCopyKey` on iOS.
    public func SecCertificateCopyPublicKey(_ certificate: SecCertificate) -> SecKey? {
        SecCertificateCopyKey(certificate)
    }
#endif
