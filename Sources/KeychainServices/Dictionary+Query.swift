// SPDX-License-Identifier: Apache-2.0
// Parses a caller's dictionary into a typed query: the grammar of keys.

#if os(Linux)
    import Foundation
    import KeychainEngine

    /// The call that a dictionary was given to. Some keys are accepted in one call and refused or ignored in another.
    enum ItemOperation {
        case add, copyMatching, update, delete

        /// Whether the dictionary selects items that are then changed.
        var changesItems: Bool { self == .update || self == .delete }
    }

    extension Query {
        /// Reads the dictionary of an addition, or the query of another call.
        ///
        /// - Throws: `invalidParameter`, `noSuchAttribute` and `noSuchClass` for invalid entries. If there are several
        ///   errors, it is undefined which one is reported. The engine checks the attributes against the class later.
        init(_ dictionary: NSDictionary, for operation: ItemOperation, in services: Services) throws(KeychainError) {
            var parser = QueryParser(operation: operation, dialect: services.engine.dialect)
            try dictionary.forEachEntry { (key: Any, value: Any) throws(KeychainError) in
                try parser.take(key, value)
            }
            self = try parser.finished()
            if !matchCriteria.isEmpty { judge(by: parser.policy, in: services) }
        }
    }

    /// Collects the entries of a dictionary, in any order, into a query.
    struct QueryParser {
        let operation: ItemOperation
        let dialect: Engine.Dialect
        var query = Query(nil)
        private var classValue: Any?
        private var object: ValueObject?
        var authenticationUI: Query.AuthenticationUI?
        var refusesInteraction = false
        var hasCredential = false
        /// `kSecMatchPolicy`.
        var policy: (any CertificatePolicy)?

        init(operation: ItemOperation, dialect: Engine.Dialect) {
            self.operation = operation
            self.dialect = dialect
        }

        mutating func take(_ key: Any, _ value: Any) throws(KeychainError) {
            guard let name = key as? String else { throw .invalidKey(key) }
            if let attribute = Attribute(name) { return try takeAttribute(attribute, value) }
            // Apple counts UTF-16 units. Four of them outside ASCII are an attribute that no class has.
            if name.utf16.count == 4 { throw .unknownAttribute(name) }
            try takeKeyword(name, value)
        }

        private mutating func takeAttribute(_ attribute: Attribute, _ value: Any) throws(KeychainError) {
            switch attribute {
            case .dataProtection: break  // There is only this one keychain.
            case .legacyAccess where dialect == .lenient, .modificationDate where dialect == .lenient: break
            case .accessControl: query.accessControl = try AccessControl(entry: value)
            case .synchronizable where isSynchronizableAny(value): query.synchronizableAny = true
            default: query.attributes[attribute] = try AttributeValue(entry: value, for: attribute)
            }
        }

        private mutating func takeKeyword(_ name: String, _ value: Any) throws(KeychainError) {
            switch name {
            case "class": classValue = value
            case "r_Data": try takeReturn(.value, value)
            case "r_Attributes": try takeReturn(.attributes, value)
            case "r_Ref": try takeReturn(.reference, value)
            case "r_PersistentRef": try takeReturn(.persistentReference, value)
            case "m_Limit": try takeLimit(value)
            case "v_Data": try takeValue(value)
            case "v_PersistentRef": query.persistentReference = try PersistentReference(entry: value)
            case "v_Ref": object = try ValueObject(entry: value)
            default: try takePrefixed(name, value)
            }
        }

        /// The first letter decides the kind of a key.
        private mutating func takePrefixed(_ name: String, _ value: Any) throws(KeychainError) {
            guard name.utf16.count > 1 else { throw .unknownKey(name) }
            switch name.utf8.first {
            case UInt8(ascii: "m"): try takeMatch(name, value)
            case UInt8(ascii: "u"): try takeUse(name, value)
            case UInt8(ascii: "f"): break  // Apple's own callbacks
            default: throw .unknownKey(name)
            }
        }

        private mutating func takeReturn(_ part: Query.Returns, _ value: Any) throws(KeychainError) {
            if operation.changesItems, dialect == .lenient { return }
            guard let isAsked = exactBool(value) else { throw .invalidValue("kSecReturn…", "a Boolean") }
            if isAsked { query.returns.insert(part) }
        }

        /// A search cannot use the secret as a criterion. macOS ignores it there before it checks its type.
        private mutating func takeValue(_ value: Any) throws(KeychainError) {
            if operation != .add, dialect == .lenient { return }
            query.value = try secretData(value)
        }

        /// Checks that need all entries.
        func finished() throws(KeychainError) -> Query {
            var result = query
            if let classValue {
                result.itemClass = try className(classValue)
                result.isForIdentities = result.itemClass == nil
            }
            if let object { try take(object, &result) }
            if result.concernsIdentities || !result.matchCriteria.isEmpty {
                result.readCertificate = CertificateContent.read
            }
            guard query.context == nil || !hasCredential else {
                throw KeychainError(
                    .invalidParameter, "Give an authentication context or a credential reference, not both.")
            }
            // The newer key overrides the older one.
            result.authenticationUI = authenticationUI ?? (refusesInteraction ? .fail : .allow)
            return result
        }

        /// An object stands for its class as well, if none is given.
        private func take(_ object: ValueObject, _ result: inout Query) throws(KeychainError) {
            try result.fill(from: object, for: operation)
            if classValue == nil {
                result.itemClass = object.itemClass
                result.isForIdentities = object.itemClass == nil
            }
            guard result.identity == nil || result.isForIdentities else {
                throw .invalidValue("kSecClass", "kSecClassIdentity, or left out, if the object is a SecIdentity")
            }
        }

        /// `nil` for identities, which exist only as a join of two objects.
        private func className(_ value: Any) throws(KeychainError) -> ItemClass? {
            guard let name = value as? String else {
                // Apple treats such a class as missing. A persistent reference can replace the class until its key is
                // read.
                throw KeychainError(
                    query.persistentReference == nil ? .invalidParameter : .noSuchClass,
                    "The class (kSecClass) has to be a string.")
            }
            if name == "idnt" { return nil }
            guard let known = ItemClass(rawValue: name) else {
                throw KeychainError(.noSuchClass, "There is no such class (kSecClass). Use a kSecClass… constant.")
            }
            return known
        }
    }

    extension Attribute {
        /// `nleg`, which chooses between macOS's two keychains.
        static let dataProtection = Attribute(code: 0x6E6C_6567)
        /// `acls`, the access list of macOS's older keychain.
        static let legacyAccess = Attribute(code: 0x6163_6C73)
        /// `accc`, whose value is an object.
        static let accessControl = Attribute(code: 0x6163_6363)
    }
#endif
