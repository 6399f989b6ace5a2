// SPDX-License-Identifier: Apache-2.0
// Converts a typed outcome to the object for a caller's result variable.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import SecretMemory

    /// What a call found or added, and what objects are made with.
    struct Answer {
        let outcome: Outcome
        fileprivate let query: Query
        fileprivate let services: Services

        /// - Throws: `unsupported` if the only result is a key on a token that this program does not have. Of several results
        ///   such an object is left out, as by Apple.
        init(_ outcome: Outcome, to query: Query, from services: Services) throws(KeychainError) {
            (self.outcome, self.query, self.services) = (outcome, query, services)
            guard case .one(let result) = outcome, let identifier = result.objectsKey?.item.tokenIdentifier else {
                return
            }
            _ = try services.engine.tokens.existing(identifier)
        }
    }

    extension Outcome.Result {
        /// The key that is asked for as an object, also as a part of an identity.
        fileprivate var objectsKey: StoredItem? {
            switch self {
            case .object(let stored): stored
            case .identity(let identity): identity.key
            case .record(let record): record.object ?? record.identity?.key
            case .value, .persistentReference: nil
            }
        }
    }

    extension Answer {
        /// Data, a dictionary, an array of one of these, or nothing, depending on the return keys and the limit of the
        /// request.
        var object: AnyObject? {
            switch outcome {
            case .nothing: nil
            case .one(let result): made(result)
            case .many(let results): list(results)
            }
        }

        /// Foundation's own conversion of an array asks each object what it is.
        private func list(_ results: [Outcome.Result]) -> NSArray {
            let turn = Guarded(0)
            return results.compactMap { listed($0, turn) }.withUnsafeBufferPointer {
                NSArray(objects: $0.baseAddress, count: $0.count)
            }
        }

        /// What stands for a result in a list. Whether there is an object of a key or a certificate is decided now.
        private func listed(_ result: Outcome.Result, _ turn: Guarded<Int>) -> AnyObject? {
            guard case .record(let record) = result, record.object == nil, record.identity == nil else {
                return made(result)
            }
            return ListedDictionary(record, turn)
        }

        /// `nil` for a key, a certificate or an identity whose bytes are not one, or whose token is not there.
        private func made(_ result: Outcome.Result) -> AnyObject? {
            switch result {
            case .value(let bytes): NSData(data: bytes)
            case .persistentReference(let reference): NSData(data: reference.bytes)
            case .object(let stored): isUsable(stored) ? stored.object(foundBy: query, in: services) : nil
            case .identity(let identity): made(identity)
            case .record(let record): dictionary(record)
            }
        }

        private func made(_ identity: StoredIdentity) -> AnyObject? {
            isUsable(identity.key) ? identity.object(foundBy: query, in: services) : nil
        }

        private func isUsable(_ stored: StoredItem) -> Bool {
            stored.item.tokenIdentifier.map { services.engine.tokens.token($0) != nil } ?? true
        }

        /// An ordinary dictionary: of any class derived from it, Foundation on Linux makes an empty Swift dictionary. Passing
        /// all keys and objects at once takes half the time of setting them one by one.
        private func dictionary(_ record: Outcome.Record) -> NSDictionary {
            var keys: [NSObject] = record.attributes.map(\.attribute.key)
            var objects: [AnyObject] = record.attributes.map(\.value.object)
            func add(_ key: CFString, _ object: AnyObject?) {
                guard let object else { return }
                keys.append(key)
                objects.append(object)
            }
            let className = record.itemClass.map { NSString(string: $0.rawValue) }
            add(kSecClass, record.identity.map { _ in kSecClassIdentity } ?? className)
            add(kSecAttrAccessControl, record.accessControl.map { SecAccessControl($0) })
            add(kSecValueData, record.value.map { NSData(data: $0) })
            add(kSecValueRef, record.identity.map { made($0) } ?? record.object.flatMap { made(.object($0)) })
            add(kSecValuePersistentRef, record.persistentReference.map { NSData(data: $0.bytes) })
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

        var name: String {
            withUnsafeBytes(of: code.bigEndian) { String(decoding: $0, as: UTF8.self) }
        }
    }
#endif
