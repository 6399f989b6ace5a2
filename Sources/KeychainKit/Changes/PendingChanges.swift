// SPDX-License-Identifier: Apache-2.0
// Changes that wait for somebody to take them.

import KeychainEngine

/// A change, and what it is of.
struct KnownChange {
    /// What two changes have to be of to become one.
    enum Subject: Hashable {
        /// By name and not by identity: an item that was removed and made anew is a changed one to who follows it.
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

/// Changes in the order in which they came, at most one for each item: what several of them come to.
struct PendingChanges {
    private typealias Place = (number: UInt64, subject: KnownChange.Subject)

    private var changes: [KnownChange.Subject: (number: UInt64, change: SecretChange)] = [:]
    /// The places of changes, those included that have been taken back since.
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

    /// Else places would pile up where the same item keeps coming and going.
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
