// SPDX-License-Identifier: Apache-2.0
// The options that name a private key by its tag.

import ArgumentParser
import KeychainKeyStore
import KeychainKeys
import KeychainKit

struct KeyOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The tag of the key.", valueName: "name"),
        completion: .custom { words, _, _ in ItemCompletion.tags(words) })
    var tag: String

    @OptionGroup var place: KeyPlaceOptions

    func validate() throws {
        guard !tag.isEmpty else { throw ValidationError("--tag takes a name, not an empty text.") }
    }

    /// The key, opened to sign.
    ///
    /// - Throws: `itemNotFound`.
    func signingKey(in keychain: UserKeychain) throws(KeychainError) -> OpenSigningKey {
        guard let key = try place.store(in: keychain).openSigningKey(tag: tag) else { throw .noKey }
        return key
    }

    /// - Throws: `itemNotFound`.
    func publicKey(in keychain: UserKeychain) throws(KeychainError) -> PublicKey {
        guard let key = try place.store(in: keychain).publicKey(tag: tag) else { throw .noKey }
        return key
    }
}

extension KeychainError {
    static let noKey = KeychainError(.itemNotFound, "No key has this name. To see the keys: keychainctl key list")
}
