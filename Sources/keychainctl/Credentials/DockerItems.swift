// SPDX-License-Identifier: Apache-2.0
// The credentials of docker, one for each address, and their JSON.

import Foundation
import KeychainKit

/// The object that docker writes for `store` and reads from `get`. Its texts cannot be wiped, and the process ends soon
/// after.
struct DockerCredentials: Codable {
    let serverURL: String?
    let username: String?
    let secret: String?

    private enum CodingKeys: String, CodingKey {
        case serverURL = "ServerURL"
        case username = "Username"
        case secret = "Secret"
    }

    init(serverURL: String, username: String, secret: String) {
        (self.serverURL, self.username, self.secret) = (serverURL, username, secret)
    }

    /// - Throws: `invalidParameter` with a message that does not quote the input.
    init(_ json: Data) throws(KeychainError) {
        do {
            self = try JSONDecoder().decode(Self.self, fromAny: json)
        } catch {
            throw KeychainError(
                .invalidParameter, "the input is not a JSON object with ServerURL, Username and Secret")
        }
    }
}

struct DockerItems {
    /// The text that docker compares.
    static let notFound = KeychainError(.itemNotFound, "credentials not found in native keychain")

    let keychain: UserKeychain

    /// The account of each address.
    func list() throws(KeychainError) -> [String: String] {
        var filter = ItemFilter()
        filter.securityDomain = DockerServer.mark
        var accounts: [String: String] = [:]
        for item in try newestFirst(filter) {
            guard let url = item.comment, let account = item.account, accounts[url] == nil else { continue }
            accounts[url] = account
        }
        return accounts
    }

    func get(_ server: DockerServer) throws(KeychainError) -> DockerCredentials {
        guard let item = try items(server).first, let account = item.account else { throw Self.notFound }
        var value = try keychain.value(of: item)
        defer { value.wipe() }
        guard let secret = String(validating: value, as: UTF8.self) else {
            throw KeychainError(.undecodableInput, "the stored secret is not UTF-8, which docker needs")
        }
        return DockerCredentials(serverURL: server.url, username: account, secret: secret)
    }

    /// The new item first: at every moment docker finds the old credentials or the new ones.
    func store(_ credentials: DockerCredentials) throws(KeychainError) {
        let server = try DockerServer(credentials.serverURL ?? "")
        guard let account = credentials.username, !account.isEmpty else {
            throw KeychainError(.invalidParameter, "no credentials username")
        }
        guard let secret = credentials.secret else {
            throw KeychainError(.invalidParameter, "no credentials secret")
        }
        let old = try items(server)
        let same = old.first { $0.account.map { $0.utf8.elementsEqual(account.utf8) } ?? false }
        var value = Data(secret.utf8)
        defer { value.wipe() }
        try keychain.store(like: same, or: server.name).save(
            value, for: account, attributes: ItemAttributes(label: "Docker: " + server.url, comment: server.url))
        for item in old where item.id != same?.id { try removeIfPresent(item) }
    }

    func erase(_ server: DockerServer) throws(KeychainError) {
        let found = try items(server)
        guard !found.isEmpty else { throw Self.notFound }
        for item in found { try removeIfPresent(item) }
    }

    private func items(_ server: DockerServer) throws(KeychainError) -> [KeychainItem] {
        var items: [KeychainItem] = []
        for host in server.hosts {
            var filter = ItemFilter(server: host)
            filter.securityDomain = DockerServer.mark
            items += try newestFirst(filter).filter { $0.comment.map(server.isSame) ?? false }
        }
        return items
    }

    private func newestFirst(_ filter: ItemFilter) throws(KeychainError) -> [KeychainItem] {
        let found = try keychain.foundItems(filter)
        if let failure = found.failure { throw failure }
        return found.items.sorted { ($0.modified ?? .distantPast) > ($1.modified ?? .distantPast) }
    }

    private func removeIfPresent(_ item: KeychainItem) throws(KeychainError) {
        do throws(KeychainError) {
            try keychain.delete(item)
        } catch {
            guard error.reason == .itemNotFound else { throw error }
        }
    }
}
