// SPDX-License-Identifier: Apache-2.0
// The options that say which item is meant, and the query they make.

import ArgumentParser
import KeychainEngine

struct ItemOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("The service of a generic password.", valueName: "name"))
    var service: String?

    @Option(help: ArgumentHelp("The server of an internet password.", valueName: "host"))
    var server: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("The account.", valueName: "name"))
    var account: String?

    @Option(
        name: .customLong("protocol"),
        help: ArgumentHelp(
            "With --server: https, http, ssh, ftp, imap, smtp…, or Apple's four characters.", valueName: "name"))
    var protocolCode: ProtocolCode?

    @Option(help: ArgumentHelp("With --server: the port, 1 to 65535.", valueName: "number"))
    var port: UInt16?

    @Option(help: "With --server: the path.")
    var path: String?

    @Option(
        help: ArgumentHelp(
            "The access group. It keeps programs of one user apart by agreement; it is no protection.",
            valueName: "name"))
    var accessGroup: String?

    @Flag(inversion: .prefixedNo, help: "The item is marked for synchronizing, or is not.")
    var synchronizable: Bool?

    func validate() throws {
        if service != nil, server != nil {
            throw ValidationError("--service and --server exclude each other: an item is for one or the other.")
        }
        if service != nil, isAboutInternetPasswords {
            throw ValidationError("--protocol, --port and --path go with --server, not with --service.")
        }
        if port == 0 { throw ValidationError("--port takes a number from 1 to 65535.") }
    }

    func requireServiceOrServer() throws {
        guard service != nil || server != nil else { throw ValidationError("Give --service or --server.") }
    }

    private var isAboutInternetPasswords: Bool { server != nil || protocolCode != nil || port != nil || path != nil }
}

// MARK: - Queries

extension ItemOptions {
    /// The classes that the options can be about.
    var classes: [ItemClass] {
        if service != nil { return [.genericPassword] }
        if isAboutInternetPasswords { return [.internetPassword] }
        return account == nil ? ItemClass.allCases : [.genericPassword, .internetPassword]
    }

    /// Everything of `itemClass` that has what was given.
    func filter(_ itemClass: ItemClass, label: String?) -> Query {
        var query = Query(itemClass, given)
        query.attributes[.label] = label.map { .string($0) }
        query.synchronizableAny = synchronizable == nil
        return query
    }

    /// The item to add; what is not given gets the engine's defaults.
    func newItem() -> Query {
        var query = Query(service != nil ? .genericPassword : .internetPassword, given)
        query.attributes[.accessGroup] = .string(accessGroup ?? Caller.unrestricted.defaultGroup)
        return query
    }

    /// Whether the item has a port, a protocol and a path only where they were asked for.
    func allowsPlace(_ item: ListedItem) -> Bool {
        (port != nil || item.port == nil) && (protocolCode != nil || item.protocolCode == nil)
            && (path != nil || item.path == nil)
    }

    /// The item that stands in the way of ``newItem()``: its whole primary key, so that no second one can match.
    func itemInPlace() -> Query {
        var query = newItem()
        guard let schema = query.itemClass?.schema else { return query }
        for rule in schema.primaryKey where query.attributes[rule.attribute] == nil {
            query.attributes[rule.attribute] = rule.defaultValue ?? .string("")
        }
        return query
    }

    private var given: Attributes {
        var given = Attributes()
        given[.service] = service.map { .string($0) }
        given[.server] = server.map { .string($0) }
        given[.account] = account.map { .string($0) }
        given[.protocol] = protocolCode.map { .string($0.code) }
        given[.port] = port.map { .number(Int64($0)) }
        given[.path] = path.map { .string($0) }
        given[.accessGroup] = accessGroup.map { .string($0) }
        given[.synchronizable] = synchronizable.map { .bool($0) }
        return given
    }
}
