// SPDX-License-Identifier: Apache-2.0
// Divides a request for identities into one for certificates and one for keys.

extension Query {
    /// The request for certificates, and the one for keys.
    typealias Halves = (certificates: Query, keys: Query)

    /// Conditions for certificates though keys have the attribute too.
    private static let ofCertificates: Set<Attribute> = [.label, .tokenID]

    /// A search for certificates and one for keys, each with the conditions for its items. An attribute that neither
    /// class has stays in both, and is refused. Criteria for certificates are left to ``IdentitySearch``.
    ///
    /// - Parameter groupOfBoth: Whether a group is a condition for certificates as well. In a search it is that of the
    ///   key, as by Apple.
    func dividedForIdentities(groupOfBoth: Bool = false) throws(KeychainError) -> Halves {
        var (certificates, keys) = try repeatedForIdentities(withObject: false)
        certificates.matchCriteria.removeAll { if case .certificate = $0 { true } else { false } }
        keys.matchCriteria = certificates.matchCriteria
        let ofBoth: Set<Attribute> = groupOfBoth ? [.synchronizable, .accessGroup] : [.synchronizable]
        for (attribute, _) in attributes where !ofBoth.contains(attribute) {
            let isOfCertificates = ItemClass.certificate.schema[attribute] != nil
            let isOfKeys = ItemClass.key.schema[attribute] != nil
            if isOfCertificates, !isOfKeys || Self.ofCertificates.contains(attribute) {
                keys.attributes[attribute] = nil
            } else if isOfKeys {
                certificates.attributes[attribute] = nil
            }
        }
        certificates.take(identity?.certificate)
        keys.take(identity?.key)
        return (certificates, keys)
    }

    /// The same request for certificates and for keys. A persistent reference is that of the certificate.
    ///
    /// - Parameter withObject: Whether the halves also have what the object of an identity stands for.
    func repeatedForIdentities(withObject: Bool = true) throws(KeychainError) -> Halves {
        if let persistentReference, !persistentReference.isOfIdentity {
            throw KeychainError(.noSuchClass, "The persistent reference does not belong to an identity.")
        }
        var (certificates, keys) = (self, self)
        (certificates.itemClass, keys.itemClass) = (.certificate, .key)
        (certificates.isForIdentities, keys.isForIdentities) = (false, false)
        if let persistentReference {
            certificates.persistentReference = persistentReference.ofItem
            keys.persistentReference = nil
            keys.attributes[.synchronizable] = nil
            keys.synchronizableAny = true
        }
        if withObject {
            certificates.take(identity?.certificate)
            keys.take(identity?.key)
        }
        return (certificates, keys)
    }

    private mutating func take(_ part: IdentityParts.Part?) {
        guard let part else { return }
        for (attribute, value) in part.attributes where attributes[attribute] == nil { attributes[attribute] = value }
        value = value ?? part.value
        onToken = onToken ?? part.onToken
    }
}
