// SPDX-License-Identifier: Apache-2.0
// The options that select an item.

import ArgumentParser
import KeychainKit

struct ItemOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The service of a generic password.", valueName: "name"),
        completion: .custom { words, _, _ in ItemCompletion.services(words) })
    var service: String?

    @Option(
        help: ArgumentHelp(
            "The server of an internet password, or its address: https://host:8443/path.", valueName: "host"),
        completion: .custom { words, _, _ in ItemCompletion.servers(words) })
    var server: String?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The account.", valueName: "name"),
        completion: .custom { words, _, _ in ItemCompletion.accounts(words) })
    var account: String?

    @Option(
        name: .customLong("protocol"),
        help: ArgumentHelp(
            "With --server: https, http, ssh, ftp, imap, smtp…, or Apple's four-character code.", valueName: "name"))
    var protocolCode: ProtocolCode?

    @Option(help: ArgumentHelp("With --server: the port, 1 to 65535.", valueName: "number"))
    var port: UInt16?

    @Option(help: "With --server: the path.")
    var path: String?

    @Option(
        help: ArgumentHelp(
            "With --server: the security domain, as docker's items and logins of Firefox have one; '' for none.",
            valueName: "name"))
    var securityDomain: String?

    @Option(
        help: ArgumentHelp(
            "The access group. Access groups prevent mistakes; they are not a security boundary.",
            valueName: "name"))
    var accessGroup: String?

    @Flag(inversion: .prefixedNo, help: "Whether the item is marked for synchronization.")
    var synchronizable: Bool?

    mutating func validate() throws {
        if let server, ServerAddress.isOne(server) { try takeApart(ServerAddress(server)) }
        if service != nil, server != nil {
            throw ValidationError("--service and --server cannot be used together. Give one of them.")
        }
        if service != nil, isAboutInternetPasswords {
            throw ValidationError(
                "--protocol, --port, --path and --security-domain can only be used with --server, not with --service.")
        }
        if port == 0 { throw ValidationError("--port takes a number from 1 to 65535.") }
    }

    private mutating func takeApart(_ address: ServerAddress) throws {
        guard protocolCode == nil, port == nil, path == nil else {
            throw ValidationError(
                "Give either an address with --server, or --server HOST with --protocol, --port and --path.")
        }
        (server, protocolCode, port, path) = (address.host, address.protocolCode, address.port, address.path)
    }

    func requireServiceOrServer() throws {
        guard service != nil || server != nil else { throw ValidationError("Give --service or --server.") }
    }

    private var isAboutInternetPasswords: Bool {
        server != nil || protocolCode != nil || port != nil || path != nil || securityDomain != nil
    }
}

// MARK: - Meaning

extension ItemOptions {
    /// A filter for all given values.
    func filter(label: String?) -> ItemFilter {
        var filter = ItemFilter(
            account: account, attributes: ItemAttributes(label: label), accessGroup: accessGroup, service: service,
            server: server, synchronizable: synchronizable)
        filter.protocol = internetProtocol
        filter.port = port.map { Int($0) }
        filter.path = path
        filter.securityDomain = securityDomain
        return filter
    }

    /// The location of the item; values that are not given are part of its name as well.
    func store(in vault: any ItemStore, accessGroups: AccessGroups) -> SecretStore {
        let (group, synchronizable) = (accessGroup ?? accessGroups.defaultGroup, synchronizable ?? false)
        if let service {
            return SecretStore(
                service: service, accessGroup: group, synchronizable: synchronizable, store: vault,
                accessGroups: accessGroups)
        }
        let server = SecretStore.Server(
            server ?? "", protocol: internetProtocol, port: port.map { Int($0) }, path: path,
            securityDomain: securityDomain)
        return SecretStore(
            server: server, accessGroup: group, synchronizable: synchronizable, store: vault, accessGroups: accessGroups
        )
    }

    /// The items that are meant, of those that match. Without an account, nothing is preferred.
    ///
    /// - Parameter item: Its item; `nil` if its name is damaged.
    func preferred<Found>(_ found: [Found], _ item: (Found) -> KeychainItem?) -> [Found] {
        guard account != nil else { return found }
        let preference = ItemPreference(
            namesSecurityDomain: securityDomain != nil, namesProtocol: protocolCode != nil, namesPort: port != nil,
            namesPath: path != nil)
        return preference.among(found, item)
    }

    private var internetProtocol: InternetProtocol? { protocolCode.map { InternetProtocol(rawValue: $0.code) } }
}
