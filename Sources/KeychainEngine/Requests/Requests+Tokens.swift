// SPDX-License-Identifier: Apache-2.0
// Requests for keys on tokens.

package import Foundation
import SecretMemory

/// A key on a token that an addition stores.
package struct NewTokenKey: Sendable {
    package let key: TokenKey
    /// The access control that the key has already; `nil`: that of the addition.
    package let accessControl: AccessControl?

    package init(_ key: TokenKey, accessControl: AccessControl? = nil) {
        (self.key, self.accessControl) = (key, accessControl)
    }
}

extension Requests {
    /// Opens the key that `query` names by its persistent reference, for one use. Asks the user as reading a value does.
    ///
    /// - Parameters:
    ///   - identifier: Of its token.
    ///   - keychain: What uses a key that is never given out, if that is the token.
    ///   - publicKey: Its public half.
    /// - Throws: `unsupported` without the token; `itemNotFound` if the item is gone or has another key by now;
    ///   `authenticationFailed` if its access control does not allow its use; `locked`, and the errors of asking the user.
    package func openTokenKey(
        _ query: Query, identifier: String, keychain: (any KeyToken)? = nil, publicKey: Data,
        accessGroups: AccessGroups
    ) throws(KeychainError) -> OpenTokenKey {
        try query.checkIsWanted()
        let isOfKeychain = identifier == Item.keychainIdentifier
        let token = if isOfKeychain, let keychain { keychain } else { try engine.tokens.existing(identifier) }
        var selection = try query.searchSelection(accessGroups: accessGroups, dialect: engine.dialect)
        func found(_ includesValue: Bool) throws(KeychainError) -> StoredItem {
            (selection.namesConstrained, selection.opensTokenKeys) = (!includesValue, includesValue)
            selection.opensKeysOfKeychain = includesValue && isOfKeychain && keychain != nil
            let found = try items.select(
                selection, limit: 1, includingValues: includesValue, engine.authorization(query))
            if let failure = found.failure { throw failure }
            guard let stored = found.items.first, stored.item.tokenPublicKey == publicKey,
                stored.item.tokenIdentifier == identifier
            else { throw .tokenKeyIsGone }
            return stored
        }
        // Before the user is asked.
        try found(false).item.accessControl.checkAllowsUse()
        guard var object = try found(true).item.value else { throw .damagedItem }
        // A token may have given a slice, whose indexes do not begin with 0.
        defer { object.resetBytes(in: object.startIndex..<object.endIndex) }
        return OpenTokenKey(token, object.withUnsafeBytes { SecretBytes(copying: $0) })
    }

    /// Removes what is selected. Tokens forget the keys of removed items: now, or when the transaction has happened.
    func removing(_ selection: Selection, _ query: Query) throws(KeychainError) -> Int {
        let keys = tokenKeys(selection)
        let count = try items.delete(selection, engine.authorization(query))
        if let removedKeys { removedKeys.add(keys) } else { forget(keys) }
        return count
    }

    /// Tells tokens of removed keys that no item has any more. A copy of an item has the same key, and outside a transaction
    /// others may change an item after its key was read, so that it stays. An item that cannot be read may be such a one.
    func forget(_ removed: [RemovedTokenKeys.Key]) {
        guard !removed.isEmpty else { return }
        var selection = Selection(itemClass: .key)
        selection.namesConstrained = true
        guard let left = try? items.select(selection, limit: nil, includingValues: false, .none), left.damaged == 0,
            left.ofAnotherDevice == 0
        else { return }
        let publicKeys = Set(left.items.compactMap(\.item.tokenPublicKey))
        for key in removed where !publicKeys.contains(key.publicKey) { key.forget() }
    }

    /// The keys that can be read as a deletion reads, which asks nobody: not those that ask the user, and not locked ones.
    private func tokenKeys(_ selection: Selection) -> [RemovedTokenKeys.Key] {
        guard !engine.tokens.isEmpty, (selection.itemClass ?? selection.id?.itemClass) == .key else { return [] }
        var named = selection
        named.namesConstrained = true
        let listed = try? items.select(named, limit: nil, includingValues: false, .none).items
        return (listed ?? []).compactMap { stored in
            guard let publicKey = stored.item.tokenPublicKey, stored.item.accessControl.needs.isEmpty,
                let token = stored.item.tokenIdentifier.flatMap(engine.tokens.token)
            else { return nil }
            var one = Selection(itemClass: nil, id: stored.reference, groups: selection.groups)
            one.opensTokenKeys = true
            let found = try? items.select(one, limit: 1, includingValues: true, .none).items
            guard let object = found?.first?.item.value else { return nil }
            return RemovedTokenKeys.Key(token: token, object: object, publicKey: publicKey)
        }
    }

    /// - Returns: The new item, without the object of a key on a token.
    func inserted(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try items.insert(item, authorization).withoutTokenObject
    }
}

extension Query {
    /// Checks and completes a new item that is a key on a token.
    func placingOnToken(_ item: Item) throws(KeychainError) -> Item {
        guard let new = onToken else { return item }
        guard item.isOnToken else {
            throw KeychainError(.invalidParameter, "Only an item of class key that names its token can be on a token.")
        }
        guard item.value == nil else { throw .tokenKeyIsFixed }
        guard !item.attributes.isSynchronizable else {
            throw KeychainError(.invalidParameter, "A key on a token cannot be synchronizable: it never leaves it.")
        }
        var item = item
        if let accessControl = new.accessControl {
            guard !givesProtection || item.accessControl == accessControl else { throw .tokenKeyIsFixed }
            item.accessControl = accessControl
        }
        item.accessControl = try item.accessControl.onThisDevice()
        item.attributes[.tokenObject] = .data(new.key.publicKey)
        item.value = new.key.object
        return item
    }

    private var givesProtection: Bool {
        protection != nil || accessControl != nil || attributes[.accessible] != nil
    }
}

extension Engine {
    /// Gets the proofs that an item with these needs would require, for a key that is not stored.
    package func prove(_ needs: Proofs.Needs, as query: Query) throws(KeychainError) {
        guard !needs.isEmpty else { return }
        guard let verifier = store.userVerifier else { throw .passcodeNotSet }
        try authorization(query).satisfying(verifier) { (proofs) throws(KeychainError) -> Attempt<Void> in
            let missing = proofs.missing(needs)
            return missing.isEmpty ? .done(()) : .needs(missing)
        }
    }

    /// - Throws: The error of adding an item with this access control that is not stored. An application password needs an item
    ///   that it opens.
    package func checkCanProve(_ accessControl: AccessControl) throws(KeychainError) {
        try accessControl.checkStorable(synchronizable: false)
        guard !accessControl.needs.contains(.applicationPassword) else {
            throw KeychainError(
                .unsupported, "A key with an application password has to be stored (kSecAttrIsPermanent).")
        }
        guard accessControl.needs.contains(.user) else { return }
        guard try store.userVerifier?.isPasscodeSet() == true else { throw .passcodeNotSet }
    }
}

extension KeychainError {
    package static let tokenKeyIsGone = KeychainError(
        .itemNotFound, "The key was removed, or replaced by another, since it was found. Nothing was done.")
}
