// SPDX-License-Identifier: Apache-2.0
// Certificates as values of swift-certificates, and back.

#if Certificates
    import Foundation
    import KeychainEngine
    public import KeychainKeyStore
    public import KeychainKit
    import SwiftASN1
    public import X509

    #if os(Linux)
        import KeychainKeys
        public import KeychainServices
    #endif

    extension X509.Certificate {
        /// A certificate of the keychain as a value of swift-certificates.
        ///
        /// ```swift
        /// let certificate = try X509.Certificate(identity.certificate.certificate)
        /// ```
        ///
        /// - Throws: An error of swift-certificates for a certificate that it does not read: for example with an RSA key
        ///   below 2048 bits, or another curve than P-256, P-384, P-521 and Ed25519.
        public init(_ certificate: KeychainCertificate) throws {
            try self.init(derEncoded: [UInt8](certificate.der))
        }

        #if os(Linux)
            /// A certificate object as a value of swift-certificates, which has this initializer on Apple platforms.
            ///
            /// - Throws: An error of swift-certificates for a certificate that it does not read.
            public init(_ certificate: SecCertificate) throws {
                try self.init(derEncoded: [UInt8](certificate.certificate.der))
            }
        #endif

        fileprivate var der: Data {
            get throws {
                var serializer = DER.Serializer()
                try serializer.serialize(self)
                return Data(serializer.serializedBytes)
            }
        }
    }

    extension KeychainCertificate {
        /// A certificate of swift-certificates, for the keychain.
        ///
        /// ```swift
        /// try keys.save(KeychainCertificate(certificate))
        /// ```
        ///
        /// - Throws: `undecodableInput` if the certificate cannot be encoded.
        public init(_ certificate: X509.Certificate) throws(KeychainError) {
            guard let der = try? certificate.der else {
                throw KeychainError(.undecodableInput, "The certificate cannot be encoded.")
            }
            try self.init(der: der)
        }
    }

    #if os(Linux)
        extension SecCertificate {
            /// A certificate of swift-certificates as an object, as on Apple platforms.
            ///
            /// - Throws: An error of swift-certificates, or `undecodableInput`.
            public static func makeWithCertificate(_ certificate: X509.Certificate) throws -> SecCertificate {
                guard let object = SecCertificateCreateWithData(nil, NSData(data: try certificate.der)) else {
                    throw KeychainError(.undecodableInput, "The certificate cannot be encoded.")
                }
                return object
            }
        }
    #endif
#endif
