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
            reporting(to: error) { try KeyPairRequest(parameters).generated { self } }
        }
    }

    /// What the parameters of a new pair of keys ask for.
    struct KeyPairRequest {
        private typealias Entries = [AnyHashable: Any]

        private let kind: KeyKind
        private let size: Int
        /// The attributes to store each half with; `nil` if it is not permanent.
        private let publicEntries: Entries?
        private let privateEntries: Entries?

        init(_ parameters: NSDictionary) throws(KeychainError) {
            let publicEntries = try Self.merged(parameters, kSecPublicKeyAttrs)
            let privateEntries = try Self.merged(parameters, kSecPrivateKeyAttrs)
            for half in [publicEntries, privateEntries] where half[kSecAttrTokenID as String] != nil {
                throw .withoutToken
            }
            (kind, size) = try Self.kind(parameters)
            self.publicEntries = Self.isPermanent(publicEntries) ? publicEntries : nil
            self.privateEntries = Self.isPermanent(privateEntries) ? privateEntries : nil
        }

        /// The attributes of one half: its own win over those for both.
        private static func merged(_ parameters: NSDictionary, _ half: CFString) throws(KeychainError) -> Entries {
            var merged = Entries()
            try add(parameters, to: &merged)
            if let own = parameters[half] {
                guard let own = own as? NSDictionary else { throw .invalidValue(half as String, "a dictionary") }
                try add(own, to: &merged)
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

        /// - Parameter services: Called only if a half is to be stored.
        /// - Throws: `KeyFailure.unsupportedSize`; the errors of an addition, and then no half was stored.
        func generated(storingIn services: () -> Services) throws -> SecKey {
            let privateKey = SecKey(try PrivateKey.generate(kind, sizeInBits: size))
            let additions = [
                publicEntries?.merging([kSecValueRef as String: SecKey(privateKey.publicKey)]) { $1 },
                privateEntries?.merging([kSecValueRef as String: privateKey]) { $1 },
            ]
            .compactMap { $0 as NSDictionary? }
            if !additions.isEmpty { try services().addTogether(additions) }
            return privateKey
        }
    }

    extension Services {
        /// Adds all items or none, if the store has transactions.
        fileprivate func addTogether(_ additions: [NSDictionary]) throws(KeychainError) {
            var queries: [Query] = []
            for addition in additions { queries.append(try Query(addition, for: .add, dialect: engine.dialect)) }
            guard let last = queries.last, queries.count > 1, engine.store.transactional != nil else {
                for query in queries { try engine.requests.add(query, accessGroups: accessGroups) }
                return
            }
            try engine.transaction(as: last) { (requests) throws(KeychainError) in
                for query in queries { try requests.add(query, accessGroups: accessGroups) }
            }
        }
    }
#endif
