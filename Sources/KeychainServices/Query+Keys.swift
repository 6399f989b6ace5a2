// SPDX-License-Identifier: Apache-2.0
// Key objects in a query: the attributes that they stand for.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys

    extension Query {
        /// The attributes that identify a key. Apple also compares what the key is marked with, so it does not find a key
        /// by its object once a mark was changed.
        private static let identifying: Set<Attribute> = [.keyClass, .applicationLabel, .type, .keySizeInBits]

        /// Adds what a key object stands for: in an addition the attributes and the bytes of the key, in other calls the
        /// conditions for it. What the caller gives wins.
        ///
        /// - Throws: The errors of opening a key on a token that is stored already, to add it once more.
        mutating func fill(from key: SecKey, for operation: ItemOperation) throws(KeychainError) {
            let own = key.columns.attributes(Attribute.init(_:), AttributeValue.number, AttributeValue.data)
            for (attribute, value) in own
            where attributes[attribute] == nil && (operation == .add || Self.identifying.contains(attribute)) {
                attributes[attribute] = value
            }
            if case .onToken(let key) = key.half {
                attributes[.tokenID] = .string(key.identifier)
                if operation == .add { onToken = try key.forAddition() }
            } else if operation == .add {
                value = value ?? key.externalRepresentation
            }
        }
    }

    extension SecKey {
        /// The object of a stored key; `nil` if the item's bytes are not a key of its class and type.
        ///
        /// - Parameter query: The request that found it.
        convenience init?(_ stored: StoredItem, foundBy query: Query, in services: Services) {
            let item = stored.item
            guard !item.isOnToken else {
                guard let key = KeyOnToken(stored, foundBy: query, in: services) else { return nil }
                self.init(key)
                return
            }
            guard case .number(let keyClass) = item.attributes[.keyClass],
                case .number(let typeNumber) = item.attributes[.type], let value = item.value
            else { return nil }
            do {
                try self.init(typeNumber: Int(clamping: typeNumber), keyClass: Int(clamping: keyClass), value)
            } catch {
                return nil
            }
        }
    }
#endif
