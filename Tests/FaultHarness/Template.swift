// SPDX-License-Identifier: Apache-2.0
// The vaults that operations start from. Each is made once, in a process of its own, and copied for each point.

import Foundation
import KeychainEngine
import KeychainVault

/// A prepared vault.
enum Template: String, CaseIterable {
    /// No vault, and no folder for one.
    case none
    /// Opens with the device key; closed.
    case plain
    /// The same, left by a process that ended without closing it: its last changes are in the WAL.
    case unclosed
    /// Opens with a recovery key and a key file, not with the device key.
    case protected
    /// Opens with the device key and a recovery key.
    case removable
    /// Like `protected`, in the middle of a rotation.
    case rotating
    /// Opens with a recovery key; came from a device whose key is not here.
    case ofAnotherDevice
    /// Has a backup, and has changed since.
    case backedUp
    /// The same, and does not open with the device key.
    case backedUpProtected
    /// A backup and the device key; no folder for a vault.
    case backupAlone
    /// Two items more are quarantined, and open.
    case quarantined
    /// Lacks an item that its head counts.
    case robbed
    /// Has entries of the index that lead to the wrong items, and lacks others.
    case misindexed
    /// In a ring with another machine. Opens with the device key and a recovery key. Some changes wait to be sent.
    case inRing
    /// The same, with a backup from before some of the changes.
    case inRingBackedUp

    static let count = 12

    /// What a process finds in it.
    var state: VaultState {
        let items = Dictionary(uniqueKeysWithValues: (0..<Self.count).map { ("item-\($0)", "value \($0)") })
        return switch self {
        case .none: VaultState(items: [:], openers: [])
        case .plain, .unclosed: VaultState(items: items, openers: [.deviceKey])
        case .protected, .rotating: VaultState(items: items, openers: [.recovery, .keyFile])
        case .removable: VaultState(items: items, openers: [.deviceKey, .recovery])
        case .ofAnotherDevice: VaultState(items: items, openers: [.recovery])
        case .backedUp: VaultState(items: Self.changed(items), openers: [.deviceKey], backup: items)
        case .backedUpProtected:
            VaultState(items: Self.changed(items), openers: [.recovery, .keyFile], backup: items)
        case .backupAlone: VaultState(items: [:], openers: [], backup: items)
        case .quarantined: VaultState(items: items, openers: [.deviceKey], quarantined: Self.quarantinedItems.count)
        case .robbed: VaultState(items: items, openers: [.deviceKey], head: .needsAcceptance)
        case .misindexed:
            VaultState(
                items: items.merging(["labelled": "value"]) { first, _ in first }, openers: [.deviceKey],
                head: .needsRepair)
        case .inRing: inRing
        case .inRingBackedUp: Self.changedInRing(inRing)
        }
    }

    private var inRing: VaultState {
        let items = Dictionary(uniqueKeysWithValues: (0..<Self.count).map { ("item-\($0)", "value \($0)") })
        return VaultState(
            items: items.merging(Ring.items) { first, _ in first }, openers: [.deviceKey, .recovery],
            outbox: Ring.outbox)
    }

    private static func changedInRing(_ state: VaultState) -> VaultState {
        var changed = state
        (changed.backup, changed.backupOutbox) = (state.items, state.outbox)
        changed.items["shared-3"] = "later"
        changed.outbox = Ring.outbox.subtracting(["shared-3 unsent"]).union(["shared-3 later"])
        return changed
    }

    var hasVault: Bool { ![.none, .backupAlone].contains(self) }

    /// What is quarantined where something is.
    static let quarantinedItems = ["quarantined-0": "value", "quarantined-1": "value"]

    private static func changed(_ items: [String: String]) -> [String: String] {
        items.filter { $0.key != "item-11" }.merging(["later": "added"]) { first, _ in first }
    }

    /// Makes it; ends the process.
    func make(at place: Place) throws -> Never {
        guard self != .none else { exit(0) }
        let vault = try place.shared()
        let spoiling = Spoiling(place: place, vault: vault)
        if self == .quarantined { try spoiling.quarantine(Self.quarantinedItems) }
        let robbed = self == .robbed ? try spoiling.addOne() : 0
        for (index, accessibility) in zip(0..<Self.count, accessibilities) {
            try vault.add("item-\(index)", "value \(index)", accessibility)
        }
        switch self {
        case .none, .plain: break
        case .unclosed: _exit(0)
        case .removable: try vault.addProtector(Opener.recovery.secret)
        case .protected: try protect(vault)
        case .rotating:
            try protect(vault)
            try vault.rotate(authority: Opener.recovery.secret) { _ in _exit(0) }
        case .ofAnotherDevice:
            try protect(vault)
            try vault.removeProtector(vault.slot(.keyFile), authority: Opener.recovery.secret)
            try Vault.closeAll()
            try FileManager.default.removeItem(atPath: place.deviceKeyFile)
        case .backedUp: try backUpAndChange(vault, place)
        case .backedUpProtected:
            try protect(vault)
            try backUpAndChange(vault, place)
        case .backupAlone:
            try vault.backup(to: place.backupFile)
            try Vault.closeAll()
            for path in [place.folder, place.anchorFolder] { try FileManager.default.removeItem(atPath: path) }
        case .quarantined: break
        case .robbed: try spoiling.remove(robbed)
        case .misindexed: try spoiling.spoilIndex()
        case .inRing, .inRingBackedUp: try enterRing(vault, place)
        }
        try Vault.closeAll()
        exit(0)
    }

    private func backUpAndChange(_ vault: Vault, _ place: Place) throws {
        try vault.backup(to: place.backupFile)
        try vault.add("later", "added")
        try vault.delete("item-11")
    }

    private func enterRing(_ vault: Vault, _ place: Place) throws {
        try vault.addProtector(Opener.recovery.secret)
        try Ring(place: place).make(vault)
        guard self == .inRingBackedUp else { return }
        try vault.backup(to: place.backupFile)
        try vault.updateShared("shared-3", "later")
    }

    private func protect(_ vault: Vault) throws {
        try vault.addProtector(Opener.recovery.secret)
        // In this order: a removal takes the secrets of all other protectors, and a key file is not found by itself.
        try vault.removeProtector(vault.slot(.deviceKey), authority: Opener.recovery.secret)
        try vault.addProtector(Opener.keyFile.secret, authority: Opener.recovery.secret)
        try vault.unlock(Opener.recovery.secret)
    }

    /// Items for the old device alone stay closed on another, so there are none in a vault that changes its device.
    private var accessibilities: [Accessibility] {
        let all: [Accessibility] =
            self == .ofAnotherDevice
            ? [.whenUnlocked, .afterFirstUnlock, .always]
            : Accessibility.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }
        return (0..<Self.count).map { all[$0 % all.count] }
    }
}
