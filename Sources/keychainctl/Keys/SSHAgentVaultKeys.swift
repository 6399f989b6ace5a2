// SPDX-License-Identifier: Apache-2.0
// The keys of the vault that an SSH agent offers.

import Foundation
import KeychainKeyStore
import KeychainKeys
import KeychainKit

/// The keys of the vault that an agent may use without asking.
struct SSHAgentVaultKeys: SSHAgentKeys {
    private let store: KeyStore
    private let tags: [String]
    private let complain: (String) -> Void

    /// - Parameters:
    ///   - tags: Those to offer; none: all.
    ///   - complain: Takes why some keys are left out.
    init(keychain: UserKeychain, tags: [String], complain: @escaping (String) -> Void) {
        var store = keychain.keys(accessGroup: nil, synchronizable: false)
        (store.context, store.allowsInteraction) = (nil, false)
        (self.store, self.tags, self.complain) = (store, tags, complain)
    }

    func identities() throws(KeychainError) -> [SSHAgentList.Identity] {
        try offered().compactMap { key in
            key.publicKey?.sshEncoding.map { ($0, SSHAgentList.comment(key.tag ?? key.label ?? "")) }
        }
    }

    /// Several items may contain the key, under different tags or in different access groups. One that opens is enough.
    func key(_ encoding: Data) throws(KeychainError) -> OpenSigningKey? {
        try Self.firstThatOpens(of: items(of: encoding), store)
    }

    func opening(_ encoding: Data) throws(KeychainError) -> Opening? {
        let (items, store) = (try items(of: encoding), store)
        guard items.contains(where: \.isHardwareBound) else { return nil }
        return { () throws(KeychainError) in try Self.firstThatOpens(of: items, store) }
    }

    private static func firstThatOpens(
        of items: [KeychainKeyStore.StoredKey], _ store: KeyStore
    ) throws(KeychainError) -> OpenSigningKey? {
        var failure: KeychainError?
        for item in items {
            do throws(KeychainError) {
                if let key = try store.openSigningKey(of: item) { return key }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// Those on a token come last: the token may be away, or wait for the user.
    private func items(of encoding: Data) throws(KeychainError) -> [KeychainKeyStore.StoredKey] {
        let items = try offered().filter { $0.publicKey?.sshEncoding == encoding }
        return items.filter { !$0.isHardwareBound } + items.filter(\.isHardwareBound)
    }

    private func offered() throws(KeychainError) -> [KeychainKeyStore.StoredKey] {
        let found = try store.listedKeys(leavingOutLocked: true)
        if found.locked > 0 { complain(KeychainError.locked.message) }
        return found.entries.filter { !$0.requiresAuthentication && isNamed($0) }
    }

    /// Compares bytes, as the vault does: `==` would also offer a key whose tag only looks the same.
    private func isNamed(_ key: KeychainKeyStore.StoredKey) -> Bool {
        guard let own = key.tag else { return tags.isEmpty }
        return tags.isEmpty || tags.contains { $0.utf8.elementsEqual(own.utf8) }
    }
}
