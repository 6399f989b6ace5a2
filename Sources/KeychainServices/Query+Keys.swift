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
        mutating func fill(from key: SecKey, for operation: ItemOperation) {
            for (attribute, value) in key.columns.attributes
            where attributes[attribute] == nil && (operation == .add || Self.identifying.contains(attribute)) {
                attributes[attribute] = value
            }
            if operation == .add { value = value ?? key.externalRepresentation }
        }
    }

    extension KeyColumns {
        fileprivate var attributes: Attributes {
            var attributes: Attributes = [
                .keyClass: .number(Int64(keyClass)), .type: .number(Int64(typeNumber)),
                .keySizeInBits: .number(Int64(sizeInBits)), .effectiveKeySize: .number(Int64(effectiveSizeInBits)),
                .applicationLabel: .data(applicationLabel),
            ]
            for flag in flags {
                guard let attribute = Attribute(flag.name) else { continue }
                attributes[attribute] = .number(flag.isSet ? 1 : 0)
            }
            return attributes
        }
    }

    extension SecKey {
        /// The object of a stored key; `nil` if the item's bytes are not a key of its class and type.
        convenience init?(_ item: Item) {
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
