// SPDX-License-Identifier: Apache-2.0
// The private half of a key on a token, and its operations.

#if os(Linux)
    import Foundation
    import KeychainEngine
    import KeychainKeys
    import SecretMemory

    /// A key that a token holds. Each operation opens it again, and asks the user if its access control requires that.
    struct KeyOnToken: Sendable {
        enum Place: Sendable {
            /// Not stored: it exists as long as this object.
            case process(any KeyToken, object: Data)
            /// Read from the store for each operation.
            case item(PersistentReference)
        }

        /// `kSecAttrTokenID`.
        let identifier: String
        let publicKey: PublicKey
        /// `nil`: none was given.
        let accessControl: AccessControl?
        let place: Place
        /// How the user is asked.
        let request: Query
        /// The store of the item, or of the proofs.
        let services: @Sendable () -> Services

        /// A key of an item.
        ///
        /// - Parameter request: The request that the key was found by: how the user is asked.
        /// - Returns: `nil` for an item without a public half.
        init?(_ stored: StoredItem, foundBy request: Query, in services: Services) {
            guard let identifier = stored.item.tokenIdentifier, let point = stored.item.tokenPublicKey,
                let publicKey = try? PublicKey(.p256, externalRepresentation: point)
            else { return nil }
            (self.identifier, self.publicKey) = (identifier, publicKey)
            accessControl = stored.item.accessControl
            place = .item(stored.reference)
            self.request = request.asking
            self.services = { services }
        }

        /// A new key of a token.
        ///
        /// - Throws: `unavailable` also if the token gives something that is no key.
        init(
            madeBy token: any KeyToken, as identifier: String, accessControl: AccessControl?, _ request: Query,
            _ services: @escaping @Sendable () -> Services
        ) throws(KeychainError) {
            let made = try token.makeKey()
            do throws(KeyFailure) {
                publicKey = try PublicKey(.p256, externalRepresentation: made.publicKey)
            } catch {
                // Of no use any more, so a failure does not matter.
                try? token.forget(made.object)
                throw .unexpectedAnswer(of: token)
            }
            (self.identifier, self.accessControl) = (identifier, accessControl)
            place = .process(token, object: made.object)
            self.request = request.asking
            self.services = services
        }

        /// - Throws: `itemNotFound` if its item has gone; `authenticationFailed` if its access control does not allow its use;
        ///   the errors of asking the user and of the store.
        private func opened() throws(KeychainError) -> OpenTokenKey {
            switch place {
            case .process(let token, let object):
                try accessControl?.checkAllowsUse()
                if let needs = accessControl?.needs, !needs.isEmpty { try services().engine.prove(needs, as: request) }
                return OpenTokenKey(token, object.withUnsafeBytes { SecretBytes(copying: $0) })
            case .item(let reference):
                var query = request
                query.persistentReference = reference
                let services = services()
                return try services.engine.requests.openTokenKey(
                    query, identifier: identifier, publicKey: publicKey.externalRepresentation,
                    accessGroups: services.accessGroups)
            }
        }

        // MARK: - Operations

        // All that can be refused is refused before the user is asked.

        func sign(_ data: Data, _ algorithm: KeyAlgorithm) throws -> Data {
            let digest = try publicKey.digestToSign(data, algorithm)
            return try publicKey.signature(ofRaw: opened().signature(ofDigest: digest), algorithm)
        }

        func decrypt(_ ciphertext: Data, _ algorithm: KeyAlgorithm) throws -> SecretBytes {
            let sender = try publicKey.sender(of: ciphertext, algorithm)
            let secret = try opened().sharedSecret(with: sender.externalRepresentation)
            return try publicKey.decrypt(ciphertext, algorithm, sharedSecret: secret)
        }

        func exchange(
            with peer: PublicKey, _ algorithm: KeyAlgorithm, size: Int? = nil, sharedInfo: Data = Data()
        ) throws -> SecretBytes {
            try publicKey.checkExchange(with: peer, algorithm, size: size)
            let secret = try opened().sharedSecret(with: peer.externalRepresentation)
            return try publicKey.exchangeResult(of: secret, algorithm, size: size, sharedInfo: sharedInfo)
        }

        // MARK: - Storing

        /// What an addition of this key stores. A key that is stored already is opened, as for its use.
        func forAddition() throws(KeychainError) -> NewTokenKey {
            let object =
                if case .process(_, let object) = place { object } else { try opened().object }
            let key = TokenKey(object: object, publicKey: publicKey.externalRepresentation)
            return NewTokenKey(key, accessControl: accessControl)
        }

        /// For a key that could not be stored. It is of no use any more, so failures do not matter.
        func forget() {
            guard case .process(let token, let object) = place else { return }
            try? token.forget(object)
        }

        var columns: KeyColumns { KeyColumns(onToken: publicKey) }
    }

    extension KeyOnToken: Equatable {
        /// Whether it is the same object of the same token.
        static func == (first: KeyOnToken, second: KeyOnToken) -> Bool {
            first.identifier == second.identifier && first.publicKey == second.publicKey
        }
    }

    extension Query {
        /// Only how the user is asked.
        fileprivate var asking: Query {
            var request = Query(nil)
            (request.context, request.questions, request.operationPrompt) = (context, questions, operationPrompt)
            request.authenticationUI = authenticationUI == .skip ? .fail : authenticationUI
            return request
        }
    }
#endif
