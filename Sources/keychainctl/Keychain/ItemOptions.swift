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
            "The server of an internet password: host, host:8443 or https://host:8443/path. The host is looked up "
                + "as typed first, then in lower case, as new items have it.",
            valueName: "host"),
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
            valueName: "name"), transform: AccessGroupName.checked)
    var accessGroup: String?

    @Flag(
        inversion: .prefixedNo, exclusivity: .exclusive, help: "Whether the item is marked for synchronization.")
    var synchronizable: Bool?

    /// The host as it was given, if it has capitals. Other programs store it so.
    private var spelledHost: String?

    /// The text as it was given, if only a part of it is the host. Other programs may have stored all of it as the server.
    private var wholeServer: String?
    private var wholePort: UInt16?

    mutating func validate() throws {
        if let server { try takeApart(server, ServerAddress(server)) }
        if service != nil, server != nil {
            throw ValidationError("--service and --server cannot be used together. Give one of them.")
        }
        if service != nil, isAboutInternetPasswords {
            throw ValidationError(
                "--protocol, --port, --path and --security-domain can only be used with --server, not with --service.")
        }
        if port == 0 { throw ValidationError("--port takes a number from 1 to 65535.") }
    }

    private mutating func takeApart(_ text: String, _ address: ServerAddress) throws {
        if ServerAddress.isOne(text) {
            guard protocolCode == nil, port == nil, path == nil else {
                throw ValidationError(
                    "Give either an address with --server, or --server HOST with --protocol, --port and --path.")
            }
            (protocolCode, path) = (address.protocolCode, address.path)
        } else {
            guard port == nil || address.port == nil else {
                throw ValidationError("Give the port either with --server or with --port.")
            }
            if !address.host.utf8.elementsEqual(text.utf8) { (wholeServer, wholePort) = (text, port) }
        }
        let host = address.hostOfNewItem
        (server, port) = (host, address.port ?? port)
        if !host.utf8.elementsEqual(address.host.utf8) { spelledHost = address.host }
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
    /// The servers that the options may mean: first as they were given, and last as in a new item.
    private var servers: [(host: String?, port: Int?)] {
        let port = port.map { Int($0) }
        var servers: [(host: String?, port: Int?)] = []
        if let wholeServer { servers.append((wholeServer, wholePort.map { Int($0) })) }
        if let spelledHost { servers.append((spelledHost, port)) }
        servers.append((server, port))
        return servers
    }

    /// Filters for all given values, one for each of the servers that may be meant. The first that finds items counts.
    func filters(label: String?) -> [ItemFilter] { servers.map { filter(label, $0.host, $0.port) } }

    private func filter(_ label: String?, _ host: String?, _ port: Int?) -> ItemFilter {
        var filter = ItemFilter(
            account: account, attributes: ItemAttributes(label: label), accessGroup: accessGroup, service: service,
            server: host, synchronizable: synchronizable)
        filter.protocol = internetProtocol
        filter.port = port
        filter.path = path
        filter.securityDomain = securityDomain
        return filter
    }

    /// Whether a server is one that the options may mean; any, if they name none.
    func selectsServer(_ host: String?, _ port: Int?) -> Bool {
        servers.contains { Self.isSame($0, (host, port)) }
    }

    private static func isSame(_ wanted: (host: String?, port: Int?), _ own: (host: String?, port: Int?)) -> Bool {
        let isHost = wanted.host.map { $0.utf8.elementsEqual((own.host ?? "").utf8) } ?? true
        return isHost && (wanted.port == nil || wanted.port == own.port)
    }

    /// The locations that the item may have, the one of a new item last; values that are not given are part of its name
    /// as well.
    func stores(in vault: any ItemStore, accessGroups: AccessGroups) -> [SecretStore] {
        servers.map { store($0.host, $0.port, in: vault, accessGroups) }
    }

    private func store(
        _ host: String?, _ port: Int?, in vault: any ItemStore, _ accessGroups: AccessGroups
    ) -> SecretStore {
        let (group, synchronizable) = (accessGroup ?? accessGroups.defaultGroup, synchronizable ?? false)
        if let service {
            return SecretStore(
                service: service, accessGroup: group, synchronizable: synchronizable, store: vault,
                accessGroups: accessGroups)
        }
        let server = SecretStore.Server(
            host ?? "", protocol: internetProtocol, port: port, path: path, securityDomain: securityDomain)
        return SecretStore(
            server: server, accessGroup: group, synchronizable: synchronizable, store: vault, accessGroups: accessGroups
        )
    }

    /// The items that are meant, of those that match: of the first server that may be meant and has any. Without an
    /// account, nothing else is preferred.
    ///
    /// - Parameter item: Its item; `nil` if its name is damaged.
    func preferred<Found>(_ all: [Found], _ item: (Found) -> KeychainItem?) -> [Found] {
        let ofServers = servers.map { server in
            all.filter { item($0).map { Self.isSame(server, ($0.server, $0.port)) } ?? true }
        }
        let found = ofServers.first { !$0.isEmpty } ?? all
        guard account != nil else { return found }
        let preference = ItemPreference(
            namesSecurityDomain: securityDomain != nil, namesProtocol: protocolCode != nil, namesPort: port != nil,
            namesPath: path != nil)
        return preference.among(found, item)
    }

    private var internetProtocol: InternetProtocol? { protocolCode.map { InternetProtocol(rawValue: $0.code) } }
}
