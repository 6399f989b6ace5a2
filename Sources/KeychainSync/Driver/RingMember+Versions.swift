// SPDX-License-Identifier: Apache-2.0
// Values of items that are not shown, and showing them again.

import Foundation
import KeychainCrypto
package import KeychainEngine
import KeychainSyncCore
import KeychainVault

/// One value of an item in the ring. The value itself is not part of it.
package struct ItemVersion: Sendable {
    package enum State: Sendable, Equatable {
        case shown
        /// Written at the same time as the shown one. The next write of the item replaces both.
        case concurrent
        /// Replaced, and kept until then, in milliseconds since 1970.
        case kept(until: UInt64)
    }

    /// Eight hexadecimal digits that name it on this machine.
    package let id: String
    /// The item without its value; `nil` if this version cannot read it, or lacks its key.
    package let item: Item?
    /// The machine that wrote it.
    package let machine: String
    /// In milliseconds since 1970, by the clock of that machine.
    package let time: UInt64
    package let state: State
}

extension RingMember {
    /// The values of items with more than one, the shown one of each item first.
    ///
    /// - Parameter includingKept: Whether values that were replaced in the last 30 days are listed too.
    /// - Throws: `unavailable` if the vault is in no ring; `locked`.
    package func versions(includingKept: Bool) async throws(KeychainError) -> [ItemVersion] {
        try await blocking { [self] () throws(KeychainError) -> [ItemVersion] in
            let state = try step { _, _ in [] }.state
            let kept = includingKept ? Dictionary(grouping: state.kept.all) { $0.record.header.item } : [:]
            let concurrent = state.replica.items.items.filter { state.replica.hasConflict($0) }
            return Set(concurrent).union(kept.keys).sorted().flatMap { id in
                let all = state.replica.items[id].all
                let present = all.enumerated().map { state.version($1, $0 == 0 ? .shown : .concurrent) }
                return present + (kept[id] ?? []).map { state.version($0.record, .kept(until: $0.until)) }
            }
        }
    }

    /// The item of a version, with its value.
    ///
    /// - Parameter id: As ``versions(includingKept:)`` names it.
    /// - Throws: As ``restore(_:)``.
    package func item(ofVersion id: String) async throws(KeychainError) -> Item {
        try await blocking { [self] () throws(KeychainError) -> Item in
            let state = try step { _, _ in [] }.state
            do { return try state.version(id).item } catch { throw KeychainError(exchange: error) }
        }
    }

    /// Makes a value the shown one, as a new write: on this machine at once, on the others with the next exchange. The value that was
    /// shown is kept. On a machine that was removed from the ring it is shown on this machine alone.
    ///
    /// - Parameter id: As ``versions(includingKept:)`` names it.
    /// - Returns: Whether the others get it too.
    /// - Throws: `itemNotFound` if there is none; `duplicateItem` if an item that is not shared has its place; `newerFormat` if
    ///   this version cannot read it; `locked` if its key is missing here; `corrupt`. Then nothing has changed.
    @discardableResult
    package func restore(_ id: String) async throws(KeychainError) -> Bool {
        try await blocking { [self] () throws(KeychainError) -> Bool in
            var restored: SyncID?
            let step = try step(isRetrying: true, unless: { restored.map($0.contains) == true ? .placeIsTaken : nil }) {
                state, now in
                let (item, changes) = try state.restore(id, at: now)
                restored = item
                return [.changed(changes)]
            }
            return step.state.isMember
        }
    }
}

extension RingState {
    fileprivate func version(_ record: SealedRecord, _ state: ItemVersion.State) -> ItemVersion {
        // A value that cannot be opened here is listed without its item.
        var item = (try? replica.item(of: record)) ?? nil
        item?.value?.wipe()
        item?.value = nil
        return ItemVersion(
            id: record.header.dot.shortID, item: item, machine: replica.ring.members[record.author]?.card.name ?? "?",
            time: record.header.time.milliseconds, state: state)
    }

    fileprivate func version(_ id: String) throws -> (record: SealedRecord, item: Item) {
        let found =
            replica.items.records.filter { $0.header.dot.shortID == id }
            + kept.all.map(\.record).filter { $0.header.dot.shortID == id }
        guard let record = found.first, found.count == 1 else { throw KeychainError.noVersion(id) }
        guard let item = try replica.item(of: record) else { throw KeychainError.unreadableVersion }
        return (record, item)
    }

    fileprivate mutating func restore(_ id: String, at now: UInt64) throws -> (SyncID, [ItemChange]) {
        var found = try version(id)
        defer { found.item.value?.wipe() }
        let record = found.record
        let content = SharedItem.encode(found.item)
        defer { content.wipeWithCopies() }
        let before = replica.items[record.header.item].shown
        let write = LocalWrite(
            item: record.header.item, .value(content, accessibility: record.header.accessibility))
        let changes = try replica.commit([write], at: now, mayBeRemoved: true)
        // The former value can be restored in turn.
        kept.keep(before.map { [$0] } ?? [], at: now, since: lastExchange)
        return (record.header.item, changes)
    }
}

extension Dot {
    /// Enough to tell the values of a ring apart.
    fileprivate var shortID: String {
        var writer = ByteWriter(capacity: 16)
        writer.append(bigEndian: self.writer.number)
        writer.append(bigEndian: counter)
        return [UInt8](Checksum.sha256(writer.data).prefix(4)).hex
    }
}

extension KeychainError {
    fileprivate static func noVersion(_ id: String) -> KeychainError {
        KeychainError(
            .itemNotFound, "No single value has the ID '\(id)'. To list them, run: keychainctl sync history")
    }

    fileprivate static let placeIsTaken = KeychainError(
        .duplicateItem,
        "An item of this machine that is not shared has the name of this one. Nothing was restored. Delete or rename that item, and "
            + "try again.")

    fileprivate static let unreadableVersion = KeychainError(
        .newerFormat, "A newer version of swift-keychain has written this value. Update this machine, and try again.")
}
