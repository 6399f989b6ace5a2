// SPDX-License-Identifier: Apache-2.0
// A store whose calls go wrong when a test says so.

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
/// A call that several faults are for meets the one scripted first. Faults hold inside of transactions as well, where
/// the calls of the body are counted like others.
public final class ScriptedStore: ItemStore {
    private struct State {
        var rules: [Rule] = []
        var calls: [Call] = []
        var blocked: [Blocked] = []
        var waiting: [(count: Int, semaphore: DispatchSemaphore)] = []
    }

    private let base: any ItemStore
    private let state = Mutex(State())

    /// - Parameter base: Does what is not scripted.
    public init(over base: any ItemStore = MemoryStore()) { self.base = base }

    // MARK: - The script

    /// Lets calls meet a fault.
    ///
    /// - Parameters:
    ///   - occurrence: Which of these calls, counted from now.
    ///   - kinds: Of which kinds; by default all, a transaction as a whole included.
    ///   - service: Only calls that name this service, or server; so no transactions, and no persistent references.
    ///   - account: Only calls that name this account; likewise.
    public func fail(
        _ fault: Fault, _ occurrence: Occurrence = .next, on kinds: Set<CallKind> = Set(CallKind.allCases),
        service: String? = nil, account: String? = nil
    ) {
        let rule = Rule(fault: fault, occurrence: occurrence, kinds: kinds, service: service, account: account)
        state.withLock { $0.rules.append(rule) }
    }

    /// Lets the calls go on that are blocked now, by ``Fault/neverAnswers`` or ``Fault/slow(_:)``, as if nothing had
    /// been.
    public func release() { end(.released) }

    /// Takes back the whole script, empties the log, and lets the calls that are blocked now fail as `timedOut`.
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

    public var hasTransactions: Bool { base.hasTransactions }

    public func transaction<Result>(
        _ authorization: Authorization, _ body: (any ItemOperations) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        try meet(fault(for: Call(.transaction, isInTransaction: false)))
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

    public func delete(_ selection: Selection) throws(KeychainError) -> Int { try operations.delete(selection) }

    public var lockState: LockState { get throws(KeychainError) { try base.lockState } }

    /// What observers see of the store meets no faults, and is not in the log.
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

    /// Waits or throws, as the fault says.
    fileprivate func meet(_ fault: Fault?) throws(KeychainError) {
        switch fault {
        case nil: break
        case .slow(let duration): try block(atMost: duration)
        case .neverAnswers: try block(atMost: nil)
        case let fault?: if let error = fault.error { throw error }
        }
    }

    /// Notes the call, and tells which fault it meets.
    fileprivate func fault(for call: Call) -> Fault? {
        state.withLock { state in
            var call = call
            for index in state.rules.indices where state.rules[index].isMet(by: call) && call.fault == nil {
                call.fault = state.rules[index].fault
            }
            state.calls.append(call)
            return call.fault
        }
    }

    private func block(atMost duration: Duration?) throws(KeychainError) {
        let blocked = Blocked()
        let ready = state.withLock { state in
            state.blocked.append(blocked)
            defer { state.waiting.removeAll { $0.count <= state.blocked.count } }
            return state.waiting.filter { $0.count <= state.blocked.count }.map(\.semaphore)
        }
        for semaphore in ready { semaphore.signal() }
        let ending = blocked.wait(atMost: duration)
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

/// A call that waits on its thread.
private final class Blocked: Sendable {
    enum Ending: Sendable { case released, reset }

    private let ending = Mutex(Ending.released)
    private let semaphore = DispatchSemaphore(value: 0)

    func end(_ ending: Ending) {
        self.ending.withLock { $0 = ending }
        semaphore.signal()
    }

    /// - Returns: How it ended; `released` also when its time is over.
    func wait(atMost duration: Duration?) -> Ending {
        _ = semaphore.wait(timeout: duration.map { .now() + $0.seconds } ?? .distantFuture)
        return ending.withLock { $0 }
    }
}

/// The calls on items, of the store or of one transaction: first what the script says, then what should happen.
private struct ScriptedOperations: ItemOperations {
    let store: ScriptedStore
    let base: any ItemOperations
    let isInTransaction: Bool

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        let fault = store.fault(for: call(.select, selection.conditions))
        if fault != .corruptItem { try store.meet(fault) }
        let found = try base.select(selection, limit: limit, includingValues: includingValues, authorization)
        guard fault == .corruptItem else { return found }
        return SelectedItems(items: [], damaged: found.damaged + found.items.count)
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try store.meet(store.fault(for: call(.insert, item.attributes)))
        return try base.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization,
        _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        try store.meet(store.fault(for: call(.update, selection.conditions)))
        return try base.update(selection, authorization, change)
    }

    func delete(_ selection: Selection) throws(KeychainError) -> Int {
        try store.meet(store.fault(for: call(.delete, selection.conditions)))
        return try base.delete(selection)
    }

    private func call(_ kind: ScriptedStore.CallKind, _ attributes: Attributes) -> ScriptedStore.Call {
        ScriptedStore.Call(kind, attributes, isInTransaction: isInTransaction)
    }
}
