// SPDX-License-Identifier: Apache-2.0
// What a store makes of the answers of the system's functions.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainSecItem
import KeychainServices
import KeychainTestSupport
import Testing

extension SecItemStoreTests {
    @Test(arguments: KeychainError.Reason.known)
    func statusOfAReason_fromTheSystem_isKept(_ reason: KeychainError.Reason) {
        var functions = SecItemFunctions.services(over: memory)
        functions.copyMatching = { _, _ in reason.status }
        let store = SecItemStore(functions)
        guard reason != .itemNotFound else { return }
        let failure = #expect(throws: KeychainError.self) {
            try store.select(.passwords, limit: 1, includingValues: false, .none)
        }
        #expect(failure?.status == reason.status)
        #expect(failure?.reason.status == reason.status)
    }

    @Test func statusThatIsUnknown_fromTheSystem_isUnavailableAndKept() {
        var functions = SecItemFunctions.services(over: memory)
        functions.delete = { _ in -67_000 }
        let store = SecItemStore(functions)
        let failure = #expect(throws: KeychainError.self) { try store.delete(.passwords) }
        #expect(failure?.reason == .unavailable && failure?.status == -67_000)
    }

    @Test func closedItem_read_isLocked() throws {
        _ = try store.insert(.password("alice"), .none)
        memory.lockState = .locked
        #expect(reason { try store.select(.passwords, limit: 1, includingValues: true, .none) } == .locked)
    }

    @Test func itemThatAsksForTheUser_readWithoutAsking_isInteractionNotAllowedAndNotLocked() throws {
        _ = try store.insert(.password("alice").asking(), .none)
        let reasons = [
            reason { try store.select(.passwords, limit: 1, includingValues: true, .none) },
            reason { try store.update(.passwords, .none) { $0.item } },
        ]
        #expect(reasons == [.interactionNotAllowed, .interactionNotAllowed])
    }

    @Test func answerThatIsNoItem_toASearch_isUndecodable() {
        var functions = SecItemFunctions.services(over: memory)
        functions.copyMatching = { _, result in
            result?.pointee = NSString(string: "what?")
            return errSecSuccess
        }
        let store = SecItemStore(functions)
        #expect(reason { try store.select(.passwords, limit: 1, includingValues: false, .none) } == .undecodableInput)
    }

    @Test func itemThatCannotBeRead_inAnAnswer_isCountedAsDamaged() throws {
        var functions = SecItemFunctions.services(over: memory)
        functions.copyMatching = { _, result in
            result?.pointee = [["acct": "alice", "pdmn": "unknown", "v_PersistentRef": Data(count: 20)]] as NSArray
            return errSecSuccess
        }
        let found = try SecItemStore(functions).select(.passwords, limit: nil, includingValues: false, .none)
        #expect(found.items == [] && found.damaged == 1)
    }

    @Test func valueThatIsDamaged_amongSome_doesNotCountTowardsTheLimit() throws {
        for name in ["c", "b", "a"] { _ = try store.insert(.password(name), .none) }
        let damaged = try #require(try store.select(.account("a"), limit: 1, includingValues: false, .none).items.first)
        var functions = SecItemFunctions.services(over: memory)
        let whole = functions.copyMatching
        functions.copyMatching = { query, result in
            let reference = (query as? [String: Any])?["v_PersistentRef"] as? Data
            return reference == damaged.reference.bytes ? errSecDecode : whole(query, result)
        }
        let found = try SecItemStore(functions).select(.passwords, limit: 2, includingValues: true, .none)
        #expect(found.items.map { $0.item.attributes[.account] } == [.string("b"), .string("c")])
        #expect(found.damaged == 1)
    }

    @Test func failure_ofAnAddition_hasNoContentInItsMessage() throws {
        let item = Item.password("alice", value: "very-secret-value")
        _ = try store.insert(item, .none)
        let failure = #expect(throws: KeychainError.self) { try store.insert(item, .none) }
        #expect(failure?.reason == .duplicateItem)
        #expect(failure?.message.contains("very-secret-value") == false && failure?.message.contains("alice") == false)
    }
}
