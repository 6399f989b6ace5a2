// SPDX-License-Identifier: Apache-2.0
// All collections of the Secret Service: GNOME Keyring, KeePassXC, KWallet, oo7.

import Foundation
import KeychainKit

/// The secrets are asked for without encryption on the bus ("plain"): the bus is a socket of this user, and everybody
/// who can read it could ask for the secrets too.
///
/// The tools `busctl` and `gdbus` cannot do this. A session belongs to its connection, and they make one for each call.
struct SecretServiceImport {
    private let bus: DBusConnection
    private let session: String
    private var records: [ImportRecord] = []

    private static let name = "org.freedesktop.secrets"
    private static let path = "/org/freedesktop/secrets"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let service = "org.freedesktop.Secret.Service"
    private static let collection = "org.freedesktop.Secret.Collection"
    private static let item = "org.freedesktop.Secret.Item"

    static func records() throws(KeychainError) -> [ImportRecord] {
        var source = try SecretServiceImport(DBusConnection())
        for collection in try source.paths(Self.path, Self.service, "Collections") {
            // What is kept only until the end of the login session.
            if collection.hasSuffix("/collection/session") { continue }
            try source.readCollection(collection)
        }
        return source.records
    }

    private init(_ bus: DBusConnection) throws(KeychainError) {
        self.bus = bus
        let opened = try bus.call(Self.name, Self.path, Self.service, "OpenSession", "sv") {
            $0.string("plain")
            $0.variant("")
        }
        guard opened.count == 2, let session = opened[1].text else { throw .brokenMessage }
        self.session = session
    }

    private func property(_ path: String, _ interface: String, _ name: String) throws(KeychainError) -> DBusValue {
        let reply = try bus.call(Self.name, path, Self.properties, "Get", "ss") {
            $0.string(interface)
            $0.string(name)
        }
        guard let value = reply.first else { throw .brokenMessage }
        return value
    }

    private func paths(_ path: String, _ interface: String, _ name: String) throws(KeychainError) -> [String] {
        guard let list = try property(path, interface, name).list else { throw .brokenMessage }
        guard list.count <= ImportLimits.entries else { throw .tooManyEntries }
        return list.compactMap(\.text)
    }

    private mutating func readCollection(_ path: String) throws(KeychainError) {
        let label = try property(path, Self.collection, "Label").text ?? ""
        let origin = "collection '\(label)'"
        guard try !property(path, Self.collection, "Locked").isTrue else {
            let reason = "it is locked; unlock it, for example in Passwords and Keys, and import again"
            return records.append(ImportRecord(skipping: nil, reason, origin: origin))
        }
        for item in try paths(path, Self.collection, "Items") {
            records.append(try record(item, origin))
            guard records.count <= ImportLimits.entries else { throw .tooManyEntries }
        }
    }

    // MARK: - Items

    private func record(_ path: String, _ collection: String) throws(KeychainError) -> ImportRecord {
        let reply = try bus.call(Self.name, path, Self.properties, "GetAll", "s") { $0.string(Self.item) }
        guard let all = reply.first?.dictionary else { throw .brokenMessage }
        let label = all["Label"]?.text ?? ""
        let attributes = (all["Attributes"]?.dictionary ?? [:]).compactMapValues(\.text)
        guard all["Locked"]?.isTrue != true else {
            return ImportRecord(skipping: label, "it is locked", origin: collection)
        }
        let secret = try bus.call(Self.name, path, Self.item, "GetSecret", "o") { $0.string(session) }
        // The session, its parameters, the value, and its content type.
        guard let parts = secret.first?.list, parts.count == 4, let value = parts[2].bytes else {
            throw .brokenMessage
        }
        guard !value.isEmpty else { return ImportRecord(skipping: label, "it is empty", origin: collection) }
        return Self.record(label, attributes, value, collection)
    }

    private static func record(
        _ label: String, _ attributes: [String: String], _ value: Data, _ origin: String
    ) -> ImportRecord {
        let sorted = attributes.filter { $0.key != "xdg:schema" }.sorted { $0.key < $1.key }
        let listed = sorted.map { "\($0.key)=\($0.value)" }
        guard let place = place(attributes, label) else {
            return ImportRecord(skipping: nil, "it has neither a label nor a service", origin: origin)
        }
        // Attributes that no well-known name stands for distinguish the items of a program, so they are the account.
        let account = ["user", "username", "account", "login"].lazy.compactMap { attributes[$0] }.first
        let item = ImportedItem(
            place: place, account: account ?? listed.joined(separator: ", "), value: value,
            label: label.isEmpty ? nil : label, comment: listed.isEmpty ? nil : listed.joined(separator: "\n"))
        return ImportRecord(item, origin: origin)
    }

    private static func place(_ attributes: [String: String], _ label: String) -> ImportedPlace? {
        if let server = attributes["server"], !server.isEmpty { return .server(self.server(server, attributes)) }
        if let service = attributes["service"], !service.isEmpty { return .service(service) }
        return label.isEmpty ? nil : .service(label)
    }

    /// The names of libsecret's network passwords, which git uses too. docker has a whole address as the server.
    private static func server(_ name: String, _ attributes: [String: String]) -> SecretStore.Server {
        if name.utf8.contains(UInt8(ascii: "/")), let server = WebAddress(name).server { return server }
        var server = SecretStore.Server(name)
        server.protocol = attributes["protocol"].flatMap { ProtocolCode(argument: $0) }
            .map { InternetProtocol(rawValue: $0.code) }
        server.port = attributes["port"].flatMap { UInt16($0) }.flatMap { $0 == 0 ? nil : Int($0) }
        server.path = attributes["object"].flatMap { $0.isEmpty ? nil : $0 }
        server.securityDomain = attributes["domain"].flatMap { $0.isEmpty ? nil : $0 }
        return server
    }
}
