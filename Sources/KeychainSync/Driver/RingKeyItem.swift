// SPDX-License-Identifier: Apache-2.0
// The keys of this machine in its ring, as an item of the vault.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainSyncCore
import KeychainVault

/// The keys of a member are an item of the vault: they are sealed, rotated, backed up and locked like all others. The
/// item is bound to this machine, so that another machine cannot use them.
enum RingKeyItem {
    static let group = AccessGroups.internalGroup

    private static let selection: Selection = {
        var conditions = Attributes()
        conditions[.service] = .string(group)
        conditions[.synchronizable] = .number(0)
        return Selection(itemClass: .genericPassword, conditions: conditions, groups: [group])
    }()

    static func read(_ transaction: RingTransaction) throws(KeychainError) -> StoredKeys {
        var found = try transaction.items.select(selection, limit: 1, includingValues: true, .none)
        defer { found.wipeValues() }
        guard !found.items.isEmpty else { throw found.failure ?? .missingRingKeys }
        guard var value = found.items[0].item.value.map({ [UInt8]($0) }) else { throw .brokenRing }
        defer { value.wipe() }
        do throws(Refusal) {
            return try StoredKeys(value)
        } catch {
            throw error == .newerFormat ? .newerRing : .brokenRing
        }
    }

    static func write(_ keys: StoredKeys, _ transaction: RingTransaction) throws(KeychainError) {
        var bytes = keys.bytes()
        defer { bytes.wipe() }
        var item = item(
            bytes.data, service: group, account: keys.keyring.ring.ring.hex,
            label: "Keys of this machine for syncing")
        defer { item.value?.wipe() }
        var replaced = try transaction.items.update(selection, .none) { old in
            var new = item
            new.attributes[.creationDate] = old.item.attributes[.creationDate]
            return new
        }
        // The former keys.
        defer { replaced.wipeValues() }
        if replaced.items.isEmpty { _ = try transaction.items.insert(item, .none) }
    }

    static func remove(_ transaction: RingTransaction) throws(KeychainError) {
        _ = try transaction.items.delete(selection, .none)
    }

    /// An item that only this module reads, and that is bound to this machine.
    static func item(_ value: Data, service: String, account: String, label: String) -> Item {
        let now = AttributeValue.date(Date().timeIntervalSinceReferenceDate)
        var attributes = Attributes()
        attributes[.service] = .string(service)
        attributes[.account] = .string(account)
        attributes[.accessGroup] = .string(group)
        attributes[.synchronizable] = .number(0)
        attributes[.label] = .string(label)
        (attributes[.creationDate], attributes[.modificationDate]) = (now, now)
        return Item(
            itemClass: .genericPassword, attributes: attributes,
            accessControl: AccessControl(.whenUnlockedThisDeviceOnly), value: value)
    }
}

extension SelectedItems {
    /// Overwrites the values, of which there are no copies.
    mutating func wipeValues() {
        for index in items.indices { items[index].item.value?.wipe() }
    }
}

extension KeychainError {
    static let brokenRing = KeychainError(
        .corrupt,
        "The vault's state of its ring cannot be opened. The items are not affected. To enter the ring again, run: "
            + "keychainctl sync leave; then: keychainctl sync join")
    fileprivate static let newerRing = KeychainError(
        .newerFormat,
        "A newer version of swift-keychain has stored this machine's keys for syncing. Use that version. The items are not affected."
    )
    static let missingRingKeys = KeychainError(
        .itemNotFound,
        "This machine's keys for syncing are missing: their item was deleted. To enter the ring again, run: "
            + "keychainctl sync leave; then: keychainctl sync join")
}
