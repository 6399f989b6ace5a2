// SPDX-License-Identifier: Apache-2.0
// Opens every row of a vault for which a key is open, and counts the results.

import KeychainEngine

/// Counts of a vault's items. Items that are locked or of another device are distinguished from damaged ones.
struct ItemExamination {
    /// How much of each row is opened.
    enum Depth {
        case metadata
        /// Values too; those of constrained items as far as possible without a prompt.
        case values
    }

    /// Items that open and are indexed under their own key, without those of the keychain itself.
    private(set) var byClass: [ItemClass: Int] = [:]
    /// Items of the keychain itself, which no list shows.
    private(set) var ofTheKeychain = 0
    /// Items that do not open under their own key.
    private(set) var damaged = 0
    /// Of those, the ones whose metadata opens.
    private(set) var damagedValues = 0
    /// Items whose values were opened only as far as possible without a prompt.
    private(set) var partlyChecked = 0
    private(set) var locked = 0
    private(set) var ofAnotherDevice = 0
    /// `nil` if no item could be opened for the comparison.
    private(set) var index: IndexExamination?

    /// - Parameter progress: Called with the number of rows so far.
    init(
        _ keyState: KeyState, _ table: ItemTable, _ depth: Depth, progress: (Int) -> Void = { _ in }
    ) throws {
        guard try keyState.hasIndex else {
            locked = try table.count()
            return
        }
        let sealer = try keyState.sealer(.looking)
        var index = IndexExamination(sealer, table)
        var count = 0
        try table.forEach(.all, depth == .values ? .all : .metadataAndKey) { row in
            try add(row, sealer, depth, &index)
            count += 1
            progress(count)
            return true
        }
        try index.finish()
        self.index = index
    }

    private mutating func add(
        _ row: SealedRow, _ sealer: RowSealer, _ depth: Depth, _ index: inout IndexExamination
    ) throws {
        guard let item = open(row, sealer) else { return index.addClosed(row.rowID) }
        let isIndexedCorrectly = try index.add(item, row)
        guard depth == .metadata || valueOpens(row, item, sealer) else { return }
        guard isIndexedCorrectly else { return }
        if depth == .values, !item.accessControl.needs.isEmpty { partlyChecked += 1 }
        guard item.accessGroup != AccessGroups.internalGroup else { return ofTheKeychain += 1 }
        byClass[item.itemClass, default: 0] += 1
    }

    private mutating func open(_ row: SealedRow, _ sealer: RowSealer) -> Item? {
        do throws(UnreadableRow) {
            return try sealer.open(row).item
        } catch {
            switch error {
            case .locked: locked += 1
            case .ofAnotherDevice: ofAnotherDevice += 1
            case .damaged, .unknownKey, .refused: damaged += 1
            }
            return nil
        }
    }

    private mutating func valueOpens(_ row: SealedRow, _ item: Item, _ sealer: RowSealer) -> Bool {
        do throws(UnreadableRow) {
            try sealer.checkValue(row, item.accessControl.needs)
            return true
        } catch {
            damaged += 1
            damagedValues += 1
            return false
        }
    }
}

extension ItemExamination {
    /// How to check what was not checked; empty if everything was.
    var uncheckedAdvice: String {
        let unlocking = " To check what is locked, unlock the vault and run keychainctl doctor again."
        let one = " 1 value requires authentication and was checked only in part. keychainctl get checks it."
        let several =
            " \(partlyChecked) values require authentication and were checked only in part. keychainctl get checks them."
        return (partlyChecked == 0 ? "" : partlyChecked == 1 ? one : several) + (locked > 0 ? unlocking : "")
    }
}
