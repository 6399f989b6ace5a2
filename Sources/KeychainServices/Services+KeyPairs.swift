// SPDX-License-Identifier: Apache-2.0
// Generating keys, and storing those that are permanent.

#if os(Linux)
    package import Foundation
    import KeychainEngine
    import KeychainKeys

    extension Services {
        /// The private key of a new pair, of which the permanent halves were stored.
        package func createRandomKey(
            _ parameters: NSDictionary, _ error: UnsafeMutablePointer<Unmanaged<NSError>?>?
        ) -> SecKey? {
            reporting(to: error) { try KeyPairRequest(parameters).generated(engine.tokens) { self } }
        }
    }

    /// What the parameters of a new pair of keys ask for.
    struct KeyPairRequest {
        private typealias Entries = [AnyHashable: Any]

        /// What makes the private half.
        private enum Source {
            case software(KeyKind, size: Int)
            case token(TokenKeyRequest)
        }

        private let source: Source
        /// The attributes to store each half with; `nil` if it is not permanent.
        private let publicEntries: Entries?
        private let privateEntries: Entries?

        init(_ parameters: NSDictionary) throws(KeychainError) {
            var publicEntries = try Self.merged(parameters, kSecPublicKeyAttrs)
            let privateEntries = try Self.merged(parameters, kSecPrivateKeyAttrs)
            let (ofBoth, ofPrivate) = (try Self.token(parameters[kSecAttrTokenID]), try Self.token(of: privateEntries))
            if let identifier = ofBoth ?? ofPrivate {
                // The public half is never on the token.
                publicEntries[kSecAttrTokenID as String] = nil
                let entries = try Self.merged(parameters, kSecPrivateKeyAttrs, ownWin: false)
                let request = try TokenKeyRequest(identifier, parameters, entries)
                (source, self.privateEntries) = (.token(request), request.additionEntries)
            } else {
                guard try Self.token(of: publicEntries) == nil else { throw .noSuchTokenKey }
                let (kind, size) = try Self.kind(parameters)
                source = .software(kind, size: size)
                self.privateEntries = Self.isPermanent(privateEntries) ? privateEntries : nil
            }
            self.publicEntries = Self.isPermanent(publicEntries) ? publicEntries : nil
        }

        /// - Throws: `invalidParameter` for a token that is not text.
        private static func token(of entries: Entries) throws(KeychainError) -> String? {
            try token(entries[kSecAttrTokenID as String])
        }

        private static func token(_ entry: Any?) throws(KeychainError) -> String? {
            guard let entry else { return nil }
            guard let identifier = entry as? String else { throw .invalidValue("kSecAttrTokenID", "a string") }
            return identifier.isEmpty ? nil : identifier
        }

        /// The attributes of one half: its own win over those for both, or the other way round.
        private static func merged(
            _ parameters: NSDictionary, _ half: CFString, ownWin: Bool = true
        ) throws(KeychainError) -> Entries {
            var merged = Entries()
            try add(parameters, to: &merged)
            if let own = parameters[half] {
                guard let own = own as? NSDictionary else { throw .invalidValue(half as String, "a dictionary") }
                try add(own, to: &merged)
                if !ownWin { try add(parameters, to: &merged) }
            }
            for key in [kSecPublicKeyAttrs, kSecPrivateKeyAttrs, kSecAttrKeyType, kSecAttrKeySizeInBits] {
                merged[key as String] = nil
            }
            return merged
        }

        private static func add(_ entries: NSDictionary, to merged: inout Entries) throws(KeychainError) {
            try entries.forEachEntry { (key: Any, value: Any) throws(KeychainError) in
                guard let name = key as? String else { throw .invalidKey(key) }
                merged[name] = value
            }
        }

        /// As by Apple, the type has to be the constant and not a number.
        private static func kind(_ parameters: NSDictionary) throws(KeychainError) -> (KeyKind, Int) {
            guard let name = parameters[kSecAttrKeyType] as? String, let kinds = kindsByType[name] else {
                throw .invalidValue(
                    "kSecAttrKeyType", "kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyTypeRSA, or the text 105 or 106")
            }
            let size = parameters[kSecAttrKeySizeInBits].flatMap { keyNumber($0) } ?? 0
            guard let kind = kinds[size] ?? kinds[anySize] else {
                throw .invalidValue("kSecAttrKeySizeInBits", "256, 384 or 521")
            }
            return (kind, size)
        }

        private static let anySize = -1
        private static let kindsByType: [String: [Int: KeyKind]] = [
            "42": [anySize: .rsa], "73": [256: .p256, 384: .p384, 521: .p521], "105": [anySize: .ed25519],
            "106": [anySize: .x25519],
        ]

        private static func isPermanent(_ entries: Entries) -> Bool {
            entries[kSecAttrIsPermanent as String].flatMap { exactBool($0) } ?? false
        }

        /// - Parameters:
        ///   - tokens: Those that may make the private half.
        ///   - services: Called only if a half is to be stored, or the user to be asked.
        /// - Throws: `KeyFailure.unsupportedSize`; the errors of an addition, and then no half was stored.
        func generated(_ tokens: KeyTokens, storingIn services: @escaping @Sendable () -> Services) throws -> SecKey {
            switch source {
            case .software(let kind, let size):
                let key = SecKey(try PrivateKey.generate(kind, sizeInBits: size))
                try store(key, services)
                return key
            case .token(let request):
                let key = try request.makeKey(tokens.existing(request.identifier), services)
                do {
                    return try store(SecKey(key), services) ?? SecKey(key)
                } catch {
                    key.forget()
                    throw error
                }
            }
        }

        /// Stores the halves that are permanent.
        ///
        /// - Returns: The object of the stored private half, if that is on a token.
        @discardableResult
        private func store(_ privateKey: SecKey, _ services: () -> Services) throws -> SecKey? {
            let additions = [
                publicEntries?.merging([kSecValueRef as String: SecKey(privateKey.publicKey)]) { $1 },
                privateEntries?.merging([kSecValueRef as String: privateKey]) { $1 },
            ]
            .compactMap { $0 as NSDictionary? }
            guard !additions.isEmpty else { return nil }
            let services = services()
            guard let last = try services.addTogether(additions).last, last.stored.item.isOnToken else { return nil }
            return SecKey(last.stored, foundBy: last.query, in: services)
        }
    }

    extension Services {
        /// Adds all items or none, if the store has transactions.
        fileprivate func addTogether(_ additions: [NSDictionary]) throws(KeychainError) -> [Added] {
            var queries: [Query] = []
            for addition in additions { queries.append(try Query(addition, for: .add, in: self)) }
            guard let last = queries.last, queries.count > 1, engine.store.transactional != nil else {
                return try add(queries, engine.requests)
            }
            return try engine.transaction(as: last) { (requests) throws(KeychainError) in try add(queries, requests) }
        }

        fileprivate typealias Added = (query: Query, stored: StoredItem)

        private func add(_ queries: [Query], _ requests: Requests) throws(KeychainError) -> [Added] {
            var added: [Added] = []
            for query in queries { added.append((query, try requests.add(query, accessGroups: accessGroups))) }
            return added
        }
    }
#endif
