// SPDX-License-Identifier: Apache-2.0
// Scripted stores that do not answer until a test says so.

import Foundation
import KeychainEngine
import KeychainTesting
import Testing

extension ScriptedStoreTests {
    @Test func neverAnswers_released_goesOn() throws {
        store.fail(.neverAnswers, on: [.insert])
        let call = Background { [store] () throws(KeychainError) in _ = try store.insert(.password("alice"), .none) }
        #expect(store.waitUntilBlocked(patience: .seconds(600)))
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
        #expect(store.waitUntilBlocked(3, patience: .seconds(600)))
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
        #expect(store.waitUntilBlocked(patience: .seconds(600)))
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
        #expect(store.waitUntilBlocked(patience: .seconds(600)))
        _ = try store.insert(.password("bob"), .none)
        store.release()
        #expect(call.reason() == nil)
    }

    @Test func waitUntilBlocked_whenNothingBlocks_gives() {
        #expect(!store.waitUntilBlocked(patience: .zero))
    }
}
