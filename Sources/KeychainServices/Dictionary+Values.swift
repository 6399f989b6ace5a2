// SPDX-License-Identifier: Apache-2.0
// Converts the values of a caller's dictionary, each to its one typed form.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys

    extension NSDictionary {
        /// More entries than any class has attributes are refused, as by Apple.
        private static let maximalCount = 128

        /// Visits all entries until one is refused. Foundation bridges each to a Swift value: `Bool`, `String`, `Data`,
        /// `Date`, or an object such as `NSNumber`. On Linux this is the fastest way to get all of them.
        func forEachEntry(_ visit: (Any, Any) throws(KeychainError) -> Void) throws(KeychainError) {
            guard count <= Self.maximalCount else {
                throw KeychainError(.invalidParameter, "The dictionary has more than \(Self.maximalCount) entries.")
            }
            var (keys, objects): ([Any], [Any]) = ([], [])
            getObjects(&objects, andKeys: &keys, count: count)
            for (key, object) in zip(keys, objects) { try visit(key, object) }
        }
    }

    extension AttributeValue {
        /// - Throws: `undecodableInput` for a number that is not a 64-bit integer. Types that no attribute takes become
        ///   `unsupported`, so that the engine can tell an unknown attribute from an invalid value.
        init(entry: Any, for attribute: Attribute) throws(KeychainError) {
            switch try UsualEntry(entry) {
            case .text(let text): self = .string(text)
            case .bytes(let bytes): self = .data(bytes)
            case .date(let date): self = .date(date.timeIntervalSinceReferenceDate)
            case .flag(let flag): self = .bool(flag)
            case .number(let number): self = .number(number)
            case .other: self = entry is NSNull && attribute == .multiUser ? .data(Data()) : .unsupported
            }
            // The issuer is parsed before any conversion, so text is not accepted as its bytes.
            if attribute == .issuer {
                switch self {
                case .string: self = .unsupported
                case .data(let name): self = .data(Certificate.normalizedName(name) ?? name)
                default: break
                }
            }
        }
    }

    /// An entry in one of the types that attributes have.
    ///
    /// A cast that fails takes longer than all that is done with the entry. So the types in which Foundation hands out entries are
    /// told apart before anything is cast; the casts that may fail are left to objects of other classes.
    enum UsualEntry {
        case text(String)
        case bytes(Data)
        case date(Date)
        case flag(Bool)
        case number(Int64)
        case other

        /// - Throws: `undecodableInput` for a number that is not a 64-bit integer.
        init(_ entry: Any) throws(KeychainError) {
            let type = type(of: entry)
            if type == String.self, let text = entry as? String {
                self = .text(text)
            } else if type == Bool.self, let flag = entry as? Bool {
                self = .flag(flag)
            } else if type == Data.self, let bytes = entry as? Data {
                self = .bytes(bytes)
            } else if type == NSNumber.self, let number = entry as? NSNumber {
                self = .number(try integer(number))
            } else {
                self = try Self.unusual(entry)
            }
        }

        private static func unusual(_ entry: Any) throws(KeychainError) -> UsualEntry {
            switch entry {
            case let text as String: .text(text)
            case let bytes as Data: .bytes(bytes)
            case let date as Date: .date(date)
            case let number as NSNumber: .number(try integer(number))
            default: .other
            }
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

    /// - Throws: `undecodableInput` for a number that is not a 64-bit integer: Apple's encoder refuses it before any
    ///   other check.
    func integer(_ number: NSNumber) throws(KeychainError) -> Int64 {
        guard let integer = Int64(exactly: number) else {
            throw KeychainError(.undecodableInput, "A number in the dictionary is not a 64-bit integer.")
        }
        return integer
    }

    /// `kSecAttrSynchronizableAny` searches both kinds of items. An item cannot have this value.
    func isSynchronizableAny(_ entry: Any) -> Bool {
        // A cast of a number to a text takes long to fail.
        type(of: entry) == Bool.self || type(of: entry) == NSNumber.self ? false : entry as? String == "syna"
    }

    /// - Throws: `invalidParameter` for a value, which is no object such as a key, a certificate or a policy.
    func checkIsObject(_ entry: Any, for key: String) throws(KeychainError) {
        switch entry {
        case is String, is Data, is NSNumber, is Date, is NSNull, is [Any], is NSArray, is NSDictionary, is NSSet:
            throw .invalidValue(key, "an object")
        default: break
        }
    }

    extension KeychainError {
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
