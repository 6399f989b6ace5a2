// SPDX-License-Identifier: Apache-2.0
// A certificate as an item has it: the attributes that follow from its bytes.

import Foundation
package import KeychainEngine
package import KeychainKeys

/// The functions of Keychain Services find the same attributes as those they store themselves for the certificate.
package struct CertificateForm: Sendable {
    package let attributes: Attributes
    let bytes: Data

    private static let derEncoding: Int64 = 3

    package init(_ certificate: Certificate) {
        var attributes: Attributes = [
            .certificateType: .number(Int64(certificate.version)), .certificateEncoding: .number(Self.derEncoding),
            .serialNumber: .data(certificate.serialNumber), .publicKeyHash: .data(certificate.publicKeyHash),
        ]
        // Without it, the name is empty in the item's primary key.
        attributes[.issuer] = .data(certificate.normalizedIssuer ?? Data())
        attributes[.subject] = certificate.normalizedSubject.map { .data($0) }
        attributes[.subjectKeyID] = certificate.subjectKeyIdentifier.map { .data($0) }
        attributes[.label] = certificate.subjectSummary.map { .string($0) }
        (self.attributes, bytes) = (attributes, certificate.der)
    }

    /// What tells it from the other certificates of an access group.
    var primaryKey: Attributes {
        var key = Attributes()
        for name in [Attribute.certificateType, .issuer, .serialNumber] { key[name] = attributes[name] }
        return key
    }
}
