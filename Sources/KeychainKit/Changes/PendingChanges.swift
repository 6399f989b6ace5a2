// SPDX-License-Identifier: Apache-2.0
// Changes that have not been taken yet.

import KeychainEngine

/// A change and its subject.
struct KnownChange {
    /// Two changes of the same subject are merged.
    enum Subject: Hashable {
        /// An item is identified by its name, not its identity: for an observer, an item that was removed and created
        /// again has changed.
        case item(PrimaryKey)
        case lockState
    }

    let subject: Subject
    let change: SecretChange

    init(_ kind: SecretChange.Kind, _ stored: StoredItem) {
        subject = .item(PrimaryKey(stored.item))
        change = SecretChange(kind, KeychainItem(stored))
    }

    init(isLocked: Bool) {
        subject = .lockState
        change = SecretChange(isLocked ? .locked : .unlocked)
    }
}

/// Changes in the order in which they came, at most one for each item. Several changes of one item are merged.
struct PendingChanges {
    private typealias Place = (number: UInt64, subject: KnownChange.Subject)

    private var changes: [KnownChange.Subject: (number: UInt64, change: SecretChange)] = [:]
    /// Positions of changes, including those that were cancelled out.
    private var places: [Place] = []
    private var firstPlace = 0
    private var nextNumber: UInt64 = 0

    mutating func add(_ new: KnownChange) {
        guard let pending = changes[new.subject] else { return append(new) }
        if let kind = Self.kind(pending.change.kind, new.change.kind) {
            changes[new.subject] = (pending.number, SecretChange(kind, new.change.item))
        } else {
            changes[new.subject] = nil
            dropEmptyPlaces()
        }
    }

    mutating func takeFirst() -> SecretChange? {
        while firstPlace < places.count {
            let (number, subject) = places[firstPlace]
            firstPlace += 1
            guard let pending = changes[subject], pending.number == number else { continue }
            changes[subject] = nil
            dropEmptyPlaces()
            return pending.change
        }
        return nil
    }

    var isEmpty: Bool { changes.isEmpty }

    private mutating func append(_ new: KnownChange) {
        changes[new.subject] = (nextNumber, new.change)
        places.append((nextNumber, new.subject))
        nextNumber += 1
    }

    /// Otherwise positions would pile up when an item is added and removed repeatedly.
    private mutating func dropEmptyPlaces() {
        guard places.count > 2 * changes.count + 16 else { return }
        places = places[firstPlace...].filter { changes[$0.subject]?.number == $0.number }
        firstPlace = 0
    }

    /// - Returns: `nil` if the two cancel each other out.
    private static func kind(_ first: SecretChange.Kind, _ second: SecretChange.Kind) -> SecretChange.Kind? {
        switch (first, second) {
        case (.added, .removed): nil
        case (.added, _): .added
        case (.removed, .added): .updated
        default: second
        }
    }
}
