// SPDX-License-Identifier: Apache-2.0
// The entry `credsStore` in docker's config.json.

import Foundation
import KeychainKit
import SecretMemory

struct DockerConfiguration {
    /// Docker puts "docker-credential-" before it.
    private static let store = "keychain"
    private static let key = "credsStore"
    private static let registriesKey = "credHelpers"

    let file: ConfigurationFile
    private let old: [UInt8]?
    private let members: JSONMembers
    /// The helper that docker uses now. An empty name is none, also for docker.
    let current: String?

    /// - Throws: `corrupt` if the file is not a JSON object, or has the entry twice.
    init() throws(KeychainError) {
        let environment = ProcessEnvironment.current
        let folder = environment.value("DOCKER_CONFIG") ?? environment.homeFolder.map { $0 + "/.docker" }
        guard let folder else {
            throw KeychainError(.unavailable, "There is no home folder for docker's configuration. Set HOME.")
        }
        file = ConfigurationFile(folder + "/config.json")
        old = try file.read()
        // docker also starts with an empty file.
        let bytes = old.flatMap { $0.isEmpty ? nil : $0 } ?? Array("{}\n".utf8)
        guard let members = Self.members(bytes) else { throw Self.broken(file.path) }
        self.members = members
        // docker reads names without regard to case.
        let others = members.members.filter { $0.key != Self.key && $0.key.lowercased() == Self.key.lowercased() }
        guard others.isEmpty else { throw Self.broken(file.path) }
        guard members.members.contains(where: { $0.key == Self.key }) else {
            current = nil
            return
        }
        guard let member = members.only(Self.key),
            let name = try? JSONDecoder().decode(String.self, from: Data(bytes[member.value]))
        else { throw Self.broken(file.path) }
        current = name.isEmpty ? nil : name
    }

    /// First the system's own decoder checks the whole file.
    private static func members(_ bytes: [UInt8]) -> JSONMembers? {
        guard String(validating: bytes, as: UTF8.self) != nil, bytes.first != 0xEF, !bytes.contains(0),
            (try? JSONDecoder().decode([String: AnyJSON].self, fromAny: Data(bytes))) != nil
        else { return nil }
        return JSONMembers(bytes)
    }

    private static func broken(_ path: String) -> KeychainError {
        KeychainError(
            .corrupt,
            "'\(path)' is not a JSON object with at most one \(key), which is a name. It was not changed. Correct it, and try again."
        )
    }

    var isInstalled: Bool { current == Self.store }

    /// The text of the entry.
    static var member: String { "\"\(key)\": \"\(store)\"" }

    /// Addresses whose passwords are in the file itself, in plain text. An entry of another form hides no others.
    var plainServers: [String] {
        struct Login: Decodable { let auth: String? }
        guard let whole = members.only("auths"), let inner = JSONMembers(Array(members.bytes[whole.value])) else {
            return []
        }
        let plain = inner.members.filter { entry in
            let login = try? JSONDecoder().decode(Login.self, from: Data(inner.bytes[entry.value]))
            return !(login?.auth ?? "").isEmpty
        }
        return Set(plain.map(\.key)).sorted()
    }

    /// The registries for which the file names the keychain, each with its entry.
    var ownRegistries: [String] { Self.ownEntries(members.bytes).map(\.key) }

    /// The entries `"REGISTRY": "keychain"` of `credHelpers`, with their places in the file.
    private static func ownEntries(_ bytes: [UInt8]) -> [JSONMembers.Member] {
        guard let whole = JSONMembers(bytes)?.only(registriesKey),
            let inner = JSONMembers(Array(bytes[whole.value]))
        else { return [] }
        return inner.members.filter { entry in
            let value = Data(inner.bytes[entry.value])
            return (try? JSONDecoder().decode(String.self, from: value)) == store
        }
    }

    func add() throws(KeychainError) {
        let others = members.only(Self.key).map(members.removing).flatMap(JSONMembers.init) ?? members
        try file.replace(old, by: others.adding(Self.member), mode: 0o600)
    }

    /// Removes every entry that names the keychain.
    func remove() throws(KeychainError) {
        var bytes = members.bytes
        if isInstalled, let member = members.only(Self.key) { bytes = members.removing(member) }
        while let entry = Self.ownEntries(bytes).first, let whole = JSONMembers(bytes)?.only(Self.registriesKey),
            let rest = JSONMembers(Array(bytes[whole.value]))?.removing(entry)
        {
            bytes.replaceSubrange(whole.value, with: rest)
        }
        guard bytes != members.bytes else { return }
        try file.replace(old, by: bytes, mode: 0o600)
    }
}

/// Any JSON; only whether it is some matters.
private struct AnyJSON: Decodable {
    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: AnyKey.self) {
            for key in object.allKeys { _ = try object.decode(AnyJSON.self, forKey: key) }
        } else if var array = try? decoder.unkeyedContainer() {
            while !array.isAtEnd { _ = try array.decode(AnyJSON.self) }
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
