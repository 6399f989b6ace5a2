// SPDX-License-Identifier: Apache-2.0
// The options for the place of keys and certificates, and the store of both.

import ArgumentParser
import KeychainKeyStore
import KeychainKit
import KeychainVault

struct KeyPlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The access group. Access groups prevent mistakes; they are not a security boundary.",
            valueName: "name"), transform: AccessGroupName.checked)
    var accessGroup: String?

    @Flag(help: "The item is marked for synchronization.")
    var synchronizable = false

    func store(in keychain: UserKeychain) -> KeyStore {
        keychain.keys(accessGroup: accessGroup, synchronizable: synchronizable)
    }

    /// For removals: without --synchronizable, items of both kinds go, as lists show both.
    func removingStore(in keychain: UserKeychain) -> KeyStore {
        var store = store(in: keychain)
        store.coversBothKinds = !synchronizable
        return store
    }

    /// For a new key: without --access-group it comes into the group of all items, and the same tag in another group is another key.
    func newStore(in keychain: UserKeychain) -> KeyStore {
        let group = accessGroup ?? AccessGroups.unrestricted.defaultGroup
        return keychain.keys(accessGroup: group, synchronizable: synchronizable)
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
