// SPDX-License-Identifier: Apache-2.0
// A scripted store fails when, where and how its script says, and not otherwise.

import Dispatch
import Foundation
import KeychainEngine
import KeychainTesting
import Synchronization
import Testing

@Suite("Scripted store", .timeLimit(.minutes(10)))
struct ScriptedStoreTests {
    private let memory = MemoryStore()
    private let store: ScriptedStore

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

    @Test func slow_scripted_delaysAndThenDoesWhatItShould() throws {
        store.fail(.slow(.milliseconds(20)))
        let duration = try ContinuousClock().measure { _ = try store.insert(.password("alice"), .none) }
        #expect(duration >= .milliseconds(20))
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

    // MARK: - Never answering

    @Test func neverAnswers_released_goesOn() throws {
        store.fail(.neverAnswers, on: [.insert])
        let call = Background { [store] () throws(KeychainError) in _ = try store.insert(.password("alice"), .none) }
        #expect(store.waitUntilBlocked())
        #expect(try memory.count() == 0)
        store.release()
        #expect(call.reason() == nil)
        #expect(try memory.count() == 1)
        #expect(store.blockedCallCount == 0)
    }

    @Test func neverAnswers_reset_isTimedOutAndDoesNothing() throws {
        store.fail(.neverAnswers, .every, on: [.insert])
        let calls = (0..<3).map { number in
            Background { [store] () throws(KeychainError) in _ = try store.insert(.password("\(number)"), .none) }
        }
        #expect(store.waitUntilBlocked(3))
        store.reset()
        #expect(calls.map { $0.reason() } == [.timedOut, .timedOut, .timedOut])
        #expect(try memory.count() == 0)
        #expect(store.calls == [])
    }

    @Test func neverAnswers_resetWhileTheCallBegins_blocksNobody() {
        var left = 0
        for _ in 0..<500 {
            store.fail(.neverAnswers, .every)
            let call = Background { [store] () throws(KeychainError) in _ = try store.delete(.passwords) }
            while store.calls.isEmpty {}
            store.reset()
            // A call that blocks from now on would do so for ever.
            while !call.hasEnded {
                guard store.blockedCallCount > 0 else { continue }
                left += 1
                store.reset()
            }
        }
        #expect(left == 0)
    }

    @Test func neverAnswers_inATransaction_leavesNothingWhenReset() throws {
        store.fail(.neverAnswers, .nth(2), on: [.insert])
        let call = Background { [store] () throws(KeychainError) in
            try store.transaction(.none) { (items) throws(KeychainError) in
                for name in ["a", "b"] { _ = try items.insert(.password(name), .none) }
            }
        }
        #expect(store.waitUntilBlocked())
        store.reset()
        #expect(call.reason() == .timedOut)
        #expect(try memory.count() == 0)
    }

    @Test func otherCalls_whileOneNeverAnswers_areAnswered() throws {
        store.fail(.neverAnswers, on: [.select], account: "alice")
        var selection = Selection.passwords
        selection.conditions[.account] = .string("alice")
        let call = Background { [store, selection] () throws(KeychainError) in
            _ = try store.select(selection, limit: nil, includingValues: false, .none)
        }
        #expect(store.waitUntilBlocked())
        _ = try store.insert(.password("bob"), .none)
        store.release()
        #expect(call.reason() == nil)
    }

    @Test func waitUntilBlocked_whenNothingBlocks_gives() {
        #expect(!store.waitUntilBlocked(patience: .zero))
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

/// A call on a thread of its own.
private final class Background: Sendable {
    private let failure = Mutex<KeychainError?>(nil)
    private let group = DispatchGroup()

    init(_ body: @escaping @Sendable () throws(KeychainError) -> Void) {
        group.enter()
        Thread {
            do throws(KeychainError) { try body() } catch { self.failure.withLock { $0 = error } }
            self.group.leave()
        }.start()
    }

    var hasEnded: Bool { group.wait(timeout: .now()) == .success }

    /// Waits for the call; `nil` if it worked.
    func reason() -> KeychainError.Reason? {
        group.wait()
        return failure.withLock { $0?.reason }
    }
}

/// The reason that a call fails with; `nil` if it works.
private func failure<Result>(_ call: () throws(KeychainError) -> Result) -> KeychainError.Reason? {
    do throws(KeychainError) {
        _ = try call()
        return nil
    } catch {
        return error.reason
    }
}

extension Item {
    fileprivate static func password(_ account: String, value: String = "secret") -> Item {
        let attributes: Attributes = [
            .service: .string("example.com"), .account: .string(account), .accessGroup: .string("default"),
            .synchronizable: .number(0),
        ]
        return Item(
            itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(.whenUnlocked),
            value: Data(value.utf8))
    }
}

extension MemoryStore {
    fileprivate func count() throws(KeychainError) -> Int {
        try select(.passwords, limit: nil, includingValues: false, .none).items.count
    }
}
