// SPDX-License-Identifier: Apache-2.0
// keychainctl move: give an item another name.

import ArgumentParser
import KeychainKit

extension Keychainctl {
    struct Move: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "move",
            abstract: "Give an item another name, or move it to another access group.",
            usage: """
                keychainctl move --service <name> [--to-service <name>] [<options>]
                keychainctl move --server <host> [--to-server <host>] [<options>]
                """,
            discussion: """
                Exactly one item must match. What no option names stays as it is: the value, the other \
                parts of the name, label, comment, kind, other attributes and accessibility. The change is one step: at \
                every moment there is one of the two items. An item that already has the new name is not \
                replaced, and the exit code is 4.

                The moved item has a new date of creation. `rename` is another name of this command.

                EXAMPLES
                  keychainctl move -s example.com -a alice --to-account alice@example.com
                  keychainctl rename -s example.com -a alice --to-service example.org
                  keychainctl move --server old.example.com -a bob \\
                    --to-server https://new.example.com
                """,
            aliases: ["rename"])

        @OptionGroup(title: "Item") var item: ItemOptions
        @OptionGroup(title: "Unlocking, for this command only") var unlock: UnlockOptions
        @OptionGroup var stray: StrayWords

        @Option(help: "Only an item with this label.")
        var label: String?

        @Option(help: ArgumentHelp("The new service.", valueName: "name"))
        var toService: String?

        @Option(help: ArgumentHelp("The new server, or its address: https://host:8443/path.", valueName: "host"))
        var toServer: String?

        @Option(help: ArgumentHelp("The new account.", valueName: "name"))
        var toAccount: String?

        @Option(help: ArgumentHelp("The new access group.", valueName: "name"), transform: AccessGroupName.checked)
        var toAccessGroup: String?

        func validate() throws {
            try item.requireServiceOrServer()
            guard toService != nil || toServer != nil || toAccount != nil || toAccessGroup != nil else {
                throw ValidationError(
                    "Give the new name: --to-service, --to-server, --to-account or --to-access-group.")
            }
            guard toService == nil || item.service != nil, toServer == nil || item.server != nil else {
                throw ValidationError("An item of a service stays one, and so does an item of a server.")
            }
            _ = try address
        }

        func run() throws {
            let keychain = try UserKeychain(for: .move)
            let address = try address
            try unlock.unlocking(keychain.vault) { () throws(KeychainError) in
                let item = try keychain.onlyItem(item, label: label)
                try keychain.move(
                    item, to: target(item, address, keychain), account: toAccount, accessGroup: toAccessGroup)
            }
        }

        private var address: ServerAddress? {
            get throws {
                try toServer.map { try ServerAddress($0) }
            }
        }

        /// A host alone keeps the protocol, the port and the path.
        private func target(_ item: KeychainItem, _ address: ServerAddress?, _ keychain: UserKeychain) -> SecretStore? {
            if let toService {
                return SecretStore(service: toService, store: keychain.store, accessGroups: .unrestricted)
            }
            guard let address else { return nil }
            let port = address.port.map { Int($0) }
            var server = SecretStore.Server(
                address.hostOfNewItem, protocol: item.protocol, port: port ?? item.port, path: item.path,
                securityDomain: item.securityDomain, authenticationType: item.authenticationType)
            if let code = address.protocolCode?.code {
                (server.protocol, server.port, server.path) = (InternetProtocol(rawValue: code), port, address.path)
            }
            return SecretStore(server: server, store: keychain.store, accessGroups: .unrestricted)
        }
    }
}
