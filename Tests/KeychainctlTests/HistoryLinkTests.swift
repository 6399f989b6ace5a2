// SPDX-License-Identifier: Apache-2.0
// What leads from former names to an item, where the versions require the user, so that only an index knows where they lead.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import KeychainVault
import Testing

@testable import keychainctl

@Suite("history, former names of items that require the user")
struct HistoryLinkTests {
    private let place: LockableVault
    private let person = Person(passphrase: "several words")
    private var vault: Vault { place.vault }

    init() throws { place = try LockableVault(passphrase: "several words") }

    private func store(_ service: String, _ keeping: KeepingStore, requiresUser: Bool = true) -> SecretStore {
        var store = SecretStore(service: service, store: keeping, accessGroups: .unrestricted)
        store.context = AuthenticationContext { [person] in person }
        if requiresUser { store.accessControl = .userPresence }
        return store
    }

    private func set(_ values: [String], _ service: String, requiresUser: Bool = true) throws {
        let store = store(service, KeepingStore(vault, .set, isQuiet: true), requiresUser: requiresUser)
        for value in values { try store.save(Data(value.utf8), for: "a") }
    }

    /// As `keychainctl move` does.
    private func move(_ service: String, to target: String) throws {
        let keeping = KeepingStore(vault, .move, isQuiet: true)
        let (source, goal) = (store(service, keeping), store(target, keeping))
        try source.transaction { transaction in
            let value = try #require(try transaction.read(Data.self, for: "a"))
            try transaction.in(goal).create(value, for: "a")
            transaction.remove(for: "a")
        }
    }

    private func moveWhileOff(_ service: String, to target: String) throws {
        try vault.switchHistory(on: false)
        try move(service, to: target)
        try vault.switchHistory(on: true)
    }

    private func forget(_ service: String) throws {
        #expect(try store(service, KeepingStore(vault, .forget, isQuiet: true)).remove(for: "a"))
    }

    private func count(_ service: String) throws -> Int {
        try KeptVersions(items: vault).all().count { $0.name.listed?.service == service }
    }

    /// More changes than are kept of another item, by which the versions of the one that had the name are dropped.
    private func replace(_ service: String) throws {
        try set((1...12).map { "\($0)" }, service, requiresUser: false)
    }

    @Test func forgottenItem_movedWhileTheHistoryWasOff_leavesNoVersions() throws {
        try set(["1", "2"], "s")
        try moveWhileOff("s", to: "last")
        try forget("last")
        #expect(try count("s") == 0)
    }

    /// Nothing is kept under the second name, so the versions of the first one have to lead to the last.
    @Test func forgottenItem_movedOnceMoreWhileTheHistoryWasOff_leavesNoVersions() throws {
        try set(["1", "2"], "s")
        try move("s", to: "next")
        try moveWhileOff("next", to: "last")
        try forget("last")
        #expect(try count("s") == 0)
    }

    @Test func forgottenItem_whoseSecondNameAnotherItemHas_leavesNoVersionsUnderTheFirst() throws {
        try set(["1", "2"], "s")
        try move("s", to: "next")
        try set(["3"], "next")
        try moveWhileOff("next", to: "last")
        try replace("next")
        try forget("last")
        #expect(try count("s") == 0)
    }

    @Test func versionsUnderTheFirstName_ofAnItemWithMoreChangesThanAreKept_stay() throws {
        try set(["1", "2"], "s")
        try move("s", to: "next")
        try set((1...12).map { "\($0)" }, "next")
        #expect(try (count("s"), count("next")) == (2, 10))
    }

    @Test func versionsThatNothingLeadsTo_areRemovedWithAll() throws {
        try set(["1", "2"], "s")
        try moveWhileOff("s", to: "last")
        try replace("s")
        try vault.transaction(.none) { (items) throws(KeychainError) in
            _ = try KeptVersions(items: items).removeAll()
        }
        #expect(try KeptVersions(items: vault).all().isEmpty)
    }

    /// Another item of the same name has another identity.
    @Test func versionsOfAMovedItem_areNotThoseOfALaterItemOfItsLastName() throws {
        try set(["1", "2"], "s")
        try moveWhileOff("s", to: "last")
        #expect(try store("last", KeepingStore(vault, .delete, isQuiet: true)).remove(for: "a"))
        try set(["3"], "last", requiresUser: false)
        let item = try #require(
            try KeychainCatalog(store: vault, accessGroups: .unrestricted).items(matching: ItemFilter(service: "last"))
                .first)
        #expect(try KeptVersions(items: vault).versions(movedTo: item.id).isEmpty)
        #expect(try count("s") == 1)
    }
}
