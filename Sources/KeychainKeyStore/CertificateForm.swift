// SPDX-License-Identifier: Apache-2.0
// A certificate as an item has it: the attributes that follow from its bytes.

import Foundation
package import KeychainEngine
package import KeychainKeys

/// The functions of Keychain Services find the same attributes as those they store themselves for the certificate.
package struct CertificateForm: Sendable {
    package let attributes: Attributes
    let bytes: Data

    package init(_ certificate: Certificate) {
        let columns = CertificateColumns(certificate)
        var attributes = Attributes()
        let own = columns.attributes(Attribute.init(_:), AttributeValue.number, AttributeValue.data)
        for (attribute, value) in own { attributes[attribute] = value }
        // Without it, the name is empty in the item's primary key.
        attributes[.issuer] = attributes[.issuer] ?? .data(Data())
        attributes[.label] = columns.label.map { .string($0) }
        (self.attributes, bytes) = (attributes, certificate.der)
    }

    /// What tells it from the other certificates of an access group.
    var primaryKey: Attributes {
        var key = Attributes()
        for name in [Attribute.certificateType, .issuer, .serialNumber] { key[name] = attributes[name] }
        return key
    }
}
