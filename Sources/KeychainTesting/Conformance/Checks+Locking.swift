// SPDX-License-Identifier: Apache-2.0
// Checks: a locked store, items that ask for a password, and several threads.

import Foundation
import KeychainEngine
import SecretMemory
import Synchronization

extension StoreConformance {
    /// The classes that need no passcode.
    private static let classes = Accessibility.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }

    static let locking: [Check] =
        LockState.allCases.map { state in
            Check("items_inState-\(state.rawValue)_areOpenByTheirClass", needs: .lock) { trial in
                for kind in classes { try trial.insert(trial.item(kind.rawValue, value: .sample, kind)) }
                try trial.setLockState(state)
                for kind in classes { try trial.checkOpen(kind, in: state) }
            }
        } + [
            Check("lockState_set_isTold", needs: .lock, .toldLockState) { trial in
                try trial.insert(trial.item())
                for state in LockState.allCases {
                    try trial.setLockState(state)
                    try trial.expectEqual(try trial.store.lockState.rawValue, state.rawValue, "lock state")
                }
            },
            Check("item_unlockedAgain_isReadAsBefore", needs: .lock) { trial in
                try trial.insert(trial.item())
                try trial.setLockState(.locked)
                try trial.setLockState(.unlocked)
                try trial.expect(try trial.only().item.value == .sample, "the value")
            },
            Check("lockedItem_searchedForWithoutItsValue_isLockedAndNotAbsent", needs: .lock) { trial in
                let item = trial.item()
                try trial.insert(item)
                try trial.setLockState(.locked)
                try trial.expect(.locked, of: "a search without values") { () throws(KeychainError) in
                    try trial.select(.exactly(item), includingValues: false)
                }
            },
            Check("searchForAll_overOpenAndLockedItems_isLocked", needs: .lock) { trial in
                try trial.insert(trial.item("open", value: .sample, .always))
                try trial.insert(trial.item("closed", value: .sample, .whenUnlocked))
                try trial.setLockState(.locked)
                try trial.expect(.locked, of: "a search for all") { () throws(KeychainError) in try trial.select() }
            },
            Check("insertion_intoALockedClass_isLockedAndStoresNothing", needs: .lock) { trial in
                try trial.insert(trial.item("other"))
                try trial.setLockState(.locked)
                try trial.expect(.locked, of: "an insertion") { () throws(KeychainError) in
                    try trial.insert(trial.item("alice"))
                }
                try trial.setLockState(.unlocked)
                try trial.expectEqual(try trial.accounts(), ["other"], "accounts")
            },
            Check("keyOfALockedItem_insertedInAnOpenClass_isADuplicate", needs: .lock) { trial in
                try trial.insert(trial.item())
                try trial.setLockState(.locked)
                try trial.expect(.duplicateItem, of: "an insertion with a taken key") { () throws(KeychainError) in
                    try trial.insert(trial.item("alice", value: .other, .always))
                }
                try trial.setLockState(.unlocked)
                try trial.expect(try trial.only().item.value == .sample, "the value before")
            },
            Check("update_overOpenAndLockedItems_isLockedAndChangesNone", needs: .lock) { trial in
                try trial.insert(trial.item("open", value: .sample, .always))
                try trial.insert(trial.item("closed", value: .sample, .whenUnlocked))
                try trial.setLockState(.locked)
                try trial.expect(.locked, of: "an update") { () throws(KeychainError) in try trial.setValue(.other) }
                try trial.setLockState(.unlocked)
                try trial.expect(try trial.select().allSatisfy { $0.item.value == .sample }, "the values before")
            },
            Check("delete_ofALockedItem_removesIt", needs: .lock) { trial in
                let item = trial.item()
                try trial.insert(item)
                try trial.setLockState(.locked)
                try trial.expectEqual(try trial.store.delete(.exactly(item)), 1, "count")
                try trial.setLockState(.unlocked)
                try trial.expectEqual(try trial.select().count, 0, "items left")
            },
        ]

    static let asking: [Check] = [
        Check("protectedItem_whenNobodyMayBeAsked_isNotShown", needs: .applicationPasswords) { trial in
            try trial.insertProtected("alice")
            for includingValues in [true, false] {
                try trial.expect(.interactionNotAllowed, of: "a search") { () throws(KeychainError) in
                    try trial.select(includingValues: includingValues)
                }
            }
            try trial.expect(.interactionNotAllowed, of: "an update") { () throws(KeychainError) in
                try trial.setValue(.other)
            }
        },
        Check("protectedItem_withItsPassword_isShownAndChanged", needs: .applicationPasswords) { trial in
            let authorization = try trial.insertProtected("alice")
            _ = try trial.store.update(.all, authorization) { $0.item.changed { $0.value = .other } }
            let found = try trial.store.select(.all, limit: nil, includingValues: true, authorization).items
            try trial.expect(found.count == 1 && found[0].item.value == .other, "the new value")
            try trial.expect(found[0].item.accessControl.needs == .applicationPassword, "an item that stays protected")
        },
        Check("protectedItems_skipped_areLeftOut", needs: .applicationPasswords) { trial in
            try trial.insertProtected("alice")
            try trial.insert(trial.item("bob"))
            var selection = Selection.all
            selection.skipsConstrained = true
            try trial.expectEqual(try trial.accounts(selection), ["bob"], "accounts found")
        },
        Check("error_thrownAfterACaughtRefusal_isThrown", needs: .transactions, .applicationPasswords) { trial in
            try trial.insertProtected("alice")
            let error = KeychainError(.typeMismatch, "Thrown by the check.")
            try trial.expect(thrown: error) { () throws(KeychainError) in
                try trial.transaction { (items) throws(KeychainError) in
                    do throws(KeychainError) {
                        _ = try items.select(.all, limit: nil, includingValues: true, .none)
                    } catch {
                        guard trial.isReason(.interactionNotAllowed, error) else { throw error }
                    }
                    throw error
                }
            }
        },
        Check("protectedItem_deleted_asksNobody", needs: .applicationPasswords) { trial in
            try trial.insertProtected("alice")
            try trial.expectEqual(try trial.store.delete(.account("alice")), 1, "count")
            try trial.expectEqual(try trial.select().count, 0, "items left")
        },
    ]

    static let concurrency: [Check] = [
        Check("sameItem_insertedFromSeveralThreads_isStoredOnce") { trial in
            let stored = Mutex(0)
            let refused = Mutex(0)
            try trial.onThreads(8) { _ in
                do throws(KeychainError) {
                    try trial.insert(trial.item())
                    stored.withLock { $0 += 1 }
                } catch {
                    guard trial.isReason(.duplicateItem, error) else { throw error }
                    refused.withLock { $0 += 1 }
                }
            }
            try trial.expectEqual(stored.withLock { $0 }, 1, "insertions that worked")
            try trial.expectEqual(refused.withLock { $0 }, 7, "insertions refused as duplicates")
            try trial.expectEqual(try trial.select().count, 1, "items")
        },
        Check("otherItems_insertedFromSeveralThreads_areAllStored") { trial in
            try trial.onThreads(4) { number in
                for index in 0..<5 { try trial.insert(trial.item("\(number)-\(index)")) }
            }
            try trial.expectEqual(try trial.select(includingValues: false).count, 20, "items")
        },
        Check("increments_fromSeveralThreads_loseNothing") { trial in
            try trial.insert(trial.item(value: Data([0])))
            try trial.onThreads(4) { _ in
                for _ in 0..<10 { try trial.increment() }
            }
            let value = try trial.only().item.value?.first ?? 0
            try trial.expectEqual(Int(value), 40, "increments")
        },
        Check("sameItem_deletedFromSeveralThreads_isGoneOnce") { trial in
            try trial.insert(trial.item())
            let removed = Mutex(0)
            try trial.onThreads(4) { _ in
                let count = try trial.store.delete(.all)
                removed.withLock { $0 += count }
            }
            try trial.expectEqual(removed.withLock { $0 }, 1, "items removed by all threads together")
        },
    ]
}

extension Trial {
    fileprivate func checkOpen(_ accessibility: Accessibility, in state: LockState) throws {
        let selection = Selection.exactly(item(accessibility.rawValue))
        guard !accessibility.isOpen(in: state) else {
            return try expect(
                try only(selection).item.value == .sample, "the value of class '\(accessibility.rawValue)'")
        }
        try expect(.locked, of: "reading an item of class '\(accessibility.rawValue)'") { () throws(KeychainError) in
            try select(selection)
        }
    }

    /// - Returns: An authorization that unlocks the item without asking.
    @discardableResult
    fileprivate func insertProtected(_ account: String) throws(KeychainError) -> Authorization {
        let context = AuthenticationContext { nil }
        let bytes = Array("open sesame".utf8)
        context.setApplicationPassword(bytes.withUnsafeBytes { SecretBytes(copying: $0) })
        let authorization = Authorization(context, allowsInteraction: false)
        var item = item(account)
        item.accessControl = try AccessControl(.whenUnlocked, flags: .applicationPassword)
        _ = try store.insert(item, authorization)
        return authorization
    }

    /// Adds one to the value of the only item. If the store is busy, it has changed nothing and the call is repeated.
    fileprivate func increment() throws(KeychainError) {
        for _ in 1..<100 {
            do throws(KeychainError) {
                try change { $0.value = Data([($0.value?.first ?? 0) + 1]) }
                return
            } catch {
                guard isReason(.busy, error) else { throw error }
            }
        }
        try change { $0.value = Data([($0.value?.first ?? 0) + 1]) }
    }
}
