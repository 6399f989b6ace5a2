// SPDX-License-Identifier: Apache-2.0
// Services with a token of their own, apart from those of the process.

import Foundation
import KeychainEngine
import KeychainServices
import KeychainTestSupport
import Testing

/// Services over a fresh store with the passphrase of the person, who may be asked.
struct TokenBench {
    let token: TokenDouble
    let person = Person(passphrase: "p")
    let services: Services

    init(_ kind: StoreKind, _ token: TokenDouble = TokenDouble()) throws {
        try self.init(over: kind.empty(passphrase: "p"), token)
    }

    init(over store: any ItemStore, _ token: TokenDouble = TokenDouble()) throws {
        self.token = token
        let (tokens, person) = (KeyTokens(), person)
        try tokens.use(token)
        let engine = Engine(store: store, authenticator: { person }, tokens: tokens)
        services = Services(engine: engine, accessGroups: AccessGroups(["test", "test2"]))
    }

    /// The same store, in a program without the token.
    var withoutToken: Services {
        Services(engine: Engine(store: services.engine.store, tokens: KeyTokens()), accessGroups: services.accessGroups)
    }

    func generate(_ parameters: Entries) -> Attempt<SecKey> {
        let all = ["type": "73", "tkid": "double"].adding(parameters)
        return attempt { services.createRandomKey(all as NSDictionary, $0) }
    }

    func make(_ parameters: Entries = [:]) throws -> SecKey { try #require(generate(parameters).value) }

    /// A key that asks the user.
    func makeProtected(_ flags: SecAccessControlCreateFlags, _ others: Entries = [:]) throws -> SecKey {
        try make(["private": ["accc": try control(flags)].adding(others)])
    }

    func control(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
        try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
    }
}

private let message = Data("a message".utf8)

/// The status of signing a message, and of checking the signature.
func signing(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm = .ecdsaSignatureMessageX962SHA256, _ data: Data = message
) throws -> OSStatus {
    let signature = attempt { SecKeyCreateSignature(key, algorithm, data as CFData, $0) as Data? }
    guard let made = signature.value else { return signature.status }
    let publicKey = try #require(SecKeyCopyPublicKey(key))
    return attempt { SecKeyVerifySignature(publicKey, algorithm, data as CFData, made as CFData, $0) ? true : nil }
        .status
}
