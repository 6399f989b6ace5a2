// SPDX-License-Identifier: Apache-2.0
// A store whose calls fail when a test says so.

import Dispatch
public import Foundation
public import KeychainEngine
import Synchronization

/// An ``ItemStore`` over another one, with faults that a test scripts, and a log of the calls.
///
/// ```swift
/// let store = ScriptedStore()
/// store.fail(.locked, on: [.select], account: "alice")  // the next search for alice
/// store.fail(.busy, .nth(3), on: [.update])  // the third update from now
/// store.fail(.slow(.milliseconds(20)), .every)  // every call, transactions included
/// ```
///
/// If several faults apply to a call, it gets the one that was scripted first. Faults also apply within transactions,
/// where each call of the body counts like any other call.
public final class ScriptedStore: TransactionalStore {
    private struct State {
        var rules: [Rule] = []
        var calls: [Call] = []
        var blocked: [Blocked] = []
        var waiting: [(count: Int, semaphore: DispatchSemaphore)] = []

        /// - Returns: The fault that the call gets.
        mutating func note(_ call: Call) -> Fault? {
            var call = call
            for index in rules.indices where rules[index].isMet(by: call) && call.fault == nil {
                call.fault = rules[index].fault
            }
            calls.append(call)
            return call.fault
        }

        /// - Returns: The waiters for this number of blocked calls.
        mutating func add(_ call: Blocked) -> [DispatchSemaphore] {
            blocked.append(call)
            let count = blocked.count
            defer { waiting.removeAll { $0.count <= count } }
            return waiting.filter { $0.count <= count }.map(\.semaphore)
        }
    }

    private let base: any ItemStore
    private let state = Mutex(State())

    /// - Parameter base: The store that handles all calls without a fault.
    public init(over base: any ItemStore = MemoryStore()) { self.base = base }

    // MARK: - The script

    /// Scripts a fault for calls.
    ///
    /// - Parameters:
    ///   - occurrence: Which of these calls, counted from now.
    ///   - kinds: The kinds of calls; by default all, including transactions as a whole.
    ///   - service: Only calls that name this service or server. Transactions and persistent references name none.
    ///   - account: Only calls that name this account, under the same condition.
    public func fail(
        _ fault: Fault, _ occurrence: Occurrence = .next, on kinds: Set<CallKind> = Set(CallKind.allCases),
        service: String? = nil, account: String? = nil
    ) {
        let rule = Rule(fault: fault, occurrence: occurrence, kinds: kinds, service: service, account: account)
        state.withLock { $0.rules.append(rule) }
    }

    /// Continues the calls that are blocked now, by ``Fault/neverAnswers`` or ``Fault/slow(_:)``, as if there were no
    /// fault.
    public func release() { end(.released) }

    /// Removes the whole script, empties the log, and makes the calls that are blocked now fail as `timedOut`.
    public func reset() {
        state.withLock { state in
            state.rules = []
            state.calls = []
        }
        end(.reset)
    }

    /// The calls made so far, in the order in which they began.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// How many calls are blocked now.
    public var blockedCallCount: Int { state.withLock { $0.blocked.count } }

    /// Blocks the calling thread until that many calls are blocked at the same time.
    ///
    /// - Returns: `false` if it took longer than `patience`.
    public func waitUntilBlocked(_ count: Int = 1, patience: Duration = .seconds(60)) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let isThere = state.withLock { state in
            guard state.blocked.count < count else { return true }
            state.waiting.append((count, semaphore))
            return false
        }
        return isThere || semaphore.wait(timeout: .now() + patience.seconds) == .success
    }

    // MARK: - The store

    /// `nil` if the store underneath has no transactions.
    public var transactional: (any TransactionalStore)? { base.transactional == nil ? nil : self }

    public func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try meet(begin(Call(.transaction, isInTransaction: false)))
        guard let base = base.transactional else { throw .withoutTransactions }
        return try base.transaction(authorization) { (items) throws(KeychainError) in
            try body(ScriptedOperations(store: self, base: items, isInTransaction: true))
        }
    }

    public func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        try operations.select(selection, limit: limit, includingValues: includingValues, authorization)
    }

    public func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try operations.insert(item, authorization)
    }

    public func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try operations.update(selection, authorization, change)
    }

    public func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try operations.delete(selection, authorization)
    }

    public var lockState: LockState { get throws(KeychainError) { try base.lockState } }

    /// Observations get no faults and are not in the log.
    public func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        try base.observe(body)
    }

    public func differences(
        _ selections: [Selection], from known: [UUID: UInt64]
    ) throws(KeychainError) -> ItemDifferences {
        try base.differences(selections, from: known)
    }

    public var userVerifier: (any UserVerifier)? { base.userVerifier }

    private var operations: ScriptedOperations {
        ScriptedOperations(store: self, base: base, isInTransaction: false)
    }

    // MARK: - Meeting faults

    /// Logs the call and returns its fault. If the fault blocks, the call counts as blocked from now on, so that a
    /// later `release()` or `reset()` finds it.
    fileprivate func begin(_ call: Call) -> Meeting {
        let (meeting, ready) = state.withLock { state in
            let fault = state.note(call)
            guard let fault, fault.blocks else { return (Meeting(fault: fault), [DispatchSemaphore]()) }
            let blocked = Blocked()
            return (Meeting(fault: fault, blocked: blocked), state.add(blocked))
        }
        for semaphore in ready { semaphore.signal() }
        return meeting
    }

    /// Waits or throws, as the fault says.
    fileprivate func meet(_ meeting: Meeting) throws(KeychainError) {
        if let error = meeting.fault?.error { throw error }
        guard let blocked = meeting.blocked else { return }
        let ending = blocked.wait(atMost: meeting.fault?.duration)
        state.withLock { $0.blocked.removeAll { $0 === blocked } }
        if ending == .reset {
            throw KeychainError(.timedOut, "The test took back the script that this call was waiting for.")
        }
    }

    private func end(_ ending: Blocked.Ending) {
        let blocked = state.withLock { state in
            defer { state.blocked = [] }
            return state.blocked
        }
        for call in blocked { call.end(ending) }
    }
}

/// The fault of a call.
private struct Meeting {
    let fault: ScriptedStore.Fault?
    /// Set if the fault makes the call wait.
    var blocked: Blocked?
}

/// A call that blocks its thread.
private final class Blocked: Sendable {
    enum Ending: Sendable { case released, reset }

    private let ending = Mutex(Ending.released)
    private let semaphore = DispatchSemaphore(value: 0)

    func end(_ ending: Ending) {
        self.ending.withLock { $0 = ending }
        semaphore.signal()
    }

    /// - Returns: How the wait ended; also `released` when the time is over.
    func wait(atMost duration: Duration?) -> Ending {
        _ = semaphore.wait(timeout: duration.map { .now() + $0.seconds } ?? .distantFuture)
        return ending.withLock { $0 }
    }
}

/// The calls on items, of the store or of one transaction: first the fault, then the normal work.
private struct ScriptedOperations: ItemOperations {
    let store: ScriptedStore
    let base: any ItemOperations
    let isInTransaction: Bool

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        let meeting = store.begin(call(.select, selection.conditions))
        if meeting.fault != .corruptItem { try store.meet(meeting) }
        let found = try base.select(selection, limit: limit, includingValues: includingValues, authorization)
        guard meeting.fault == .corruptItem else { return found }
        return SelectedItems(
            items: [], damaged: found.damaged + found.items.count, ofAnotherDevice: found.ofAnotherDevice)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try store.meet(store.begin(call(.insert, item.attributes)))
        return try base.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try store.meet(store.begin(call(.update, selection.conditions)))
        return try base.update(selection, authorization, change)
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        try store.meet(store.begin(call(.delete, selection.conditions)))
        return try base.delete(selection, authorization)
    }

    private func call(_ kind: ScriptedStore.CallKind, _ attributes: Attributes) -> ScriptedStore.Call {
        ScriptedStore.Call(kind, attributes, isInTransaction: isInTransaction)
    }
}
