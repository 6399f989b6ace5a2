// SPDX-License-Identifier: Apache-2.0
// One run of a check: short calls on the store, and expectations.

import Dispatch
import Foundation
import KeychainEngine
import Synchronization

/// The store of one check, with calls and expectations.
struct Trial: Sendable {
    let check: String
    let subject: StoreUnderTest

    var store: any ItemStore { subject.store }

    // MARK: - Expecting

    func expect(_ holds: Bool, _ expected: String, came: @autoclosure () -> String = "something else") throws {
        if !holds { throw ConformanceFailure(check: check, expected: expected, came: came()) }
    }

    func expectEqual<Value: Equatable & CustomStringConvertible>(
        _ came: Value, _ expected: Value, _ what: String
    ) throws {
        try expect(came == expected, "\(what): \(expected)", came: "\(came)")
    }

    /// The call must fail with that reason. If the store keeps no reasons, it must fail with the status of the reason.
    func expect<Result>(
        _ reason: KeychainError.Reason, of what: String, _ call: () throws(KeychainError) -> Result
    ) throws {
        let expected = "'\(reason.rawValue)' from \(what)"
        do throws(KeychainError) {
            _ = try call()
        } catch {
            return try expect(isReason(reason, error), expected, came: error.word)
        }
        try expect(false, expected, came: "success")
    }

    /// The call must fail with exactly this error, which the caller's own code threw.
    func expect<Result>(thrown error: KeychainError, _ call: () throws(KeychainError) -> Result) throws {
        var came: KeychainError?
        do throws(KeychainError) { _ = try call() } catch { came = error }
        try expect(came == error, "the error that the caller's code threw", came: came?.word ?? "success")
    }

    func isReason(_ reason: KeychainError.Reason, _ error: KeychainError) -> Bool {
        subject.keepsReasons ? error.reason == reason : error.status == reason.status
    }

    // MARK: - Calls that do not ask the user

    @discardableResult
    func insert(_ item: Item) throws(KeychainError) -> StoredItem { try store.insert(item, .none) }

    func select(
        _ selection: Selection = .all, limit: Int? = nil, includingValues: Bool = true
    ) throws(KeychainError) -> [StoredItem] {
        try store.select(selection, limit: limit, includingValues: includingValues, .none).items
    }

    /// The only item that is selected.
    func only(_ selection: Selection = .all) throws -> StoredItem {
        let found = try select(selection)
        try expectEqual(found.count, 1, "number of items found")
        return found[0]
    }

    /// Sets a value on all selected items, with new dates and digest, as the engine does for a change.
    @discardableResult
    func setValue(_ value: Data?, _ selection: Selection = .all) throws(KeychainError) -> SelectedItems {
        try store.update(selection, .none) { stored in stored.item.changed { $0.value = value } }
    }

    /// For checks that need transactions.
    func transaction<Result>(
        _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        guard let store = store.transactional else { throw .withoutTransactions }
        return try store.transaction(.none, body)
    }

    @discardableResult
    func change(
        _ selection: Selection = .all, _ body: (inout Item) -> Void
    ) throws(KeychainError) -> SelectedItems {
        try store.update(selection, .none) { stored in stored.item.changed(body) }
    }

    /// The accounts of the items found, in order.
    func accounts(_ selection: Selection = .all) throws(KeychainError) -> [String] {
        try select(selection, includingValues: false).map(\.item.account).sorted()
    }

    func setLockState(_ state: LockState) throws { try subject.setLockState?(state) }

    func noticesChanges() throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            _ = try store.observe {}
            return true
        } catch {
            guard isReason(.unsupported, error) else { throw error }
            return false
        }
    }

    // MARK: - Threads

    /// Runs `body` once on each of several threads at the same time, and throws an error of one of them.
    func onThreads(_ count: Int, _ body: @escaping @Sendable (_ number: Int) throws -> Void) throws {
        let group = DispatchGroup()
        let failure = Mutex<(any Error)?>(nil)
        for number in 0..<count {
            group.enter()
            let thread = Thread {
                do { try body(number) } catch { failure.withLock { $0 = error } }
                group.leave()
            }
            thread.start()
        }
        try expect(
            group.wait(timeout: .now() + subject.patience.seconds) == .success,
            "an answer within \(subject.patience)", came: "none")
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
