// SPDX-License-Identifier: Apache-2.0
// A scripted store fails when, where and how its script says, and not otherwise.

import Foundation
import KeychainEngine
import KeychainTesting
import Testing

@Suite("Scripted store", .timeLimit(.minutes(60)))
struct ScriptedStoreTests {
    let memory = MemoryStore()
    let store: ScriptedStore

    init() { store = ScriptedStore(over: memory) }

    // MARK: - Which fault

    static let reasons: [(fault: ScriptedStore.Fault, reason: KeychainError.Reason)] = [
        (.locked, .locked), (.cancelled, .cancelled), (.denied, .authenticationFailed),
        (.interactionNotAllowed, .interactionNotAllowed), (.full, .diskFull), (.readOnly, .readOnly), (.busy, .busy),
        (.timedOut, .timedOut), (.missingEntitlement, .missingEntitlement), (.unavailable, .unavailable),
        (.inputOutput, .inputOutput), (.corruptItem, .corrupt),
        (.failure(KeychainError(.newerFormat, "")), .newerFormat),
    ]

    @Test(arguments: reasons)
    func fault_onAWrite_hasItsReasonAndWritesNothing(
        _ fault: ScriptedStore.Fault, _ reason: KeychainError.Reason
    ) throws {
        store.fail(fault)
        #expect(failure { () throws(KeychainError) in _ = try store.insert(.password("alice"), .none) } == reason)
        #expect(try memory.count() == 0)
        _ = try store.insert(.password("alice"), .none)
    }

    @Test func corruptItem_inASearch_isCountedAndNotReturned() throws {
        _ = try store.insert(.password("alice"), .none)
        store.fail(.corruptItem)
        let found = try store.select(.passwords, limit: nil, includingValues: true, .none)
        #expect(found.items == [])
        #expect(found.damaged == 1)
    }

    @Test func slow_beforeItsTimeIsOver_hasDoneNothing() throws {
        store.fail(.slow(.seconds(600)))
        let call = Background { [store] () throws(KeychainError) in _ = try store.insert(.password("alice"), .none) }
        #expect(store.waitUntilBlocked(patience: .seconds(600)))
        #expect(try memory.count() == 0)
        store.release()
        #expect(call.reason() == nil)
        #expect(try memory.count() == 1)
    }

    @Test func slow_whenItsTimeIsOver_doesWhatItShould() throws {
        store.fail(.slow(.milliseconds(20)))
        _ = try store.insert(.password("alice"), .none)
        #expect(store.calls.map(\.fault) == [.slow(.milliseconds(20))])
        #expect(try memory.count() == 1)
    }

    // MARK: - Which call

    @Test func next_scripted_isOneCall() throws {
        store.fail(.busy)
        #expect(failure { () throws(KeychainError) in try store.delete(.passwords) } == .busy)
        #expect(try store.delete(.passwords) == 0)
    }

    @Test func nth_scripted_isThatCallOnly() {
        store.fail(.busy, .nth(3))
        let results = (1...4).map { _ in failure { () throws(KeychainError) in try store.delete(.passwords) } }
        #expect(results == [nil, nil, .busy, nil])
    }

    @Test func every_scripted_isEachCallUntilReset() throws {
        store.fail(.busy, .every)
        for _ in 1...3 { #expect(failure { () throws(KeychainError) in try store.delete(.passwords) } == .busy) }
        store.reset()
        #expect(try store.delete(.passwords) == 0)
    }

    @Test(arguments: ScriptedStore.CallKind.allCases)
    func fault_forOneKind_leavesTheOthers(_ kind: ScriptedStore.CallKind) {
        store.fail(.busy, .every, on: [kind])
        for other in ScriptedStore.CallKind.allCases {
            #expect(failure { () throws(KeychainError) in try make(other) } == (other == kind ? .busy : nil))
        }
    }

    @Test func fault_forOneAccount_leavesTheOthers() throws {
        store.fail(.locked, .every, account: "alice")
        #expect(failure { () throws(KeychainError) in _ = try store.insert(.password("alice"), .none) } == .locked)
        _ = try store.insert(.password("bob"), .none)
        var selection = Selection.passwords
        selection.conditions[.account] = .string("alice")
        #expect(failure { () throws(KeychainError) in try store.delete(selection) } == .locked)
        #expect(try store.delete(.passwords) == 1)
    }

    @Test func fault_forOneService_isForServersToo() throws {
        store.fail(.locked, .every, service: "git.example.com")
        var item = Item.password("alice")
        _ = try store.insert(item, .none)
        item.itemClass = .internetPassword
        item.attributes[.service] = nil
        item.attributes[.server] = .string("git.example.com")
        #expect(failure { () throws(KeychainError) in _ = try store.insert(item, .none) } == .locked)
    }

    @Test func severalFaults_forOneCall_areMetInTheirOrder() {
        store.fail(.busy)
        store.fail(.locked, .every)
        let results = (1...2).map { _ in failure { () throws(KeychainError) in try store.delete(.passwords) } }
        #expect(results == [.busy, .locked])
    }

    // MARK: - In transactions

    @Test func fault_insideATransaction_takesAllOfItBack() throws {
        store.fail(.full, .nth(2), on: [.insert])
        let reason = failure { () throws(KeychainError) in
            try store.transaction(.none) { (items) throws(KeychainError) in
                for name in ["a", "b"] { _ = try items.insert(.password(name), .none) }
            }
        }
        #expect(reason == .diskFull)
        #expect(try memory.count() == 0)
    }

    @Test func store_overOneWithoutTransactions_hasNone() {
        let store = ScriptedStore(over: BrokenStore(.saysUnsupported))
        #expect(store.transactional == nil)
        #expect(failure { () throws(KeychainError) in try store.transaction(.none) { _ in } } == .unsupported)
    }

    @Test func callsOfATransaction_logged_areMarked() throws {
        try store.transaction(.none) { (items) throws(KeychainError) in
            _ = try items.insert(.password("alice"), .none)
        }
        _ = try store.delete(.passwords)
        #expect(store.calls.map(\.kind) == [.transaction, .insert, .delete])
        #expect(store.calls.map(\.isInTransaction) == [false, true, false])
    }

    // MARK: - The log

    @Test func call_logged_hasNamesAndFaultAndNoValue() throws {
        store.fail(.busy, account: "alice")
        _ = failure { () throws(KeychainError) in _ = try store.insert(.password("alice", value: "secret-value"), .none)
        }
        let call = try #require(store.calls.first)
        #expect(call.service == "example.com" && call.account == "alice" && call.fault == .busy)
        #expect(!String(reflecting: store.calls).contains("secret-value"))
    }

    // MARK: - Calls

    private func make(_ kind: ScriptedStore.CallKind) throws(KeychainError) {
        switch kind {
        case .select: _ = try store.select(.passwords, limit: nil, includingValues: true, .none)
        case .insert: _ = try store.insert(.password(UUID().uuidString), .none)
        case .update: _ = try store.update(.passwords, .none) { $0.item }
        case .delete: _ = try store.delete(.passwords)
        case .transaction: try store.transaction(.none) { _ in }
        }
    }
}
