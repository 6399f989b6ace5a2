// SPDX-License-Identifier: Apache-2.0
// Certificate objects in a query: the attributes that they stand for.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys

    extension Query {
        /// Adds what a certificate object stands for: in an addition the attributes and the bytes of the certificate, in
        /// other calls the conditions for it. What the caller gives wins.
        mutating func fill(from object: SecCertificate, for operation: ItemOperation) {
            let columns = CertificateColumns(object.certificate)
            let own = columns.attributes(Attribute.init(_:), AttributeValue.number, AttributeValue.data)
            for (attribute, value) in own where attributes[attribute] == nil { attributes[attribute] = value }
            guard operation == .add else { return }
            value = value ?? object.certificate.der
            if attributes[.label] == nil, let label = columns.label { attributes[.label] = .string(label) }
        }
    }

    extension SecCertificate {
        /// The object of a stored certificate; `nil` if the item's bytes are not one.
        convenience init?(_ item: Item) {
            guard let value = item.value, let certificate = try? Certificate(der: value) else { return nil }
            self.init(certificate)
        }
    }
#endif
