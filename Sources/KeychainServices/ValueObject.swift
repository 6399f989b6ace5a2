// SPDX-License-Identifier: Apache-2.0
// Objects in dictionaries (`kSecValueRef`), and objects made of stored items.

#if os(Linux)
    import Foundation
    import KeychainEngine

    /// An object that a request is about.
    enum ValueObject {
        case key(SecKey)
        case certificate(SecCertificate)
        case identity(SecIdentity)

        /// - Throws: `invalidParameter` for anything else, also for objects of other classes.
        init(entry: Any) throws(KeychainError) {
            switch entry {
            case let key as SecKey: self = .key(key)
            case let certificate as SecCertificate: self = .certificate(certificate)
            case let identity as SecIdentity: self = .identity(identity)
            default: throw .invalidValue("kSecValueRef", "a SecKey, a SecCertificate or a SecIdentity")
            }
        }

        /// `nil` for an identity, which is two items.
        var itemClass: ItemClass? {
            switch self {
            case .key: .key
            case .certificate: .certificate
            case .identity: nil
            }
        }
    }

    extension Query {
        mutating func fill(from object: ValueObject, for operation: ItemOperation) throws(KeychainError) {
            switch object {
            case .key(let key): try fill(from: key, for: operation)
            case .certificate(let certificate): fill(from: certificate, for: operation)
            case .identity(let identity): try fill(from: identity, for: operation)
            }
        }
    }

    extension StoredItem {
        /// The object that is stored in the item; `nil` if its bytes are not one, and for passwords.
        ///
        /// - Parameter query: The request that found it.
        func object(foundBy query: Query, in services: Services) -> AnyObject? {
            switch item.itemClass {
            case .key: SecKey(self, foundBy: query, in: services)
            case .certificate: SecCertificate(item)
            case .genericPassword, .internetPassword: nil
            }
        }
    }
#endif
