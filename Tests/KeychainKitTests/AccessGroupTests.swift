// SPDX-License-Identifier: Apache-2.0
// Items of several access groups.

import Foundation
import KeychainKit
import KeychainTestSupport
import Testing

@Suite("Access groups")
struct AccessGroupTests {
    private static let accessGroups = AccessGroups(["app", "team", "family"])

    /// Stores over the same items: with no group named, and with each of the caller's.
    private struct Groups {
        let any, app, team, family: SecretStore
    }

    private func groups(_ kind: StoreKind) throws -> Groups {
        let items = try kind.empty()
        let stores = [nil, "app", "team", "family"].map {
            SecretStore(service: "one", accessGroup: $0, store: items, accessGroups: Self.accessGroups)
        }
        return Groups(any: stores[0], app: stores[1], team: stores[2], family: stores[3])
    }

    @Test(arguments: StoreKind.allCases) func item_savedWithoutAGroup_isInTheDefaultOne(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.any.save("s3cret", for: "alice")
        #expect(try groups.any.item(for: "alice")?.accessGroup == "app")
        #expect(try !groups.team.contains(for: "alice"))
    }

    @Test(arguments: StoreKind.allCases) func item_savedWithAGroup_isThereAlone(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.team.save("s3cret", for: "alice")
        #expect(try groups.team.item(for: "alice")?.accessGroup == "team")
        #expect(try !groups.app.contains(for: "alice"))
    }

    @Test(arguments: StoreKind.allCases) func item_ofAnyGroup_isFoundWithoutAGroup(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.team.save("s3cret", for: "alice")
        #expect(try groups.any.read(String.self, for: "alice") == "s3cret")
    }

    @Test(arguments: StoreKind.allCases) func item_ofAnotherGroupSavedWithoutAGroup_isChangedThere(kind: StoreKind)
        throws
    {
        let groups = try groups(kind)
        try groups.team.save("old", for: "alice")
        try groups.any.save("new", for: "alice")
        #expect(try groups.team.read(String.self, for: "alice") == "new")
        #expect(try !groups.app.contains(for: "alice"))
    }

    @Test(arguments: StoreKind.allCases) func item_ofAnotherGroupCreatedWithoutAGroup_isADuplicate(kind: StoreKind)
        throws
    {
        let groups = try groups(kind)
        try groups.team.save("old", for: "alice")
        #expect(reason { try groups.any.create("new", for: "alice") } == .duplicateItem)
        let inTransaction = reason {
            try groups.any.transaction { (transaction) -> Void in try transaction.create("new", for: "alice") }
        }
        #expect(inTransaction == .duplicateItem)
        #expect(try groups.any.read(String.self, for: "alice") == "old")
        #expect(try !groups.app.contains(for: "alice"))
    }

    @Test(arguments: StoreKind.allCases) func change_ofAnItemThatComesInAnotherGroup_runsAgain(kind: StoreKind)
        throws
    {
        let groups = try groups(kind)
        var runs = 0
        try groups.any.update(Int.self, for: "n") { value in
            runs += 1
            if runs == 1 { try groups.team.save(10, for: "n") }
            value = (value ?? 0) + 1
        }
        #expect(try groups.team.read(Int.self, for: "n") == 11)
        #expect(try !groups.app.contains(for: "n"))
    }

    @Test(arguments: StoreKind.allCases) func name_inSeveralGroups_meansTheDefaultOne(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.app.save("app", for: "alice")
        try groups.team.save("team", for: "alice")
        #expect(try groups.any.read(String.self, for: "alice") == "app")
        #expect(try groups.any.item(for: "alice")?.accessGroup == "app")
        try groups.any.save("new", for: "alice")
        #expect(try groups.app.read(String.self, for: "alice") == "new")
        #expect(try groups.team.read(String.self, for: "alice") == "team")
    }

    @Test(arguments: StoreKind.allCases) func name_inSeveralOtherGroups_isADuplicate(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.team.save("team", for: "alice")
        try groups.family.save("family", for: "alice")
        #expect(reason { try groups.any.read(String.self, for: "alice") } == .duplicateItem)
        #expect(reason { try groups.any.item(for: "alice") } == .duplicateItem)
        #expect(reason { try groups.any.save("new", for: "alice") } == .duplicateItem)
        #expect(reason { try groups.any.update(String.self, for: "alice") { $0 = "new" } } == .duplicateItem)
        #expect(try groups.team.read(String.self, for: "alice") == "team")
        #expect(try groups.family.read(String.self, for: "alice") == "family")
    }

    @Test(arguments: StoreKind.allCases) func remove_withoutAGroup_leavesNoItemOfTheName(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.app.save("app", for: "alice")
        try groups.team.save("team", for: "alice")
        #expect(try groups.any.remove(for: "alice"))
        #expect(try !groups.any.contains(for: "alice"))
    }

    @Test(arguments: StoreKind.allCases) func remove_withAGroup_leavesTheOthers(kind: StoreKind) throws {
        let groups = try groups(kind)
        try groups.app.save("app", for: "alice")
        try groups.team.save("team", for: "alice")
        #expect(try groups.team.remove(for: "alice"))
        #expect(try groups.any.item(for: "alice")?.accessGroup == "app")
    }

    @Test(arguments: StoreKind.allCases) func list_withAGroup_isOfThatGroup(kind: StoreKind) throws {
        let groups = try groups(kind)
        for store in [groups.app, groups.team, groups.family] { try store.save("s3cret", for: "alice") }
        #expect(try groups.any.items().count == 3)
        #expect(try groups.team.items().map(\.accessGroup) == ["team"])
        #expect(try groups.any.items(matching: ItemFilter(accessGroup: "team")).map(\.accessGroup) == ["team"])
        #expect(try groups.app.items(matching: ItemFilter(accessGroup: "team")).isEmpty)
    }

    @Test(arguments: StoreKind.allCases) func group_ofAnotherProgram_isRefused(kind: StoreKind) throws {
        let store = SecretStore(
            service: "one", accessGroup: "strangers", store: try kind.empty(), accessGroups: Self.accessGroups)
        #expect(reason { try store.save("s3cret", for: "alice") } == .missingEntitlement)
        #expect(reason { try store.read(String.self, for: "alice") } == .missingEntitlement)
        #expect(reason { try store.items() } == .missingEntitlement)
        #expect(reason { try store.removeAll() } == .missingEntitlement)
    }
}
