// SPDX-License-Identifier: Apache-2.0
// Converts a typed outcome to the object for a caller's result variable.

#if os(Linux)
    import Foundation
    import KeychainEngine

    extension Outcome {
        /// Data, a dictionary, an array of one of these, or nothing, depending on the return keys and the limit of the
        /// request.
        var object: AnyObject? {
            switch self {
            case .nothing: nil
            case .one(let result): result.object
            case .many(let results):
                // Foundation's own conversion of an array asks each object what it is.
                results.compactMap(\.object).withUnsafeBufferPointer {
                    NSArray(objects: $0.baseAddress, count: $0.count)
                }
            }
        }
    }

    extension Outcome.Result {
        /// `nil` for a key, a certificate or an identity whose bytes are not one.
        fileprivate var object: AnyObject? {
            switch self {
            case .value(let bytes): NSData(data: bytes)
            case .persistentReference(let reference): NSData(data: reference.bytes)
            case .object(let item): item.object
            case .identity(let identity): identity.object
            case .record(let record): record.dictionary
            }
        }
    }

    extension Outcome.Record {
        /// An ordinary dictionary: of any class derived from it, Foundation on Linux makes an empty Swift dictionary. Passing
        /// all keys and objects at once takes half the time of setting them one by one.
        fileprivate var dictionary: NSDictionary {
            var keys: [NSObject] = attributes.map(\.attribute.key)
            var objects: [AnyObject] = attributes.map(\.value.object)
            func add(_ key: CFString, _ object: AnyObject?) {
                guard let object else { return }
                keys.append(key)
                objects.append(object)
            }
            add(kSecClass, identity.map { _ in kSecClassIdentity } ?? itemClass.map { NSString(string: $0.rawValue) })
            add(kSecAttrAccessControl, accessControl.map { SecAccessControl($0) })
            add(kSecValueData, value.map { NSData(data: $0) })
            add(kSecValueRef, identity.map { $0.object } ?? object?.object)
            add(kSecValuePersistentRef, persistentReference.map { NSData(data: $0.bytes) })
            return keys.withUnsafeBufferPointer { keys in
                objects.withUnsafeBufferPointer {
                    NSDictionary(objects: $0.baseAddress, forKeys: keys.baseAddress, count: keys.count)
                }
            }
        }
    }

    extension AttributeValue {
        /// Booleans are stored and returned as the numbers 0 and 1, which cast to both `Bool` and `Int`.
        fileprivate var object: AnyObject {
            switch self {
            case .string(let text): NSString(string: text)
            case .data(let bytes): NSData(data: bytes)
            case .number(let number): NSNumber(value: number)
            case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
            case .bool(let flag): NSNumber(value: flag ? 1 : 0)
            case .unsupported: NSNull()
            }
        }
    }

    extension Attribute {
        /// The dictionary key of the attribute.
        fileprivate var key: NSString { Self.keys[self] ?? NSString(string: name) }

        // Immutable strings.
        nonisolated(unsafe) private static let keys: [Attribute: NSString] = {
            let attributes = ItemClass.allCases.flatMap { $0.schema.rules.map(\.attribute) }
            return Dictionary(attributes.map { ($0, NSString(string: $0.name)) }) { first, _ in first }
        }()

        private var name: String {
            withUnsafeBytes(of: code.bigEndian) { String(decoding: $0, as: UTF8.self) }
        }
    }
#endif
