// SPDX-License-Identifier: Apache-2.0
// What a store over the system's functions asks of them, and what it makes of their answers.

import Dispatch
import Foundation
import KeychainEngine
import KeychainKit
import KeychainSecItem
import KeychainServices
import KeychainTestSupport
import Synchronization
import Testing

@Suite("SecItemStore", .timeLimit(.minutes(60)))
struct SecItemStoreTests {
    let memory = MemoryStore(passphrase: "correct horse")
    let notes = Notes()
    let store: SecItemStore

    init() { store = SecItemStore(SecItemFunctions.services(over: memory).noting(notes)) }

    // MARK: - What is asked

    @Test func itemInTheDefaultGroup_added_leavesTheGroupToTheSystem() throws {
        let store = SecItemStore(over: memory, accessGroups: AccessGroups(["team.app"]))
        let stored = try store.insert(.password("alice", group: "default"), .none)
        #expect(stored.item.accessGroup == "team.app")
    }

    @Test func attributesOfTheSystem_added_areLeftOut() throws {
        _ = try store.insert(.password("alice"), .none)
        #expect(Set(notes.last("add").keys).isDisjoint(with: ["cdat", "mdat", "sha1", "tomb", "musr", "UUID"]))
    }

    @Test(arguments: [true, false])
    func request_thatMayNotAsk_saysSo(_ allowsInteraction: Bool) throws {
        let authorization = Authorization(
            AuthenticationContext { nil }, allowsInteraction: allowsInteraction, prompt: "show it")
        _ = try store.select(.passwords, limit: 1, includingValues: true, authorization)
        #expect(notes.last("find")["u_AuthUI"] == (allowsInteraction ? nil : "u_AuthUIF"))
        #expect(notes.last("find")["u_OpPrompt"] == "show it")
        #expect(notes.last("find")["u_AuthCtx"] != nil)
    }

    @Test func limitOfOne_withAValue_isOneCall() throws {
        _ = try store.insert(.password("alice"), .none)
        let found = try store.select(.passwords, limit: 1, includingValues: true, .none)
        #expect(found.items.first?.item.value == Data("secret".utf8))
        #expect(notes.calls == ["add", "find"])
    }

    @Test func update_ofSeveralItemsAlike_isOneCall() throws {
        for name in ["a", "b", "c"] { _ = try store.insert(.password(name), .none) }
        _ = try store.update(.passwords, .none) { stored in stored.item.with(.label, "new") }
        #expect(notes.calls.filter { $0 == "update" }.count == 1)
        #expect(notes.last("update")["acct"] == nil)
    }

    @Test func update_ofSeveralItemsOfWhichOneIsDone_isOneCall() throws {
        for name in ["a", "b"] { _ = try store.insert(.password(name), .none) }
        _ = try store.update(.account("a"), .none) { stored in stored.item.with(.label, "new") }
        _ = try store.update(.passwords, .none) { stored in stored.item.with(.label, "new") }
        #expect(try store.select(.passwords, limit: nil, includingValues: false, .none).items.count == 2)
        #expect(notes.calls.filter { $0 == "update" }.count == 2)
    }

    @Test func update_ofOneItem_asksForItsKeyAndVersion() throws {
        let stored = try store.insert(.password("alice"), .none)
        _ = try store.update(.passwords, .none) { stored in stored.item.with(.label, "new") }
        let query = notes.last("update")
        #expect(query["svce"] == "example.com" && query["acct"] == "alice")
        #expect(stored.item.attributes[.digest].map { "\($0)" } != nil && query["sha1"] != nil)
    }

    @Test func update_thatChangesNothing_isAWriteAllTheSame() throws {
        let before = try store.insert(.password("alice"), .none)
        _ = try store.update(.passwords, .none) { stored in stored.item }
        let after = try store.select(.passwords, limit: 1, includingValues: true, .none).items
        #expect(after.first?.version != before.version)
        #expect(after.first?.item.value == before.item.value)
    }

    @Test func update_ofSeveralItemsThatChangesNothing_leavesEachItsValue() throws {
        for name in ["a", "b"] { _ = try store.insert(.password(name).with(value: "secret of \(name)"), .none) }
        let updated = try store.update(.passwords, .none) { stored in stored.item }
        #expect(updated.items.count == 2)
        let values = try store.select(.passwords, limit: nil, includingValues: true, .none).items.map(\.item.value)
        #expect(Set(values) == [Data("secret of a".utf8), Data("secret of b".utf8)])
    }

    @Test func update_thatLosesTheRace_readsAgainAndChangesTheNewVersion() throws {
        _ = try store.insert(.password("alice", value: "1"), .none)
        let isFirst = Mutex(true)
        _ = try store.update(.passwords, .none) { (stored) throws(KeychainError) in
            let interferes = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            if interferes {
                let other = SecItemStore(over: memory)
                _ = try other.update(.passwords, .none) { $0.item.with(value: "2") }
            }
            return stored.item.with(value: String(decoding: stored.item.value ?? Data(), as: UTF8.self) + "3")
        }
        let found = try store.select(.passwords, limit: 1, includingValues: true, .none).items
        #expect(found.first?.item.value == Data("23".utf8))
    }

    @Test func update_thatAlwaysLosesTheRace_isBusy() throws {
        _ = try store.insert(.password("alice"), .none)
        var functions = SecItemFunctions.services(over: memory)
        functions.update = { _, _ in errSecItemNotFound }
        let store = SecItemStore(functions)
        #expect(reason { try store.update(.passwords, .none) { $0.item.with(value: "2") } } == .busy)
    }

    // MARK: - What a person has proven

    @Test func context_thatProvedTheUserOnce_asksNoMore() throws {
        _ = try store.insert(.password("alice").asking(), .none)
        let person = Person(passphrase: "correct horse")
        let authorization = Authorization(AuthenticationContext { person })
        for _ in 1...2 {
            let found = try store.select(.passwords, limit: nil, includingValues: true, authorization)
            #expect(found.items.first?.item.value == Data("secret".utf8))
        }
        #expect(person.questions.map(\.reason) == ["use an item of your keychain"])
    }

    @Test func questionOfARequest_cancelledByItsSurface_ends() throws {
        _ = try store.insert(.password("alice").asking(), .none)
        let cancellation = AuthenticationCancellation()
        let states = Mutex<[Bool]>([])
        var query = Query(.genericPassword)
        query.context = AuthenticationContext { SlowPerson() }
        query.questions = Query.Questions(cancellation: cancellation) { isOpen in
            states.withLock { $0.append(isOpen) }
            if isOpen { DispatchQueue.global().async { cancellation.cancel() } }
        }
        #expect(reason { try Engine(store: store).copyMatching(query, accessGroups: .unrestricted) } == .cancelled)
        #expect(states.withLock { $0 } == [true, false])
    }

    // MARK: - Deleting and observing

    @Test func host_inADeletion_removesWhatItFinds() throws {
        for server in ["example.com", "git.example.com", "example.org"] {
            var item = Item.password("alice")
            item.itemClass = .internetPassword
            item.attributes[.service] = nil
            item.attributes[.server] = .string(server)
            _ = try store.insert(item, .none)
        }
        var selection = Selection(itemClass: .internetPassword)
        selection.host = "example.com"
        #expect(try store.delete(selection) == 2)
        #expect(try store.delete(Selection(itemClass: .internetPassword)) == 1)
    }

    @Test func change_throughAnotherStore_isNoticed() throws {
        let semaphore = DispatchSemaphore(value: 0)
        let observation = try store.observe { semaphore.signal() }
        _ = try SecItemStore(over: MemoryStore()).insert(.password("alice"), .none)
        #expect(semaphore.wait(timeout: .now() + 900) == .success)
        withExtendedLifetime(observation) {}
    }

    @Test func item_removedWhileLocked_isToldToObserversThatCouldNotLook() async throws {
        for name in ["alice", "bob"] { _ = try store.insert(.password(name), .none) }
        let changes = try await SecretStore(service: "example.com", store: store).changes()
        memory.lockState = .locked
        let looks = notes.calls.count { $0 == "find" }
        #expect(try store.delete(.account("alice")) == 1)
        // One look to count what is removed, one for the observer.
        try await yieldUntil("Three more looks") { notes.calls.count { $0 == "find" } >= looks + 3 }
        memory.lockState = .unlocked
        for await change in changes {
            #expect(change.kind == .removed && change.item?.account == "alice")
            break
        }
    }

    // MARK: - The engine above, the real functions below

    @Test func engine_overTheStore_addsSavesFindsAndDeletes() throws {
        let engine = Engine(store: store)
        var query = Query(.genericPassword, [.service: .string("example.com"), .account: .string("alice")])
        for value in ["one", "two"] {
            query.value = Data(value.utf8)
            try engine.requests.save(query, accessGroups: .unrestricted)
        }
        query.value = nil
        query.returns = .value
        #expect(try engine.copyMatching(query, accessGroups: .unrestricted) == .one(.value(Data("two".utf8))))
        #expect(try engine.requests.delete(query, accessGroups: .unrestricted) == 1)
    }

    @Test func secretStore_overTheStore_savesReadsUpdatesAndRemoves() throws {
        let secrets = SecretStore(service: "example.com", store: store)
        try secrets.save("one", for: "alice")
        try secrets.save("two", for: "alice")
        for _ in 1...2 { try secrets.update(Int.self, for: "counter") { $0 = ($0 ?? 0) + 1 } }
        #expect(try secrets.read(String.self, for: "alice") == "two")
        #expect(try secrets.read(Int.self, for: "counter") == 2)
        #expect(try secrets.remove(for: "alice"))
        #expect(try secrets.items().map(\.account) == ["counter"])
    }

    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["KEYCHAIN_VAULT"] != nil,
            "KEYCHAIN_VAULT names no vault that a test may write"))
    func functionsOfTheSystem_underAStore_addFindUpdateAndDelete() throws {
        let (store, service) = (SecItemStore(), UUID().uuidString)
        var item = Item.password("alice", group: "default")
        item.attributes[.service] = .string(service)
        let selection = Selection(itemClass: .genericPassword, conditions: [.service: .string(service)])
        _ = try store.insert(item, .none)
        _ = try store.update(selection, .none) { $0.item.with(value: "new") }
        let found = try store.select(selection, limit: nil, includingValues: true, .none).items
        #expect(found.map(\.item.value) == [Data("new".utf8)])
        #expect(try store.delete(selection) == 1)
    }

    /// The reason that a call fails with; `nil` if it works.
    func reason<Result>(_ call: () throws -> Result) -> KeychainError.Reason? {
        do {
            _ = try call()
            return nil
        } catch {
            return (error as? KeychainError)?.reason
        }
    }
}
