// SPDX-License-Identifier: Apache-2.0
// The bounds of the history by days, and the protection of versions, with a clock of the test.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainTestSupport
import KeychainVault
import Testing

@testable import keychainctl

@Suite("history, by days")
struct HistoryDaysTests {
    private let folder: TemporaryFolder
    private let vault: Vault

    init() throws {
        folder = try TemporaryFolder("keychainctl")
        let environment = ["HOME": folder.url.path, "KEYCHAIN_ANCHORS": "file"]
        vault = Vault.at(try .fromEnvironment(environment), try .fromEnvironment(environment))
    }

    /// The noon of a day in 2026.
    private func set(_ value: String, _ service: String = "s", day: Int, _ accessibility: Accessibility? = nil) throws {
        let now = Date(timeIntervalSince1970: 1_767_268_800 + Double(day) * 86400)
        let keeping = KeepingStore(vault, .set) { now }
        var store = SecretStore(service: service, store: keeping, accessGroups: .unrestricted)
        store.accessibility = accessibility
        try store.save(Data(value.utf8), for: "a")
    }

    private func services() throws -> [String?] {
        try KeptVersions(items: vault).all().map { $0.name.listed?.service }
    }

    @Test(arguments: [(30, ["old", "new"]), (31, ["new"]), (500, ["new"])])
    func versions_ofAnotherItem_areDroppedAfterTheDays(day: Int, left: [String]) throws {
        for value in ["1", "2"] { try set(value, "old", day: 0) }
        for value in ["1", "2"] { try set(value, "new", day: day) }
        #expect(try services() == left)
    }

    @Test(arguments: [(30, 2), (31, 1)])
    func versions_ofTheSameItem_areDroppedAfterTheDays(day: Int, count: Int) throws {
        for value in ["1", "2"] { try set(value, day: 0) }
        try set("3", day: day)
        #expect(try services().count == count)
    }

    @Test func versions_ofEachDay_areDroppedWhenTheirTimeIsOver() throws {
        for day in 0...3 { try set("\(day)", "\(day)", day: day) }
        for day in 0...3 { try set("more", "\(day)", day: day) }
        for (day, left) in [(31, 3), (33, 1), (34, 0)] {
            for value in ["x", "y"] { try set("\(value)\(day)", "late", day: day) }
            #expect(try services().count { $0 != "late" } == left)
        }
    }

    @Test func clock_thatIsPutBack_dropsNothing() throws {
        for (value, day) in [("1", 100), ("2", 100), ("3", 1), ("4", 2)] { try set(value, day: day) }
        #expect(try services().count == 3)
    }

    @Test func versions_afterTheDaysAreChanged_areDroppedByThese() throws {
        for value in ["1", "2"] { try set(value, "old", day: 0) }
        var settings = try HistorySettings.read(vault)
        settings.days = 2
        try vault.transaction(.none) { (items) throws(KeychainError) in
            try settings.write(items, at: Date(timeIntervalSince1970: 1_767_268_800))
        }
        for value in ["1", "2"] { try set(value, "new", day: 3) }
        #expect(try services() == ["new"])
    }

    // MARK: - Protection

    @Test(arguments: Accessibility.allCases)
    func version_ofAnItem_hasItsProtection(accessibility: Accessibility) throws {
        guard accessibility != .whenPasscodeSetThisDeviceOnly else { return }
        try set("1", day: 0, accessibility)
        try set("2", day: 0)
        #expect(try KeptVersions(items: vault).all().map(\.stored.item.accessControl) == [AccessControl(accessibility)])
    }

    @Test func versions_ofAnItemThatGetsABetterProtection_getItToo() throws {
        try set("1", day: 0, .always)
        try set("2", day: 0)
        try set("2", day: 0, .whenUnlockedThisDeviceOnly)
        let protections = try KeptVersions(items: vault).all().map(\.stored.item.accessControl)
        #expect(protections == Array(repeating: AccessControl(.whenUnlockedThisDeviceOnly), count: 2))
    }

    @Test func versions_ofAnItemThatGetsALesserProtection_keepTheirs() throws {
        try set("1", day: 0, .whenUnlocked)
        try set("2", day: 0)
        try set("3", day: 0, .always)
        let protections = try KeptVersions(items: vault).all().map(\.stored.item.accessControl)
        #expect(protections == Array(repeating: AccessControl(.whenUnlocked), count: 2))
    }

    @Test func version_ofASynchronizableItem_isNotSynchronizable() throws {
        let keeping = KeepingStore(vault, .set)
        var store = SecretStore(service: "s", store: keeping, accessGroups: .unrestricted)
        store.synchronizable = true
        for value in ["1", "2"] { try store.save(Data(value.utf8), for: "a") }
        let kept = try #require(try KeptVersions(items: vault).all().first)
        #expect(kept.stored.item.attributes[.synchronizable] == .number(0))
        #expect(kept.name.listed?.synchronizable == true)
    }

    @Test func version_ofAnItem_isFoundByItsNameWithoutReadingOthers() throws {
        for service in ["s", "t"] { for value in ["1", "2"] { try set(value, service, day: 0) } }
        let item = try #require(
            try KeychainCatalog(store: vault, accessGroups: .unrestricted).items(matching: ItemFilter(service: "t"))
                .first)
        #expect(try KeptVersions(items: vault).versions(of: KeptName(item)).map { $0.name.listed?.service } == ["t"])
    }
}
