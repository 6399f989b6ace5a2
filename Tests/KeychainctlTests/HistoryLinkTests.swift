// SPDX-License-Identifier: Apache-2.0
// What leads from former names to an item, where the versions require the user, so that only an index knows where they lead.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import KeychainVault
import SecretMemory
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

    /// - Parameter flags: What the item requires from then on.
    private func set(_ values: [String], _ service: String, _ flags: AccessControl.Flags) throws {
        var store = store(service, KeepingStore(vault, .set, isQuiet: true))
        store.accessControl = flags
        store.context?.setApplicationPassword(SecretBytes(text: "own"))
        for value in values { try store.save(Data(value.utf8), for: "a") }
    }

    /// As `keychainctl move` does.
    ///
    /// - Parameter flags: What the item requires.
    private func move(_ service: String, to target: String, _ flags: AccessControl.Flags = .userPresence) throws {
        let keeping = KeepingStore(vault, .move, isQuiet: true)
        let source = store(service, keeping)
        source.context?.setApplicationPassword(SecretBytes(text: "own"))
        var goal = store(target, keeping)
        (goal.context, goal.accessControl) = (source.context, flags)
        try source.transaction { transaction in
            let value = try #require(try transaction.read(Data.self, for: "a"))
            try transaction.in(goal).create(value, for: "a")
            transaction.remove(for: "a")
        }
    }

    private func moveWhileOff(
        _ service: String, to target: String, _ flags: AccessControl.Flags = .userPresence
    ) throws {
        try vault.switchHistory(on: false)
        try move(service, to: target, flags)
        try vault.switchHistory(on: true)
    }

    private func forget(_ service: String) throws {
        #expect(try store(service, KeepingStore(vault, .forget, isQuiet: true)).remove(for: "a"))
    }

    private func clear(_ service: String) throws {
        let item = try #require(
            try KeychainCatalog(store: vault, accessGroups: .unrestricted).items(matching: ItemFilter(service: service))
                .first)
        try vault.transaction(.none) { (items) throws(KeychainError) in
            _ = try KeptVersions(items: items).removeAll(of: KeptName(item), item.id)
        }
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

    // MARK: - Moves while the history is off, past versions that do not open

    /// What the item requires at first, and what it requires when it is moved.
    private static let requirements: [(first: AccessControl.Flags, last: AccessControl.Flags)] = [
        (.userPresence, []), (.applicationPassword, .applicationPassword), (.applicationPassword, []),
    ]

    @Test(arguments: requirements)
    func forgottenItem_whoseVersionsRequireMoreThanItsMove_leavesNone(
        first: AccessControl.Flags, last: AccessControl.Flags
    ) throws {
        try set(["1", "2"], "s", first)
        try set(["2"], "s", last)
        try moveWhileOff("s", to: "last", last)
        try forget("last")
        #expect(try KeptVersions(items: vault).all().isEmpty)
    }

    @Test func forgottenItem_movedTwicePastVersionsThatRequireTheUser_leavesNone() throws {
        try set(["1", "2"], "s")
        try set(["2"], "s", [])
        try moveWhileOff("s", to: "next", [])
        try moveWhileOff("next", to: "last", [])
        try forget("last")
        #expect(try KeptVersions(items: vault).all().isEmpty)
    }

    /// The requirement ended while nothing was kept, so nothing is kept under the second name.
    @Test func forgottenItem_whoseFormerLinkRequiresTheUser_leavesNoVersions() throws {
        try set(["1", "2"], "s")
        try move("s", to: "next")
        try vault.switchHistory(on: false)
        try set(["2"], "next", [])
        try moveWhileOff("next", to: "last", [])
        try forget("last")
        #expect(try KeptVersions(items: vault).all().isEmpty)
    }

    @Test func forgottenItem_thatWasMovedPastVersionsThatRequireTheUser_leavesThoseOfALaterItem() throws {
        try set(["1", "2"], "s")
        try set(["2"], "s", [])
        try moveWhileOff("s", to: "last", [])
        try set(["3", "4"], "s", requiresUser: false)
        try forget("last")
        #expect(try count("s") == 1)
    }

    /// Two versions, and what leads from them to the item.
    @Test func versionsThatRequireTheUser_whenALaterItemOfTheNameIsForgotten_stay() throws {
        try set(["1", "2"], "s")
        try set(["2"], "s", [])
        try moveWhileOff("s", to: "last", [])
        try set(["3", "4"], "s", requiresUser: false)
        try forget("s")
        #expect(try count("s") == 3)
    }

    /// A move that is kept requires the user like the item, so that it does not show where it leads.
    @Test(arguments: [["first"], ["first", "second"]])
    func versionsOfAMovedItemThatRequiresTheUser_whenALaterItemOfTheNameIsForgotten_stay(names: [String]) throws {
        try set(["1", "2"], "s")
        for (name, next) in zip(["s"] + names, names) { try move(name, to: next) }
        try set(["3", "4"], "s", requiresUser: false)
        try forget("s")
        #expect(try count("s") == 2)
    }

    @Test func versionsOfAMovedItemThatRequiresTheUser_whenThoseOfALaterItemOfTheNameAreCleared_stay() throws {
        try set(["1", "2"], "s")
        try move("s", to: "first")
        try set(["3", "4"], "s", requiresUser: false)
        try clear("s")
        #expect(try count("s") == 2)
    }

    /// The later item of the name leaves no version either.
    @Test func forgottenItem_thatRequiresTheUser_leavesThoseOfALaterItemOfItsFormerNames() throws {
        try set(["1", "2"], "s")
        try move("s", to: "first")
        try set(["3", "4"], "s")
        try move("s", to: "second")
        try set(["5", "6"], "s", requiresUser: false)
        try forget("second")
        #expect(try count("s") == 3)
        try forget("s")
        #expect(try count("s") == 2)
        try forget("first")
        #expect(try KeptVersions(items: vault).all().isEmpty)
    }

    /// What is there now is not what the item was moved to, and still has its history.
    @Test func versionsOfAMovedItem_thatWasDeletedAndAddedAgain_stayWhenALaterItemOfTheNameIsForgotten() throws {
        try set(["1", "2"], "s", requiresUser: false)
        try move("s", to: "first", [])
        #expect(try store("first", KeepingStore(vault, .delete, isQuiet: true)).remove(for: "a"))
        try set(["3"], "first", requiresUser: false)
        try set(["4", "5"], "s", requiresUser: false)
        try forget("s")
        #expect(try count("s") == 2)
        try forget("first")
        #expect(try KeptVersions(items: vault).all().isEmpty)
    }

    @Test func version_ofADeletedItem_requiresTheUserOnceOneIsAddedThatDoes() throws {
        try set(["1"], "s", requiresUser: false)
        #expect(try store("s", KeepingStore(vault, .delete, isQuiet: true)).remove(for: "a"))
        try set(["2"], "s")
        #expect(try KeptVersions(items: vault).all().map(\.stored.item.accessControl.needs) == [.user])
    }

    @Test func version_ofADeletedItemThatWasMoved_requiresTheUserOnceOneIsAddedThatDoes() throws {
        try set(["1"], "s", requiresUser: false)
        try move("s", to: "last", [])
        #expect(try store("last", KeepingStore(vault, .delete, isQuiet: true)).remove(for: "a"))
        try set(["2"], "last")
        #expect(try KeptVersions(items: vault).all().map(\.stored.item.accessControl.needs) == [.user, .user])
    }

    @Test func forgottenItem_thatWasDeletedAndAddedAgainWhileTheHistoryWasOff_leavesNoVersions() throws {
        try set(["1", "2"], "s", requiresUser: false)
        #expect(try store("s", KeepingStore(vault, .delete, isQuiet: true)).remove(for: "a"))
        try vault.switchHistory(on: false)
        try set(["2"], "s", requiresUser: false)
        try moveWhileOff("s", to: "last", [])
        try forget("last")
        #expect(try count("s") == 0)
    }

    /// The first item is still there under another name.
    @Test func forgottenItem_thatHadTheNameOfOneThatWasMoved_leavesTheVersionsOfThatOne() throws {
        try set(["1", "2"], "s", requiresUser: false)
        try move("s", to: "first", [])
        try set(["3", "4"], "s", requiresUser: false)
        try move("s", to: "second", [])
        try forget("second")
        #expect(try count("s") == 2)
    }

    @Test func moveThatOnlyLeadsFromVersions_isNotUndone() throws {
        try set(["1", "2"], "s")
        try set(["2"], "s", [])
        try moveWhileOff("s", to: "last", [])
        let link = try #require(try KeptVersions(items: vault).all().last)
        try #require(link.isBareLink)
        let history = ItemHistory(
            name: link.name, current: nil, versions: try KeptVersions(items: vault).versions(of: link.name), former: [])
        #expect(try history.version(nil).number == link.number - 1)
        #expect(throws: KeychainError.self) { _ = try history.version(link.number) }
    }

    @Test func moveWhileVersionsAreLocked_saysThatTheyStay() throws {
        var store = store("s", KeepingStore(vault, .set, isQuiet: true), requiresUser: false)
        for accessibility in [Accessibility.whenUnlocked, .always] {
            store.accessibility = accessibility
            try store.save(Data("1".utf8), for: "a")
        }
        try vault.switchHistory(on: false)
        try place.setLockState(.locked)
        let notes = try vault.transaction(.none) { (items) throws(KeychainError) in
            let keeping = KeepingOperations(items, .move, .none, at: Date())
            keeping.target = UUID()
            _ = try keeping.delete(
                Selection(itemClass: .genericPassword, conditions: [.service: .string("s")]), .none)
            return keeping.notes
        }
        #expect(notes.contains { $0.contains("history --clear") })
    }
}
