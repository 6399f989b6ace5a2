// SPDX-License-Identifier: Apache-2.0
// What an import will do with each item of a file, and doing exactly that.

import Foundation
import KeychainAuthenticators
import KeychainEngine
import KeychainKit
import KeychainVault

/// The state of one item of the file, compared with the vault.
enum ImportState: Equatable {
    case missing
    case equal
    /// The item of the same name that is in the vault, and its version.
    case different(UUID, UInt64)
}

struct ImportPlan {
    /// An item that is not equal, for the user.
    struct Entry {
        let item: ListedItem
        let state: ImportState
    }

    /// In the order of the file.
    private(set) var states: [ImportState] = []
    private(set) var entries: [Entry] = []

    var missing: Int { states.count { $0 == .missing } }
    var equal: Int { states.count { $0 == .equal } }
    var different: Int { states.count - missing - equal }

    /// Reads the whole file and compares it with the vault. Changes nothing.
    ///
    /// - Throws: What is wrong with the file; `corrupt` if it has two items of one name; `locked`.
    init(_ file: ArchiveFile, _ vault: Vault, _ authorization: Authorization) throws(KeychainError) {
        var reading = try file.reading()
        var names: Set<PrimaryKey> = []
        while var item = try reading.next() {
            defer { item.value?.wipe() }
            let ready = try item.readyToStore(line: states.count + 2)
            guard names.insert(PrimaryKey(ready)).inserted else {
                throw .damagedArchive("it has two items of one name (line \(states.count + 2))")
            }
            let state = try ImportState(ready, in: vault, authorization)
            states.append(state)
            guard state != .equal else { continue }
            let shown = Item(
                itemClass: ready.itemClass, attributes: ready.attributes, accessControl: ready.accessControl, value: nil
            )
            let listed = ListedItem(item: KeychainItem(StoredItem(id: UUID(), version: 0, item: shown)))
            entries.append(Entry(item: listed, state: state))
        }
    }
}

extension ImportState {
    /// - Throws: `locked`; the errors of asking the user, for an item that requires that to be read.
    init(_ item: Item, in items: any ItemOperations, _ authorization: Authorization) throws(KeychainError) {
        let found = try items.select(item.sameName, limit: nil, includingValues: true, authorization)
        guard let stored = found.items.first else {
            // A damaged item makes room for the new one, and moves to the quarantine.
            self = .missing
            return
        }
        self = stored.item.isSame(as: item) ? .equal : .different(stored.id, stored.version)
    }
}

extension Item {
    /// - Parameter line: Its line in the file, for messages.
    fileprivate func readyToStore(line: Int) throws(KeychainError) -> Item {
        do throws(KeychainError) {
            return try readyToStore()
        } catch {
            throw KeychainError(
                error.reason, "The item on line \(line) of the export cannot be imported: \(error.message)")
        }
    }
}

// MARK: - Doing it

/// Carries out a plan, several items in one transaction. An import that was interrupted is continued by another one:
/// what was written is then equal.
struct Importer {
    private static let mostItems = 256
    private static let mostBytes = 16 << 20

    /// Keeps the items that are replaced.
    let store: KeepingStore
    let plan: ImportPlan
    let isReplacing: Bool
    let authorization: Authorization

    struct Report {
        var added = 0
        var replaced = 0
        var failed: [UnreadableItem] = []
    }

    private struct Change {
        var item: Item
        let state: ImportState
    }

    /// - Parameter progress: Called with the number of items so far.
    func run(_ file: ArchiveFile, progress: (Int) -> Void) throws(KeychainError) -> Report {
        var report = Report()
        do throws(KeychainError) {
            try run(file, &report, progress)
            return report
        } catch {
            let done = report.added + report.replaced
            guard done > 0 else { throw error }
            throw KeychainError(
                error.reason,
                "The import ended after \(done) item(s), which are stored. Run it again to import the others. "
                    + error.message)
        }
    }

    private func run(
        _ file: ArchiveFile, _ report: inout Report, _ progress: (Int) -> Void
    ) throws(KeychainError) {
        var (reading, index, size): (ArchiveReading, Int, Int) = (try file.reading(), 0, 0)
        var batch: [Change] = []
        while let item = try reading.next() {
            guard index < plan.states.count else { throw .damagedArchive("it was changed during the import") }
            let state = plan.states[index]
            index += 1
            guard state == .missing || isReplacing && state != .equal else { continue }
            size += item.value?.count ?? 0
            batch.append(Change(item: try item.readyToStore(), state: state))
            guard batch.count >= Self.mostItems || size >= Self.mostBytes else { continue }
            try store(&batch, &report)
            size = 0
            progress(index)
        }
        guard index == plan.states.count else { throw .damagedArchive("it was changed during the import") }
        try store(&batch, &report)
    }

    private func store(_ batch: inout [Change], _ report: inout Report) throws(KeychainError) {
        guard !batch.isEmpty else { return }
        let changes = batch
        let done = try store.transaction(authorization) { (items) throws(KeychainError) in
            // It may run again after the user was asked.
            var done = Report()
            for change in changes { try store(change, in: items, &done) }
            return done
        }
        report.added += done.added
        report.replaced += done.replaced
        report.failed += done.failed
        batch = []
    }

    private func store(
        _ change: Change, in items: any ItemOperations, _ done: inout Report
    ) throws(KeychainError) {
        do throws(KeychainError) {
            let now = try ImportState(change.item, in: items, authorization)
            // Another run of the same import, or this one before it was killed.
            if now == .equal { return }
            guard now == change.state else { throw Self.changed }
            if case .different(let id, _) = now {
                let reference = PersistentReference(itemClass: change.item.itemClass, id: id)
                let selection = Selection(itemClass: nil, id: reference, groups: [change.item.accessGroup])
                _ = try items.update(selection, authorization) { (_) throws(KeychainError) in change.item }
                done.replaced += 1
            } else {
                _ = try items.insert(change.item, authorization)
                done.added += 1
            }
        } catch {
            // Failures of one item, after which the transaction goes on. All others end it.
            guard [.unavailable, .tooLarge, .ofAnotherDevice, .duplicateItem].contains(error.reason) else {
                throw error
            }
            done.failed.append(UnreadableItem(name: change.item.displayName, failure: error))
        }
    }

    private static let changed = KeychainError(
        .busy,
        "An item of the vault was changed since it was shown, and was left as it is. Run the command again to see how.")
}
