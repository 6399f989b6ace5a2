// SPDX-License-Identifier: Apache-2.0
// A private key with its certificate, as two items of a store.

public import Foundation

/// A private key and a certificate of its public key. No store has it as an item: it is the join of two.
///
/// The private key has the application label that the certificate has as the hash of its public key.
public struct StoredIdentity: Equatable, Sendable {
    public let certificate: StoredItem
    public let key: StoredItem

    public init(certificate: StoredItem, key: StoredItem) {
        (self.certificate, self.key) = (certificate, key)
    }

    /// Refers to the certificate, and so to each key that it belongs to.
    public var reference: PersistentReference { PersistentReference(identityWithCertificate: certificate.id) }
}

extension Date {
    /// Whether it is within a validity, both ends included; `false` for a date that is not a number. Foundation's `<=` is
    /// true for such a date, which is not before any other.
    package func isBetween(_ first: Date, and last: Date) -> Bool {
        let seconds = timeIntervalSinceReferenceDate
        return first.timeIntervalSinceReferenceDate <= seconds && seconds <= last.timeIntervalSinceReferenceDate
    }
}

/// What searches read in the bytes of a certificate. The engine itself cannot read certificates.
public struct CertificateContent: Sendable {
    public let notBefore: Date
    public let notAfter: Date
    public let emailAddresses: [String]

    public init(notBefore: Date, notAfter: Date, emailAddresses: [String]) {
        (self.notBefore, self.notAfter, self.emailAddresses) = (notBefore, notAfter, emailAddresses)
    }
}
