// SPDX-License-Identifier: Apache-2.0
// The changes of items that an observer receives.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainVault

@Suite("Changes", .timeLimit(.minutes(60)))
struct ChangesTests {
    /// The stores that notice changes.
    enum Kind: CaseIterable {
        case memory, vault
    }

    /// A store, and what has to live as long.
    private struct Place {
        let shared: SharedVault?
        let items: any ItemStore

        init(_ kind: Kind) throws {
            shared = kind == .vault ? try SharedVault() : nil
            items = shared?.vault ?? MemoryStore(passphrase: "p")
        }

        func store(_ service: String = "s", group: String? = nil) -> SecretStore {
            var store = SecretStore(service: service, accessGroup: group, store: items)
            store.timeout = Timeout(operation: .testLimit)
            return store
        }
    }

    @Test(arguments: Kind.allCases) func item_madeChangedAndRemoved_comesAsEach(_ kind: Kind) async throws {
        let place = try Place(kind)
        let store = place.store()
        let changes = try await store.changes()
        try await store.save("1", for: "alice")
        #expect(await changes.next(1) == ["added alice"])
        try await store.save("2", for: "alice")
        #expect(await changes.next(1) == ["updated alice"])
        try await store.save("2", for: "alice", attributes: ItemAttributes(label: "l"))
        #expect(await changes.next(1) == ["updated alice"])
        try await store.remove(for: "alice")
        #expect(await changes.next(1) == ["removed alice"])
    }

    @Test(arguments: Kind.allCases) func item_thatWasThere_comesOnlyWhenItChanges(_ kind: Kind) async throws {
        let place = try Place(kind)
        let store = place.store()
        try await store.save("1", for: "alice")
        try await store.save("1", for: "bob")
        let changes = try await store.changes()
        try await store.remove(for: "alice")
        try await store.save("2", for: "bob")
        #expect(await changes.next(2).sorted() == ["removed alice", "updated bob"])
    }

    @Test(arguments: Kind.allCases) func changesOfAnAccount_areOfNoOther(_ kind: Kind) async throws {
        let place = try Place(kind)
        let (store, other) = (place.store(), place.store("other"))
        try await other.save("1", for: "alice")
        let changes = try await store.changes(for: "alice")
        try await store.save("1", for: "bob")
        try await other.save("2", for: "alice")
        try await store.save("1", for: "alice")
        #expect(await changes.next(1) == ["added alice"])
    }

    @Test(arguments: Kind.allCases) func changesOfAStore_areOfNoOtherPlaceOrGroup(_ kind: Kind) async throws {
        let place = try Place(kind)
        let changes = try await place.store(group: "mine").changes()
        try await place.store("other", group: "mine").save("1", for: "a")
        try await place.store(group: "yours").save("1", for: "b")
        try await SecretStore(server: .init("s"), accessGroup: "mine", store: place.items).save("1", for: "c")
        var synchronizable = place.store(group: "mine")
        synchronizable.synchronizable = true
        try await synchronizable.save("1", for: "d")
        try await place.store(group: "mine").save("1", for: "e")
        #expect(await changes.next(1) == ["added e"])
    }

    @Test(arguments: Kind.allCases) func changesOfACatalog_areOfEveryPlace(_ kind: Kind) async throws {
        let place = try Place(kind)
        try await place.store("there").save("1", for: "before")
        let changes = try await KeychainCatalog(store: place.items).changes()
        try await place.store("one").save("1", for: "a")
        try await SecretStore(server: .init("two"), synchronizable: true, store: place.items).save("1", for: "b")
        try await place.store("there").remove(for: "before")
        #expect(await changes.next(3).sorted() == ["added a", "added b", "removed before"])
    }

    @Test(arguments: Kind.allCases) func changesOfACatalogOfOneClass_areOfThatClass(_ kind: Kind) async throws {
        let place = try Place(kind)
        let changes = try await KeychainCatalog(store: place.items).changes([.internetPassword])
        try await place.store("one").save("1", for: "a")
        try await SecretStore(server: .init("two"), store: place.items).save("1", for: "b")
        #expect(await changes.next(1) == ["added b"])
    }

    @Test(arguments: Kind.allCases) func changesOfAProgram_areOfItsOwnGroups(_ kind: Kind) async throws {
        let place = try Place(kind)
        let accessGroups = AccessGroups(["mine"])
        let changes = try await KeychainCatalog(store: place.items, accessGroups: accessGroups).changes()
        try await place.store(group: "yours").save("1", for: "a")
        try await place.store(group: "mine").save("1", for: "b")
        #expect(await changes.next(1) == ["added b"])
    }

    @Test(arguments: Kind.allCases) func item_renamed_isGoneAndThere(_ kind: Kind) async throws {
        let place = try Place(kind)
        let store = place.store()
        try await store.save("1", for: "alice")
        let changes = try await store.changes()
        let (query, changed) = (Query(.genericPassword, [.service: .string("s")]), Changes([.account: .string("bob")]))
        try Engine(store: place.items).update(query, with: changed, accessGroups: .unrestricted)
        #expect(await changes.next(2) == ["removed alice", "added bob"])
    }

    @Test(arguments: Kind.allCases) func items_thatSwapTheirNames_areBothUpdated(_ kind: Kind) async throws {
        let place = try Place(kind)
        let store = place.store()
        try await store.save("1", for: "alice")
        try await store.save("2", for: "bob")
        let changes = try await store.changes()
        let engine = Engine(store: place.items)
        try engine.transaction(as: Query(.genericPassword)) { (requests) throws(KeychainError) in
            for (old, new) in [("alice", "nobody"), ("bob", "alice"), ("nobody", "bob")] {
                let query = Query(.genericPassword, [.service: .string("s"), .account: .string(old)])
                _ = try requests.update(query, with: Changes([.account: .string(new)]), accessGroups: .unrestricted)
            }
        }
        #expect(await changes.next(2).sorted() == ["updated alice", "updated bob"])
    }

    @Test(arguments: Kind.allCases) func item_thatAsksForTheUser_comesWithItsNameAndAsksNobody(
        _ kind: Kind
    ) async throws {
        let place = try Place(kind)
        if let shared = place.shared { try shared.vault.addProtector(shared.passphrase) }
        var store = place.store()
        store.accessControl = .userPresence
        store.context = AuthenticationContext {
            Issue.record("somebody was asked")
            return nil
        }
        let changes = try await store.changes()
        try await store.save("1", for: "alice", attributes: ItemAttributes(label: "l"))
        for await change in changes {
            #expect(change.words == "added alice" && change.item?.label == nil && change.item?.service == "s")
            break
        }
    }

    @Test func rotation_isNoChangeOfAnItem() async throws {
        let place = try Place(.vault)
        let store = place.store()
        for number in 0..<20 { try await store.save("1", for: "item-\(number)") }
        let changes = try await store.changes()
        try place.shared?.vault.rotate()
        try await store.save("1", for: "alice")
        #expect(await changes.next(1) == ["added alice"])
    }

    @Test func vault_removedAndMadeAgain_showsWhatItHolds() async throws {
        let place = try Place(.vault)
        let (store, folder) = (place.store(), try #require(place.shared).location.folder)
        try await store.save("1", for: "alice")
        try await store.save("1", for: "bob")
        let changes = try await store.changes()
        try FileManager.default.removeItem(atPath: folder)
        #expect(await changes.next(2).sorted() == ["removed alice", "removed bob"])
        try await store.save("2", for: "alice")
        #expect(await changes.next(1) == ["added alice"])
    }

    @Test func change_byAnotherProcess_comes() async throws {
        let vault = try SharedVault()
        let changes = try await vault.store.changes(for: "alice")
        #expect(try await vault.lines("save", "alice", "1") == ["done"])
        #expect(await changes.next(1) == ["added alice"])
        #expect(try await vault.lines("save", "alice", "2") == ["done"])
        #expect(await changes.next(1) == ["updated alice"])
        #expect(try await vault.lines("remove", "alice") == ["done"])
        #expect(await changes.next(1) == ["removed alice"])
    }

    @Test func changes_askedForOnTheCallersThread_areTheSame() async throws {
        let store = SecretStore(service: "s", store: MemoryStore())
        let ask = { () throws(KeychainError) -> SecretChanges in try store.changes() }
        let changes = try ask()
        try await store.save("1", for: "alice")
        #expect(await changes.next(1) == ["added alice"])
    }

    @Test func store_thatNoticesNothing_isUnsupported() throws {
        let store = SecretStore(service: "s", store: ForgetfulStore())
        #expect(reason { try store.changes() } == .unsupported)
        #expect(reason { try store.values(String.self, for: "alice") } == .unsupported)
    }

    @Test func look_thatFails_isMadeAgain() async throws {
        let counted = CountedStore()
        let store = SecretStore(service: "s", store: counted)
        let changes = try await store.changes()
        counted.failures.withLock { $0 = 1 }
        try await store.save("1", for: "alice")
        #expect(await changes.next(1) == ["added alice"])
    }
}
