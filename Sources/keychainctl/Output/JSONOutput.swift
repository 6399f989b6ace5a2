// SPDX-License-Identifier: Apache-2.0
// JSON for programs. The names of the keys never change; new ones may be added.

import Foundation
import KeychainKit
import KeychainVault
import SecretMemory

enum JSONOutput {
    /// One line of JSON, keys in alphabetical order.
    static func line(_ value: some Encodable) throws(KeychainError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self).escapingControlsInJSON + "\n"
        } catch {
            throw KeychainError(.inputOutput, "The result could not be written as JSON.")
        }
    }
}

/// An item in `list --json`. Every key exists; the value is `null` if the item does not have it.
struct ItemJSON: Encodable {
    let item: ListedItem

    private enum Key: String, CodingKey {
        case `class`, service, server, account, label, comment, kind, accessGroup, `protocol`, port, path
        case securityDomain, created, modified, expires, synchronizable, accessibility, requiresAuthentication
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(item.itemClass.name, forKey: .class)
        try object.encode(item.service, forKey: .service)
        try object.encode(item.server, forKey: .server)
        try object.encode(item.account, forKey: .account)
        try object.encode(item.label, forKey: .label)
        try object.encode(item.comment, forKey: .comment)
        try object.encode(item.kind, forKey: .kind)
        try object.encode(item.accessGroup, forKey: .accessGroup)
        try object.encode(item.protocolName, forKey: .protocol)
        try object.encode(item.port, forKey: .port)
        try object.encode(item.path, forKey: .path)
        try object.encode(item.securityDomain, forKey: .securityDomain)
        try object.encode(item.created?.timestamp(withFraction: true), forKey: .created)
        try object.encode(item.modified?.timestamp(withFraction: true), forKey: .modified)
        try object.encode(item.expires?.timestamp(withFraction: true), forKey: .expires)
        try object.encode(item.isSynchronizable, forKey: .synchronizable)
        try object.encode(item.accessibility, forKey: .accessibility)
        try object.encode(item.requiresAuthentication, forKey: .requiresAuthentication)
    }
}

/// The vault in `status --json`. Before there is a vault, values without meaning are `null`.
struct StatusJSON: Encodable {
    let status: VaultStatus

    private enum Key: String, CodingKey {
        case vaultFolder, deviceKeyFile, exists, formatVersion, readOnly, protectors, items, damaged, quarantined
        case wronglyIndexed, indexMissing, indexForeign
        case keybagCopyDamaged, walHoldsRemovedData, keyMemoryLocked
        case lockState, opensByItself, openedBy, wrongCredential, strength, unlockCache, deviceKeyFits, rotationPending,
            notRotated, locked,
            ofAnotherDevice
        case memoryProtection, differences, rollbackWatched
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(status.location.folder, forKey: .vaultFolder)
        try object.encode(status.location.deviceKeyFile, forKey: .deviceKeyFile)
        try object.encode(status.exists, forKey: .exists)
        try object.encode(ifExists(status.formatVersion), forKey: .formatVersion)
        try object.encode(ifExists(status.isReadOnly), forKey: .readOnly)
        try object.encode(status.slots.map(ProtectorJSON.init), forKey: .protectors)
        try object.encode(counts, forKey: .items)
        try object.encode(status.damagedCount, forKey: .damaged)
        try object.encode(status.wronglyIndexedCount, forKey: .wronglyIndexed)
        try object.encode(status.missingIndexCount, forKey: .indexMissing)
        try object.encode(status.foreignIndexCount, forKey: .indexForeign)
        try object.encode(status.quarantinedCount, forKey: .quarantined)
        try object.encode(ifExists(status.isKeybagCopyDamaged), forKey: .keybagCopyDamaged)
        try object.encode(ifExists(status.walHoldsRemovedData), forKey: .walHoldsRemovedData)
        try object.encode(ifExists(status.isKeyMemoryLocked), forKey: .keyMemoryLocked)
        try encodeLocking(into: &object)
        try object.encode(SecretBytes.protection.word, forKey: .memoryProtection)
    }

    private func encodeLocking(into object: inout KeyedEncodingContainer<Key>) throws {
        try object.encode(ifExists(status.lockState.rawValue), forKey: .lockState)
        try object.encode(ifExists(status.isAlwaysUnlocked), forKey: .opensByItself)
        try object.encode(status.exists ? status.openedBy?.word : nil, forKey: .openedBy)
        try object.encode(status.wrongCredential, forKey: .wrongCredential)
        try object.encode(status.strength, forKey: .strength)
        try object.encode(status.unlockCache.rawValue, forKey: .unlockCache)
        try object.encode(ifExists(status.isOfThisDevice), forKey: .deviceKeyFits)
        try object.encode(ifExists(status.isRotating), forKey: .rotationPending)
        try object.encode(status.unrotatedCount, forKey: .notRotated)
        try object.encode(status.lockedCount, forKey: .locked)
        try object.encode(status.ofAnotherDeviceCount, forKey: .ofAnotherDevice)
        try object.encode(status.headFindings?.map(\.message), forKey: .differences)
        try object.encode(status.isRollbackWatched, forKey: .rollbackWatched)
    }

    /// All classes, including those without items.
    private var counts: [String: Int] {
        Dictionary(uniqueKeysWithValues: ItemClass.allCases.map { ($0.name, status.itemCounts[$0] ?? 0) })
    }

    private func ifExists<Value>(_ value: Value) -> Value? { status.exists ? value : nil }
}

/// A protector in `status --json` and `protect list --json`.
struct ProtectorJSON: Encodable {
    let slot: VaultStatus.Slot

    private enum Key: String, CodingKey {
        case word, kind, id, created, protectsFrom, doesNotProtectFrom
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(slot.kind?.word, forKey: .word)
        try object.encode(slot.kind?.name, forKey: .kind)
        try object.encode(slot.id.uuidString.lowercased(), forKey: .id)
        try object.encode(slot.created.timestamp(withFraction: true), forKey: .created)
        try object.encode(slot.kind?.protectsFrom, forKey: .protectsFrom)
        try object.encode(slot.kind?.doesNotProtectFrom, forKey: .doesNotProtectFrom)
    }
}
