// SPDX-License-Identifier: Apache-2.0
// The options that name a private key, and the store of the keys.

import ArgumentParser
import KeychainKeyStore
import KeychainKeys
import KeychainKit
import KeychainVault

struct KeyOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The tag of the key.", valueName: "name"),
        completion: .custom { words, _, _ in ItemCompletion.tags(words) })
    var tag: String

    @Option(
        help: ArgumentHelp(
            "The access group. Access groups prevent mistakes; they are not a security boundary.",
            valueName: "name"), transform: AccessGroupName.checked)
    var accessGroup: String?

    @Flag(help: "The key is marked for synchronization.")
    var synchronizable = false

    func validate() throws {
        guard !tag.isEmpty else { throw ValidationError("--tag takes a name, not an empty text.") }
    }

    func store(in keychain: UserKeychain) -> KeyStore {
        keychain.keys(accessGroup: accessGroup, synchronizable: synchronizable)
    }

    /// For a new key: without --access-group it comes into the group of all items, and the same tag in another group is another key.
    func newStore(in keychain: UserKeychain) -> KeyStore {
        let group = accessGroup ?? AccessGroups.unrestricted.defaultGroup
        return keychain.keys(accessGroup: group, synchronizable: synchronizable)
    }

    /// The key, opened to sign.
    ///
    /// - Throws: `itemNotFound`.
    func signingKey(in keychain: UserKeychain) throws(KeychainError) -> OpenSigningKey {
        guard let key = try store(in: keychain).openSigningKey(tag: tag) else { throw .noKey }
        return key
    }

    /// - Throws: `itemNotFound`.
    func publicKey(in keychain: UserKeychain) throws(KeychainError) -> PublicKey {
        guard let key = try store(in: keychain).publicKey(tag: tag) else { throw .noKey }
        return key
    }
}

extension UserKeychain {
    func keys(accessGroup: String?, synchronizable: Bool) -> KeyStore {
        var keys = KeyStore(
            accessGroup: accessGroup, synchronizable: synchronizable, store: store, accessGroups: .unrestricted)
        keys.context = context
        return keys
    }
}

extension KeychainError {
    static let noKey = KeychainError(.itemNotFound, "No key has this name. To see the keys: keychainctl key list")
}
