// SPDX-License-Identifier: Apache-2.0
// Which parts of a stored replica have changed.

package import Foundation

/// The parts to write and to remove in order to update a stored state.
package struct PartChanges: Equatable, Sendable {
    package private(set) var written: [PartName: Data] = [:]
    package private(set) var removed: Set<PartName> = []

    package init() {}

    package var isEmpty: Bool { written.isEmpty && removed.isEmpty }

    mutating func compare<Key, Value: Equatable>(
        _ old: [Key: Value], _ new: [Key: Value], _ name: (Key) -> PartName, _ bytes: (Value) -> Data
    ) {
        for (key, value) in new where old[key] != value { written[name(key)] = bytes(value) }
        for key in old.keys where new[key] == nil { removed.insert(name(key)) }
    }

    mutating func compare<Outer, Inner, Value: Equatable>(
        _ old: [Outer: [Inner: Value]], _ new: [Outer: [Inner: Value]], _ name: (Outer, Inner) -> PartName,
        _ bytes: (Value) -> Data
    ) {
        for (key, values) in new where old[key] != values {
            compare(old[key] ?? [:], values, { name(key, $0) }, bytes)
        }
        for (key, values) in old where new[key] == nil { removed.formUnion(values.keys.map { name(key, $0) }) }
    }
}
