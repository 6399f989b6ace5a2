// SPDX-License-Identifier: Apache-2.0
// Converts the values of a caller's dictionary, each to its one typed form.

#if os(Linux)
    import Foundation
    import KeychainEngine

    extension NSDictionary {
        /// More entries than any class has attributes are refused, as by Apple.
        private static let maximalCount = 128

        /// Visits all entries until one is refused. Foundation bridges each to a Swift value: `Bool`, `String`, `Data`,
        /// `Date`, or an object such as `NSNumber`. On Linux this is the fastest way to iterate a dictionary.
        func forEachEntry(_ visit: (Any, Any) throws(KeychainError) -> Void) throws(KeychainError) {
            guard count <= Self.maximalCount else {
                throw KeychainError(.invalidParameter, "The dictionary has more than \(Self.maximalCount) entries.")
            }
            var failure: KeychainError?
            enumerateKeysAndObjects { key, value, stop in
                do throws(KeychainError) {
                    try visit(key, value)
                } catch {
                    failure = error
                    stop.pointee = true
                }
            }
            if let failure { throw failure }
        }
    }

    extension AttributeValue {
        /// - Throws: `undecodableInput` for a number that is not a 64-bit integer. Types that no attribute takes become
        ///   `unsupported`, so that the engine can tell an unknown attribute from an invalid value.
        init(entry: Any, for attribute: Attribute) throws(KeychainError) {
            switch entry {
            case let text as String: self = .string(text)
            case let bytes as Data: self = .data(bytes)
            case let date as Date: self = .date(date.timeIntervalSinceReferenceDate)
            case is NSNull where attribute == .multiUser: self = .data(Data())
            default:
                if let flag = exactBool(entry) {
                    self = .bool(flag)
                } else {
                    self = try integer(entry).map { .number($0) } ?? .unsupported
                }
            }
            // The issuer is parsed before any conversion, so text is not accepted as its bytes.
            if attribute == .issuer, case .string = self { self = .unsupported }
        }
    }

    extension AccessControl {
        init(entry: Any) throws(KeychainError) {
            guard let object = entry as? SecAccessControl else {
                throw .invalidValue("kSecAttrAccessControl", "a SecAccessControl")
            }
            self = object.accessControl
        }
    }

    func authenticationContext(_ entry: Any) throws(KeychainError) -> LAContext {
        guard let context = entry as? LAContext else {
            throw .invalidValue("kSecUseAuthenticationContext", "an LAContext")
        }
        return context
    }

    extension PersistentReference {
        init(entry: Any) throws(KeychainError) {
            guard let bytes = entry as? Data else { throw .invalidValue("kSecValuePersistentRef", "data") }
            try self.init(bytes)
        }
    }

    func secretData(_ entry: Any) throws(KeychainError) -> Data {
        guard let bytes = entry as? Data else { throw .invalidValue("kSecValueData", "data") }
        return bytes
    }

    /// A Boolean, and not a value that converts to one: the number 1 is not `true`.
    func exactBool(_ entry: Any) -> Bool? {
        type(of: entry) == Bool.self ? entry as? Bool : nil
    }

    /// - Returns: `nil` for anything but a number.
    /// - Throws: `undecodableInput` for a number that is not a 64-bit integer: Apple's encoder refuses it before any
    ///   other check.
    func integer(_ entry: Any) throws(KeychainError) -> Int64? {
        guard exactBool(entry) == nil, let number = entry as? NSNumber else { return nil }
        guard let integer = Int64(exactly: number) else {
            throw KeychainError(.undecodableInput, "A number in the dictionary is not a 64-bit integer.")
        }
        return integer
    }

    /// `kSecAttrSynchronizableAny` searches both kinds of items. An item cannot have this value.
    func isSynchronizableAny(_ entry: Any) -> Bool {
        entry as? String == "syna"
    }

    /// Whether an entry can be an object such as a key, a certificate or a policy; always `true` if it does not throw.
    ///
    /// - Throws: `invalidParameter` for a value.
    func isObject(_ entry: Any, for key: String) throws(KeychainError) -> Bool {
        switch entry {
        case is String, is Data, is NSNumber, is Date, is NSNull, is [Any], is NSArray, is NSDictionary, is NSSet:
            throw .invalidValue(key, "an object")
        default:
            return true
        }
    }

    extension KeychainError {
        static func invalidValue(_ key: String, _ expected: String) -> KeychainError {
            KeychainError(.invalidParameter, "The value of '\(key)' has to be \(expected).")
        }

        static func unknownKey(_ name: String) -> KeychainError {
            KeychainError(.invalidParameter, "Key '\(name)' is not known.")
        }

        static func unknownAttribute(_ name: String) -> KeychainError {
            KeychainError(.noSuchAttribute, "There is no attribute '\(name)'.")
        }

        /// Apple reads a number as the code of an attribute. No such code is known.
        static func invalidKey(_ key: Any) -> KeychainError {
            if exactBool(key) == nil, key is NSNumber {
                return KeychainError(.noSuchAttribute, "Attributes are named by strings, not by numbers.")
            }
            return KeychainError(.invalidParameter, "The keys of a dictionary have to be strings.")
        }
    }
#endif
