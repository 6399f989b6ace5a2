// SPDX-License-Identifier: Apache-2.0
// The options that name a private key, and the store of the keys.

import ArgumentParser
import KeychainAuthenticators
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

    /// Without --synchronizable, keys of both kinds go, as lists show both.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `duplicateItem` if several access groups have one, since a key is gone for good.
    func remove(in keychain: UserKeychain) throws(KeychainError) -> Bool {
        var store = store(in: keychain)
        store.coversBothKinds = !synchronizable
        guard accessGroup == nil else { return try store.remove(tag: tag) }
        return try store.remove(tag: tag, if: Self.checkInOneGroup)
    }

    @Sendable private static func checkInOneGroup(_ keys: [KeychainKeyStore.StoredKey]) throws(KeychainError) {
        // As bytes: two forms of "é" name two groups.
        let named = keys.map { (Array($0.accessGroup.utf8), $0.accessGroup) }
        let groups = Dictionary(named) { first, _ in first }.values
        guard groups.count < 2 else {
            throw KeychainError(
                .duplicateItem,
                "Keys of this tag are in \(groups.count) access groups, and none was removed. Name one with --access-group: "
                    + groups.sorted().map { "'\($0.escapingControls())'" }.joined(separator: ", "))
        }
    }

    /// - Throws: `itemNotFound`.
    func key(in keychain: UserKeychain) throws(KeychainError) -> UntypedKey {
        let store = store(in: keychain)
        guard let key = try store.privateKey(tag: tag) else { throw .noKey }
        return key
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
    static let noKey = KeychainError(.itemNotFound, "No key has this tag. To see the keys: keychainctl key list")
}
