// SPDX-License-Identifier: Apache-2.0
// The logins in docker's config.json.

import Foundation
import KeychainKit

private struct DockerConfig: Decodable {
    struct Login: Decodable {
        var auth: String?
        var username: String?
        var password: String?
        var identitytoken: String?
        var registrytoken: String?
    }

    var auths: [String: Login]?
}

enum DockerFormat {
    private static let name = "docker's config.json"
    /// What docker and its credential helpers call an identity token.
    private static let tokenAccount = "<token>"

    static func records(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) -> [ImportRecord] {
        let config = try JSONDocument.decode(DockerConfig.self, bytes, name)
        guard let logins = config.auths else { throw .notA(name, "it has no 'auths'.") }
        guard logins.count <= ImportLimits.entries else { throw .tooManyEntries }
        let sorted = logins.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
        return sorted.enumerated().flatMap { records($1.key, $1.value, origin: "entry \($0 + 1)") }
    }

    private static func records(_ registry: String, _ login: DockerConfig.Login, origin: String) -> [ImportRecord] {
        // What docker itself does not write may be a password.
        guard !registry.utf8.contains(where: { "@?#".utf8.contains($0) }) else {
            let reason = "its address has a user name, a query or a fragment"
            return [ImportRecord(skipping: nil, reason, origin: origin)]
        }
        // The names that the credential helper finds.
        guard let server = try? DockerServer(registry) else {
            return [ImportRecord(skipping: nil, "its address is empty or has control characters", origin: origin)]
        }
        let place = ImportedPlace.server(server.name)
        func item(_ account: String, _ value: Data) -> ImportRecord {
            let item = ImportedItem(
                place: place, account: account, value: value, label: "Docker: " + registry, comment: registry)
            return ImportRecord(item, origin: origin)
        }
        var records: [ImportRecord] = []
        if let token = login.identitytoken, !token.isEmpty { records.append(item(tokenAccount, Data(token.utf8))) }
        if let token = login.registrytoken, !token.isEmpty {
            records.append(item("(registry token)", Data(token.utf8)))
        }
        guard let (user, password) = namedPassword(login) else {
            let reason = "'auth' is not a user name and a password in base64"
            return records + [ImportRecord(skipping: registry, reason, origin: origin)]
        }
        if !password.isEmpty { records.append(item(user, password)) }
        if let other = login.password, !other.isEmpty, Data(other.utf8) != password {
            let reason = "its 'password' beside 'auth', which docker does not read, is not imported"
            records.append(ImportRecord(leavingOut: registry, reason, origin: origin))
        }
        let reason = "config.json has no password for it; a credential helper may have it"
        return records.isEmpty ? [ImportRecord(skipping: registry, reason, origin: origin)] : records
    }

    /// - Returns: `nil` if it cannot be read. The password is empty if there is none.
    private static func namedPassword(_ login: DockerConfig.Login) -> (String, Data)? {
        guard let auth = login.auth, !auth.isEmpty else {
            return (login.username ?? "", Data((login.password ?? "").utf8))
        }
        guard let bytes = Data(base64Encoded: auth), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let user = String(validating: bytes[..<colon], as: UTF8.self)
        else { return nil }
        // docker itself drops zero bytes that old versions appended.
        var password = Data(Array(bytes[(colon + 1)...]))
        while password.last == 0 { password.removeLast() }
        return (user, password)
    }
}
