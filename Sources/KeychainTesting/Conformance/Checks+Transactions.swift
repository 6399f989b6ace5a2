// SPDX-License-Identifier: Apache-2.0
// Checks: several calls as one transaction, and notifications of changes.

import Dispatch
import Foundation
import KeychainEngine
import Synchronization

extension StoreConformance {
    static let transactions: [Check] = [
        Check("transaction_whereThereAreNone_isUnsupportedAndRunsNothing") { trial in
            // The type may support transactions while the store under it does not.
            guard trial.store.transactional == nil, let store = trial.store as? any TransactionalStore else { return }
            try trial.expect(.unsupported, of: "a transaction") { () throws(KeychainError) in
                try store.transaction(.none) { (items) throws(KeychainError) in
                    _ = try items.insert(trial.item(), .none)
                }
            }
            try trial.expectEqual(try trial.select().count, 0, "items")
        },
        Check("transaction_done_hasDoneAllAndReturnsItsResult", needs: .transactions) { trial in
            try trial.insert(trial.item("old"))
            let count = try trial.transaction { (items) throws(KeychainError) in
                _ = try items.insert(trial.item("new"), .none)
                _ = try items.update(.account("new"), .none) { stored in stored.item.changed { $0.value = .other } }
                return try items.delete(.account("old"))
            }
            try trial.expectEqual(count, 1, "result")
            let found = try trial.only().item
            try trial.expect(found.account == "new" && found.value == .other, "all three changes")
        },
        Check("transaction_thatThrows_hasDoneNothing", needs: .transactions) { trial in
            let before = try trial.insert(trial.item("alice"))
            let refusal = KeychainError(.typeMismatch, "Thrown by the check.")
            try trial.expect(thrown: refusal) { () throws(KeychainError) in
                try trial.transaction { (items) throws(KeychainError) in
                    _ = try items.insert(trial.item("bob"), .none)
                    _ = try items.update(.account("alice"), .none) { $0.item.changed { $0.value = .other } }
                    _ = try items.delete(.account("bob"))
                    _ = try items.insert(trial.item("carol"), .none)
                    throw refusal
                }
            }
            let found = try trial.only()
            try trial.expect(found.item.value == .sample && found.version == before.version, "the item as it was")
        },
        Check("transaction_reading_seesItsOwnWrites", needs: .transactions) { trial in
            try trial.insert(trial.item("old"))
            let accounts = try trial.transaction { (items) throws(KeychainError) in
                _ = try items.delete(.account("old"))
                _ = try items.insert(trial.item("new"), .none)
                _ = try items.update(.account("new"), .none) { stored in
                    stored.item.changed { $0.attributes[.account] = .string("renamed") }
                }
                return try items.select(.all, limit: nil, includingValues: false, .none).items.map(\.item.account)
            }
            try trial.expectEqual(accounts, ["renamed"], "accounts seen inside")
        },
        Check("failure_caughtInATransaction_leavesTheRest", needs: .transactions) { trial in
            try trial.insert(trial.item("alice"))
            try trial.transaction { (items) throws(KeychainError) in
                _ = try items.insert(trial.item("bob"), .none)
                do throws(KeychainError) {
                    _ = try items.insert(trial.item("alice", value: .other), .none)
                } catch {
                    guard trial.isReason(.duplicateItem, error) else { throw error }
                }
                _ = try items.insert(trial.item("carol"), .none)
            }
            try trial.expectEqual(try trial.accounts(), ["alice", "bob", "carol"], "accounts")
            try trial.expect(try trial.only(.account("alice")).item.value == .sample, "the value before")
        },
        Check("transaction_seenFromOutside_isWholeOrNotThere", needs: .transactions) { trial in
            try trial.onThreads(3) { number in
                for _ in 0..<20 {
                    if number == 0 { try trial.insertAndRemovePair() } else { try trial.checkPair() }
                }
            }
        },
        Check("transactions_thatReadAndWrite_loseNothing", needs: .transactions) { trial in
            try trial.insert(trial.item(value: Data([0])))
            try trial.onThreads(4) { _ in
                for _ in 0..<5 { try trial.incrementInATransaction() }
            }
            try trial.expect(try trial.only().item.value == Data([20]), "20 increments")
        },
    ]

    static let observing: [Check] = [
        Check("observer_registered_isCalledAfterEachKindOfChange", needs: .observing) { trial in
            let calls = Calls()
            let observation = try trial.store.observe { calls.note() }
            let changes: [(String, @Sendable () throws -> Void)] = [
                ("insertion", { try trial.insert(trial.item()) }), ("update", { try trial.setValue(.other) }),
                ("deletion", { _ = try trial.store.delete(.all) }),
            ]
            for (name, change) in changes {
                let before = calls.count
                try change()
                try trial.expect(calls.wait(above: before, trial.subject.patience), "a call after the \(name)")
            }
            withExtendedLifetime(observation) {}
        },
        Check("differences_fromAnEarlierLook_areWhatHasChanged") { trial in
            for name in ["changed", "gone", "renamed", "same"] { try trial.insert(trial.item(name)) }
            let before = try trial.select(includingValues: false)
            try trial.setValue(.other, .account("changed"))
            try trial.change(.account("renamed")) { $0.attributes[.account] = .string("new name") }
            _ = try trial.store.delete(.account("gone"))
            try trial.insert(trial.item("new"))
            try trial.insert(trial.item("other", .internetPassword))
            try trial.checkDifferences([.all], since: before, changed: ["changed", "new", "new name"], gone: ["gone"])
            try trial.checkDifferences(
                [.account("renamed"), .account("same")], since: before.filter { $0.item.account != "gone" },
                changed: [], gone: ["changed", "renamed"])
        },
        Check("observer_called_mayUseTheStore", needs: .observing) { trial in
            let calls = Calls()
            let failure = Mutex<(any Error)?>(nil)
            let observation = try trial.store.observe {
                do {
                    if try !trial.select().isEmpty { calls.note() }
                } catch {
                    failure.withLock { $0 = error }
                    calls.note()
                }
            }
            try trial.insert(trial.item())
            try trial.expect(calls.wait(above: 0, trial.subject.patience), "a call that finds the new item")
            if let failure = failure.withLock({ $0 }) { throw failure }
            withExtendedLifetime(observation) {}
        },
        Check("observer_whoseObservationIsGone_isNotCalled", needs: .observing) { trial in
            let (gone, staying) = (Calls(), Calls())
            var ending: StoreObservation? = try trial.store.observe { gone.note() }
            let observation = try trial.store.observe { staying.note() }
            withExtendedLifetime(ending) {}
            ending = nil
            // A notification that was in progress has ended once the other observer has been called again.
            try trial.changeAndWait(staying)
            let before = gone.count
            for _ in 0..<2 { try trial.changeAndWait(staying) }
            try trial.expectEqual(gone.count, before, "calls of the observer that is gone")
            withExtendedLifetime(observation) {}
        },
    ]
}

/// Counts calls, for threads that wait for them.
private final class Calls: Sendable {
    private let number = Mutex(0)
    private let semaphore = DispatchSemaphore(value: 0)

    var count: Int { number.withLock { $0 } }

    func note() {
        number.withLock { $0 += 1 }
        semaphore.signal()
    }

    func wait(above count: Int, _ patience: Duration) -> Bool {
        let deadline = DispatchTime.now() + patience.seconds
        while self.count <= count {
            guard semaphore.wait(timeout: deadline) == .success else { return self.count > count }
        }
        return true
    }
}

extension Trial {
    fileprivate func checkDifferences(
        _ selections: [Selection], since before: [StoredItem], changed: [String], gone: Set<String>
    ) throws {
        let known = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0.version) })
        let differences = try store.differences(selections, from: known)
        try expectEqual(differences.changed.map(\.item.account).sorted(), changed, "items new or changed")
        let names = Set(before.filter { differences.gone.contains($0.id) }.map(\.item.account))
        try expectEqual(names, gone, "items gone")
        try expect(differences.changed.allSatisfy { $0.item.value == nil }, "no values")
        try expect(differences.closed.isEmpty, "no closed items while unlocked")
    }

    fileprivate func changeAndWait(_ calls: Calls) throws {
        let before = calls.count
        try insert(item(UUID().uuidString))
        try expect(calls.wait(above: before, subject.patience), "a call after a change")
    }

    fileprivate func insertAndRemovePair() throws {
        try transaction { (items) throws(KeychainError) in
            for name in ["a", "b"] { _ = try items.insert(item(name), .none) }
        }
        try transaction { (items) throws(KeychainError) in
            for name in ["a", "b"] { _ = try items.delete(.account(name)) }
        }
    }

    fileprivate func checkPair() throws {
        let count = try select(includingValues: false).count
        try expect(count == 0 || count == 2, "both items of the transaction or none", came: "\(count)")
    }

    fileprivate func incrementInATransaction() throws(KeychainError) {
        try transaction { (items) throws(KeychainError) in
            let found = try items.select(.all, limit: 1, includingValues: true, .none).items
            let next = (found.first?.item.value?.first ?? 0) + 1
            _ = try items.update(.all, .none) { $0.item.changed { $0.value = Data([next]) } }
        }
    }
}
