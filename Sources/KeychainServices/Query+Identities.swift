// SPDX-License-Identifier: Apache-2.0
// Identity objects in a query: the attributes that they stand for, and what is read in certificates.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys

    extension Query {
        /// Adds what an identity object stands for: what its certificate and its key each stand for.
        mutating func fill(from object: SecIdentity, for operation: ItemOperation) throws(KeychainError) {
            var (ofCertificate, ofKey) = (Query(.certificate), Query(.key))
            ofCertificate.fill(from: object.certificate, for: operation)
            try ofKey.fill(from: object.privateKey, for: operation)
            identity = IdentityParts(certificate: ofCertificate.part, key: ofKey.part)
        }

        private var part: IdentityParts.Part {
            var part = IdentityParts.Part(attributes, value: value)
            part.onToken = onToken
            return part
        }
    }

    extension CertificateContent {
        /// `nil` if the bytes are not a certificate.
        @Sendable static func read(_ der: Data) -> CertificateContent? {
            guard let certificate = try? Certificate(der: der) else { return nil }
            return CertificateContent(
                notBefore: certificate.notBefore, notAfter: certificate.notAfter,
                emailAddresses: certificate.emailAddresses)
        }
    }

    extension StoredIdentity {
        /// The object; `nil` if the bytes of an item are not its object, or the key is not that of the certificate.
        ///
        /// - Parameter query: The request that found it.
        func object(foundBy query: Query, in services: Services) -> SecIdentity? {
            guard let certificate = SecCertificate(certificate.item),
                let key = SecKey(key, foundBy: query, in: services)
            else { return nil }
            return SecIdentity(certificate, key)
        }
    }
#endif
