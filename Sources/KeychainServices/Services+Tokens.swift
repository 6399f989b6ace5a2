// SPDX-License-Identifier: Apache-2.0
// Making keys on tokens.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys

    extension Services {
        /// Adds an item. For an item of class key that names a token and has no key, the token makes one.
        func added(_ query: Query) throws(KeychainError) -> Outcome {
            guard let identifier = query.tokenOfNewKey else { return try engine.add(query, accessGroups: accessGroups) }
            let token = try engine.tokens.existing(identifier)
            guard query.value == nil else { throw .noImportIntoTokens }
            guard query.isForTokenKey else { throw .noSuchTokenKey }
            let key = try KeyOnToken(madeBy: token, as: identifier, accessControl: nil, query) { self }
            var query = query
            do throws(KeychainError) {
                try query.fill(from: SecKey(key), for: .add)
                return try engine.add(query, accessGroups: accessGroups)
            } catch {
                key.forget()
                throw error
            }
        }
    }

    extension Query {
        /// `nil` if the addition has its bytes or its object, or is none of a key.
        fileprivate var tokenOfNewKey: String? {
            guard itemClass == .key, onToken == nil, case .string(let identifier) = attributes[.tokenID],
                !identifier.isEmpty
            else { return nil }
            return identifier
        }

        /// The size and the class may be left out.
        fileprivate var isForTokenKey: Bool {
            holds(.type, 73) == true && holds(.keySizeInBits, 256) ?? true && holds(.keyClass, 1) ?? true
        }

        private func holds(_ attribute: Attribute, _ wanted: Int64) -> Bool? {
            switch attributes[attribute] {
            case nil: nil
            case .number(let number): number == wanted
            case .string(let text): text == String(wanted)
            default: false
            }
        }
    }

    /// What `SecKeyCreateRandomKey` has to make on a token.
    struct TokenKeyRequest {
        typealias Entries = [AnyHashable: Any]

        /// The identifier of the token.
        let identifier: String
        /// The attributes of the private half: those for both halves win, as by Apple.
        private let entries: Entries
        /// Unless it is `false` explicitly.
        let isPermanent: Bool

        /// - Throws: `invalidParameter` for keys that are not P-256.
        init(_ identifier: String, _ parameters: NSDictionary, _ entries: Entries) throws(KeychainError) {
            let size = parameters[kSecAttrKeySizeInBits].map { keyNumber($0) }
            guard parameters[kSecAttrKeyType] as? String == "73", size == nil || size == 256 else {
                throw .noSuchTokenKey
            }
            (self.identifier, self.entries) = (identifier, entries)
            isPermanent = entries[kSecAttrIsPermanent as String].flatMap { exactBool($0) } ?? true
        }

        /// What an addition of the private half gets.
        var additionEntries: Entries? { isPermanent ? entries : nil }

        /// - Parameter services: Called only if the user has to be asked.
        func makeKey(_ token: any KeyToken, _ services: @escaping @Sendable () -> Services) throws -> KeyOnToken {
            var request = Query(nil)
            if let context = try entries[kSecUseAuthenticationContext as String].map(authenticationContext) {
                (request.context, request.questions) = (context.authentication, context.questions)
            }
            let accessControl = try entries[kSecAttrAccessControl as String].map(AccessControl.init(entry:))
            if !isPermanent, let accessControl { try services().engine.checkCanProve(accessControl) }
            return try KeyOnToken(madeBy: token, as: identifier, accessControl: accessControl, request, services)
        }
    }
#endif
