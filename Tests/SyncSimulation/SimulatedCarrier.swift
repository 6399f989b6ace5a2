// SPDX-License-Identifier: Apache-2.0
// Carriers that lose, hide, repeat and roll back.

import Foundation
import KeychainSyncCore

/// What one machine sees of a carrier: one store for all, or a folder of its own that others reach in time.
struct SimulatedCarrier {
    private(set) var objects: [ObjectName: Data] = [:]
    /// Removed names, which reach other folders too.
    private var removed: Set<ObjectName> = []

    mutating func publish(_ name: ObjectName, _ bytes: Data) -> Publication {
        guard let there = objects[name] else {
            objects[name] = bytes
            removed.remove(name)
            return .created
        }
        return there == bytes ? .alreadySame : .otherThere
    }

    mutating func remove(_ names: [ObjectName]) {
        for name in names where objects.removeValue(forKey: name) != nil { removed.insert(name) }
    }

    /// A part of what the other folder has arrives here, in any order.
    mutating func receive(from other: SimulatedCarrier, share: Double, _ random: inout SeededRandom) {
        for name in other.objects.keys.sorted() where objects[name] == nil {
            guard random.chance(share), !removed.contains(name) || random.chance(0.05) else { continue }
            objects[name] = other.objects[name]
        }
        for name in other.removed.sorted() where random.chance(share) {
            if objects.removeValue(forKey: name) != nil { removed.insert(name) }
        }
    }

    /// Nothing was removed, as far as this carrier remembers.
    mutating func forgetRemovals() { removed = [] }

    mutating func lose() { (objects, removed) = ([:], []) }
}
