// SPDX-License-Identifier: Apache-2.0
// Which keys of the keybag are still needed by items and quarantined rows.

import KeychainEngine

extension Keybag {
    /// Added to the number of a class: a key of that class which is bound to another device key than the vault's. It is kept
    /// for the rows under it, which open again once that device key is back.
    static let otherDeviceOffset: UInt8 = 64
}

extension Keybag.WrappedKey {
    /// Whether it is bound to another device key than the vault's.
    var isOfAnotherDevice: Bool {
        keyClass >= Keybag.otherDeviceOffset
            && Accessibility(number: keyClass - Keybag.otherDeviceOffset)?.isThisDeviceOnly == true
    }

    /// Whether it is bound to any device key.
    var isForOneDevice: Bool { Accessibility(number: rowClass)?.isThisDeviceOnly == true }

    /// The class of the rows that are sealed under it.
    var rowClass: UInt8 { isOfAnotherDevice ? keyClass - Keybag.otherDeviceOffset : keyClass }

    var name: ClassKeyName { ClassKeyName(keyClass: rowClass, generation: generation) }
}

extension Keybag {
    /// The vault's own keys of accessibility classes.
    var classKeys: [WrappedKey] { keys.filter { Accessibility(number: $0.keyClass) != nil } }

    /// Keys that need another device key.
    var keysOfOtherDevices: [WrappedKey] { keys.filter(\.isOfAnotherDevice) }

    /// For each class with keys of the vault's own: the generation under which new rows are sealed.
    var newestGenerations: [UInt8: UInt32] {
        classKeys.reduce(into: [:]) { $0[$1.keyClass] = max($0[$1.keyClass] ?? 0, $1.generation) }
    }

    /// The classes with earlier keys that a rotation still has to drop, with the number of items that must move first.
    ///
    /// A key that only quarantined rows need stays; it does not count as a pending rotation.
    func pendingRotation(_ use: KeyUse) -> [UInt8: Int] {
        var pending: [UInt8: Int] = [:]
        for (keyClass, newest) in newestGenerations {
            let earlier = classKeys.filter { $0.keyClass == keyClass && $0.generation < newest }
            guard !earlier.isEmpty else { continue }
            let count = movingItems(keyClass, use)
            if count > 0 || earlier.contains(where: { !use.needs($0.name) }) { pending[keyClass] = count }
        }
        return pending
    }

    /// What is left to do of the last rotation: its classes, with the number of items that are not under new keys.
    ///
    /// Beside those of ``pendingRotation(_:)``, these are the classes for this device if the rotation had no device key to make
    /// new keys for them: their newest key is older than those of the other classes.
    func unfinishedRotation(_ use: KeyUse) -> [UInt8: Int] {
        var unfinished = pendingRotation(use)
        let newest = classKeys.filter { newestGenerations[$0.keyClass] == $0.generation }
        let rotated = newest.filter { !$0.isForOneDevice }.map(\.created).max() ?? 0
        for key in newest where key.isForOneDevice && key.created < rotated {
            unfinished[key.keyClass, default: 0] += use.items[key.name] ?? 0
        }
        return unfinished
    }

    /// Items of a class that are not under its newest key, apart from those of another device.
    private func movingItems(_ keyClass: UInt8, _ use: KeyUse) -> Int {
        let staying = stayingGenerations[keyClass] ?? []
        return use.items.reduce(0) { count, entry in
            entry.key.keyClass == keyClass && !staying.contains(entry.key.generation) ? count + entry.value : count
        }
    }

    /// For each class: the generations whose rows a rotation leaves unchanged.
    var stayingGenerations: [UInt8: Set<UInt32>] {
        var staying = newestGenerations.mapValues { Set([$0]) }
        for entry in keysOfOtherDevices { staying[entry.rowClass]?.insert(entry.generation) }
        return staying
    }

    /// The keys that no row needs and no new row will be sealed under.
    func droppableKeys(_ use: KeyUse) -> Set<ClassKeyName> {
        let newest = newestGenerations
        let dispensable = keys.filter { entry in
            guard !use.needs(entry.name) else { return false }
            return entry.isOfAnotherDevice || newest[entry.keyClass].map { entry.generation < $0 } == true
        }
        return Set(dispensable.map(\.name))
    }

    func dropping(_ names: Set<ClassKeyName>) -> Keybag {
        var next = self
        next.keys.removeAll { $0.keyClass != Self.indexKeyClass && names.contains($0.name) }
        return next
    }

    /// - Throws: `unsupported` if the next keybag lacks a key that rows are sealed under.
    func checkNothingIsLost(in next: Keybag, _ use: () throws -> KeyUse) throws {
        let gone = Set(keys.map(\.name)).subtracting(next.keys.map(\.name))
        guard !gone.isEmpty else { return }
        let needed = try use()
        let count = gone.reduce(0) { $0 + (needed.items[$1] ?? 0) + (needed.quarantined[$1] ?? 0) }
        guard count == 0 else {
            throw KeychainError(
                .unsupported,
                "This change would remove keys that \(count) items are sealed under, and those items would be lost. "
                    + "Nothing was changed.")
        }
    }
}
