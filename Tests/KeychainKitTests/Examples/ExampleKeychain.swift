// SPDX-License-Identifier: Apache-2.0
// Lets the examples of the documentation run as they stand, in a keychain in memory instead of the user's.

import KeychainKit

/// Within a suite of examples, the names that make values of the user's keychain make values of `memory`.
protocol KeychainExamples {
    var memory: MemoryStore { get }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
extension KeychainExamples {
    func SecretStore(
        service: String, accessGroup: String? = nil, accessibility: Accessibility? = nil,
        accessControl: AccessControl.Flags? = nil, synchronizable: Bool = false, coder: any SecretCoder = .json,
        store: (any ItemStore)? = nil, accessGroups: AccessGroups? = nil
    ) -> KeychainKit.SecretStore {
        KeychainKit.SecretStore(
            service: service, accessGroup: accessGroup, accessibility: accessibility, accessControl: accessControl,
            synchronizable: synchronizable, coder: coder, store: store ?? memory, accessGroups: accessGroups)
    }

    func SecretStore(server: KeychainKit.SecretStore.Server) -> KeychainKit.SecretStore {
        KeychainKit.SecretStore(server: server, store: memory)
    }

    func KeychainCatalog() -> KeychainKit.KeychainCatalog { KeychainKit.KeychainCatalog(store: memory) }
}
