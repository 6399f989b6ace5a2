// SPDX-License-Identifier: Apache-2.0
// The values of references, each item read once.

import Foundation
import KeychainKit

struct ReferencedValues {
    private let keychain: UserKeychain
    private var known: [Name: Data] = [:]

    /// A reference without its field.
    private struct Name: Hashable {
        let place: SecretReference.Place
        let account: String

        /// As bytes: to Swift a composed "é" and a decomposed one are the same text, but items of both names exist.
        private var parts: [[UInt8]] {
            switch place {
            case .service(let service): [service, account].map { Array($0.utf8) }
            case .server(let server, let port): [server, String(port ?? 0), account].map { Array($0.utf8) }
            }
        }

        static func == (one: Name, other: Name) -> Bool { one.parts == other.parts }

        func hash(into hasher: inout Hasher) { hasher.combine(parts) }
    }

    init(_ keychain: UserKeychain) { self.keychain = keychain }

    /// - Parameter place: Where the reference was found, as the subject of a message.
    /// - Throws: `itemNotFound`, `duplicateItem` if several items match, and errors of the vault.
    mutating func value(of reference: SecretReference, in place: String) throws(KeychainError) -> Data {
        do throws(KeychainError) {
            let value = try whole(Name(place: reference.place, account: reference.account))
            guard let field = reference.field else { return value }
            return try JSONField.bytes(at: field, in: value)
        } catch {
            throw error.found(in: place)
        }
    }

    mutating func wipe() {
        for name in known.keys { known[name]?.wipe() }
    }

    private mutating func whole(_ name: Name) throws(KeychainError) -> Data {
        if let value = known[name] { return value }
        let value = try keychain.value(of: item(name))
        known[name] = value
        return value
    }

    /// As for `get`, an item without a security domain, a protocol, a port and a path is preferred.
    private func item(_ name: Name) throws(KeychainError) -> KeychainItem {
        let found = ItemPreference().among(try keychain.items(Self.filters(name))) { $0 }
        guard let item = found.first else { throw KeychainError(.itemNotFound, "No item matches.") }
        guard found.count == 1 else {
            throw KeychainError(
                .duplicateItem,
                "\(found.count) items match, but exactly one must. To see them: keychainctl list, with the same names.")
        }
        return item
    }

    /// A server as it was written, and then in lower case, as the tool stores it.
    private static func filters(_ name: Name) -> [ItemFilter] {
        switch name.place {
        case .service(let service): return [ItemFilter(account: name.account, service: service)]
        case .server(let server, let port):
            return server.hostSpellings.map { host in
                var filter = ItemFilter(account: name.account, server: host)
                filter.port = port.map { Int($0) }
                return filter
            }
        }
    }
}

extension KeychainError {
    /// The same with the place of a reference. Errors of the whole vault stay as they are.
    func found(in place: String) -> KeychainError {
        switch reason {
        case .itemNotFound, .duplicateItem, .typeMismatch, .invalidParameter, .corrupt, .ofAnotherDevice, .tooLarge:
            KeychainError(reason, "\(place): \(message)")
        default: self
        }
    }
}
