// SPDX-License-Identifier: Apache-2.0
// The internet passwords that git's credentials are.

import Foundation
import KeychainKit

struct CredentialItems {
    /// What an item says about a request.
    struct Found {
        let account: String?
        var value: CredentialValue
    }

    let keychain: UserKeychain

    // MARK: - Reading

    /// The first usable credential.
    ///
    /// - Parameters:
    ///   - allowsAuthtype: Whether one with an authentication type is usable.
    ///   - allowsExpired: Whether one that is expired is, which is then only good for its refresh token.
    func first(
        _ place: CredentialPlace, username: String?, allowsAuthtype: Bool = false, allowsExpired: Bool = false
    ) throws(KeychainError) -> Found? {
        let now = Date()
        var expired: Found?
        for item in try items(place, username) {
            guard var found = try read(item) else { continue }
            let isFresh = !found.value.isExpired(at: now)
            let isUsable = allowsAuthtype || found.value.authtype == nil
            if isUsable, isFresh {
                expired?.value.wipe()
                return found
            }
            if isUsable, allowsExpired, found.value.refreshToken != nil, expired == nil {
                expired = found
            } else {
                found.value.wipe()
            }
        }
        return expired
    }

    /// The matching items: those of the host as it was given first, as for `--server`; of each host those of the exact
    /// path first, then the newest. If none has the protocol, they are those that name no protocol.
    func items(
        _ place: CredentialPlace, _ username: String?, orWithoutProtocol isLenient: Bool = true
    ) throws(KeychainError) -> [KeychainItem] {
        var found = try stored(place, username, place.code)
        if found.isEmpty, isLenient, place.allowsNoProtocol {
            found = try stored(place, username, nil).filter { $0.protocol == nil }
        }
        return found
    }

    private func ordered(_ items: [KeychainItem], _ place: CredentialPlace) -> [KeychainItem] {
        items.sorted { one, other in
            let (isExact, isOtherExact) = (place.hasPath(of: one), place.hasPath(of: other))
            guard isExact == isOtherExact else { return isExact }
            return (one.modified ?? .distantPast) > (other.modified ?? .distantPast)
        }
    }

    /// - Parameter code: `nil`: any protocol.
    private func stored(
        _ place: CredentialPlace, _ username: String?, _ code: InternetProtocol?
    ) throws(KeychainError) -> [KeychainItem] {
        var items: [KeychainItem] = []
        for host in place.hosts {
            var filter = ItemFilter(server: host)
            filter.protocol = code
            let found = try keychain.foundItems(filter)
            if let failure = found.failure { throw failure }
            let matching = found.items.filter {
                $0.itemClass == .internetPassword && place.matches($0, username: username)
            }
            items += ordered(matching, place)
        }
        return items
    }

    /// - Returns: `nil` if another process has removed the item, or if git cannot take it.
    private func read(_ item: KeychainItem) throws(KeychainError) -> Found? {
        var bytes: Data
        do throws(KeychainError) {
            bytes = try keychain.value(of: item)
        } catch {
            guard [.itemNotFound, .typeMismatch].contains(error.reason) else { throw error }
            return nil
        }
        defer { bytes.wipe() }
        // A line break would be another line of the protocol.
        let isLine = item.account?.utf8.allSatisfy { $0 != 0 && $0 != UInt8(ascii: "\n") } ?? true
        guard isLine, var value = CredentialValue(bytes) else {
            Output.complain(
                "An item for this server is ignored: its account or value has line breaks or zeros. "
                    + "To see which items there are: keychainctl list")
            return nil
        }
        if let expiry = item.expiry { value.expire(at: expiry) }
        return Found(account: item.account, value: value)
    }

    // MARK: - Writing

    /// Adds the item, or changes the existing one. An equal value is not written again: git stores a credential after
    /// each use.
    func store(_ request: GitRequest, _ place: CredentialPlace) throws(KeychainError) {
        guard !request.isEphemeral else { return }
        guard let value = CredentialValue(request) else {
            throw KeychainError(
                .invalidParameter,
                "The input contains neither a username and a password, nor an authtype and a credential; nothing was stored."
            )
        }
        let account = request.username ?? ""
        let existing = try items(place, account).first { place.hasPath(of: $0) }
        let store = keychain.store(like: existing, or: place.server)
        let attributes = ItemAttributes(label: existing == nil ? "Git: " + place.text : nil)
        try CredentialItems.throwing { () throws in
            try store.transaction { try Self.save(value, account, attributes, $0) }
        }
        if let existing, existing.isExpired(at: Date()) { try removeExpiry(of: existing) }
    }

    /// The server has accepted the password after that date.
    private func removeExpiry(of item: KeychainItem) throws(KeychainError) {
        do throws(KeychainError) {
            try keychain.setExpiry(nil, of: item)
        } catch {
            // Another process has removed the item since it was stored.
            guard error.reason == .itemNotFound else { throw error }
        }
    }

    private static func save(
        _ value: CredentialValue, _ account: String, _ attributes: ItemAttributes, _ transaction: SecretTransaction
    ) throws {
        var value = value
        var old = try transaction.read(Data.self, for: account)
        defer { old?.wipe() }
        if let old, !old.isEmpty {
            guard let known = CredentialValue(old) else { throw notOfGit }
            value.keepRest(of: known, at: Date())
        }
        var bytes = value.bytes
        defer { bytes.wipe() }
        guard bytes != old else { return }
        try transaction.save(bytes, for: account, attributes: attributes)
    }

    private static let notOfGit = KeychainError(
        .typeMismatch,
        "The item of this server and account has lines that git does not know. It was kept, and nothing was stored. To store the credential, "
            + "move that item: keychainctl move")

    /// The closure of a transaction throws any error, and these are errors of the keychain.
    private static func throwing(_ body: () throws -> Void) throws(KeychainError) {
        do {
            try body()
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(.inputOutput, "The credential could not be stored.")
        }
    }

    /// Removes the items that match everything in the request.
    func erase(_ request: GitRequest, _ place: CredentialPlace) throws(KeychainError) {
        let comparesSecret = request.password != nil || request.credential != nil
        for item in try items(place, request.username, orWithoutProtocol: comparesSecret) {
            if comparesSecret {
                guard var found = try read(item) else { continue }
                defer { found.value.wipe() }
                guard found.value.isMeant(by: request) else { continue }
                try eraseIfMeant(item, request, place)
                continue
            }
            do throws(KeychainError) {
                try keychain.delete(item)
            } catch {
                // Another process was faster.
                guard error.reason == .itemNotFound else { throw error }
            }
        }
    }
}

extension CredentialItems {
    /// Another git may have stored a new password since the value was read. That one stays.
    private func eraseIfMeant(
        _ item: KeychainItem, _ request: GitRequest, _ place: CredentialPlace
    ) throws(KeychainError) {
        let account = item.account ?? ""
        try Self.throwing { () throws in
            try keychain.store(like: item, or: place.server).transaction { transaction in
                guard let bytes = try transaction.read(Data.self, for: account),
                    var value = CredentialValue(bytes)
                else { return }
                defer { value.wipe() }
                if value.isMeant(by: request) { transaction.remove(for: account) }
            }
        }
    }
}

extension UserKeychain {
    /// The store of an existing item under its own name, or of a new one.
    func store(like item: KeychainItem?, or server: SecretStore.Server) -> SecretStore {
        var name = server
        if let item {
            name = SecretStore.Server(
                item.server ?? server.host, protocol: item.protocol, port: item.port, path: item.path,
                securityDomain: item.securityDomain, authenticationType: item.authenticationType)
        }
        var store = SecretStore(
            server: name, accessGroup: item?.accessGroup ?? AccessGroups.unrestricted.defaultGroup,
            synchronizable: item?.synchronizable ?? false, store: store, accessGroups: .unrestricted)
        store.context = context
        return store
    }
}
