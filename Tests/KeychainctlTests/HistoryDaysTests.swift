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
    private let dated: DatedVault
    private var vault: Vault { dated.vault }

    init() throws { dated = try DatedVault() }

    private func services() throws -> [String?] { try dated.services().filter { $0 != "daily" } }

    /// A change on each of these days, so that none of them is a pause.
    private func use(_ days: ClosedRange<Int>) throws {
        for day in days { try dated.set("\(day)", "daily", day: day) }
    }

    @Test(arguments: [(30, ["old", "new"]), (31, ["new"])])
    func versions_ofAnotherItem_areDroppedAfterTheDays(day: Int, left: [String]) throws {
        for value in ["1", "2"] { try dated.set(value, "old", day: 0) }
        try use(0...day)
        for value in ["1", "2"] { try dated.set(value, "new", day: day) }
        #expect(try services() == left)
    }

    @Test(arguments: [(30, 2), (31, 1)])
    func versions_ofTheSameItem_areDroppedAfterTheDays(day: Int, count: Int) throws {
        for value in ["1", "2"] { try dated.set(value, day: 0) }
        try use(0...day)
        try dated.set("3", day: day)
        #expect(try services().count == count)
    }

    @Test func versions_ofEachDay_areDroppedWhenTheirTimeIsOver() throws {
        for day in 0...3 { try dated.set("\(day)", "\(day)", day: day) }
        for day in 0...3 { try dated.set("more", "\(day)", day: day) }
        try use(3...30)
        for (day, left) in [(31, 3), (32, 2), (33, 1), (34, 0)] {
            for value in ["x", "y"] { try dated.set("\(value)\(day)", "late", day: day) }
            #expect(try services().count { $0 != "late" } == left)
        }
    }

    @Test func clock_thatIsPutBack_dropsNothing() throws {
        for (value, day) in [("1", 100), ("2", 100), ("3", 1), ("4", 2)] { try dated.set(value, day: day) }
        #expect(try services().count == 3)
    }

    @Test func version_ofAChangeAfterTheClockWasPutBack_isTheLast() throws {
        for (value, day) in [("1", 10), ("2", 10), ("3", 9)] { try dated.set(value, day: day) }
        #expect(try KeptVersions(items: vault).all().map(\.number) == [1, 2])
    }

    @Test func versions_beyondTheNumber_areTheFirstOnesAfterTheClockWasPutBack() throws {
        for value in 0...10 { try dated.set("\(value)", day: 10) }
        for value in 11...12 { try dated.set("\(value)", day: 9) }
        #expect(try KeptVersions(items: vault).all().map(\.number) == Array(3...12))
    }

    @Test(arguments: [(30, ["old", "new", "ahead"]), (31, ["new"])])
    func versions_afterAClockThatWasFarAhead_areDroppedAfterTheDays(day: Int, left: [String]) throws {
        for value in ["1", "2"] { try dated.set(value, "ahead", day: 4000) }
        for value in ["1", "2"] { try dated.set(value, "old", day: 0) }
        try use(0...day)
        for value in ["1", "2"] { try dated.set(value, "new", day: day) }
        #expect(try services() == left)
    }

    /// As if the settings had been damaged: they do not tell of the clock.
    @Test func versionOfADayToCome_whenSettingsAreApplied_isNotedOnce() throws {
        for value in ["1", "2"] { try dated.set(value, "ahead", day: 4000) }
        var settings = HistorySettings.standard
        for day in 0...1 {
            try vault.transaction(.none) { (items) throws(KeychainError) in
                let now = DatedVault.noon(day)
                let left = try KeptVersions(items: items).apply(&settings, at: now)
                #expect(left == 1)
            }
        }
        #expect(settings.setbacks == [ClockSetback(end: 24_454, since: 20_454)])
        #expect(try HistorySettings.read(vault) == settings)
    }

    /// The item was moved before the clock was put back, and another had the name before.
    @Test(arguments: [(true, "own"), (false, "moved")])
    func newestVersion_ofAMovedItem_isItsLastChangeWhateverTheClock(hasChanged: Bool, command: String) throws {
        try dated.set("1", day: 0)
        let item = try #require(
            try KeychainCatalog(store: vault, accessGroups: .unrestricted).items(matching: ItemFilter(service: "s"))
                .first)
        let versions =
            [version("other", of: UUID(), day: 9)] + (hasChanged ? [version("own", of: item.id, day: 1)] : [])
        let former = [version("moved", of: UUID(), day: 5)]
        let history = ItemHistory(name: KeptName(item), current: item, versions: versions, former: former)
        #expect(try history.version(nil).command == command)
    }

    private func version(_ command: String, of original: UUID, day: Int) -> KeptVersion {
        var attributes = Attributes()
        if command == "moved" { attributes[.generic] = .data(UUID().data) }
        let item = Item(
            itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(.always), value: nil)
        return KeptVersion(
            number: 1, date: Date(timeIntervalSince1970: Double(day) * 86400), command: command, original: original,
            deeds: [command == "moved" ? command : "value"], size: 0, name: KeptName(item),
            stored: StoredItem(id: UUID(), version: 1, item: item))
    }

    /// The newest first. The clock was ahead when the item was changed for the first time.
    @Test func versions_beforeOneThatIsTooOld_areTooOldToo() {
        let versions = [("third", 40), ("second", 1), ("first", 39)].map { version($0, of: UUID(), day: $1) }
        let excess = HistorySettings.standard.excess(versions, at: Date(timeIntervalSince1970: 40 * 86400))
        #expect(excess.map(\.command) == ["second", "first"])
    }

    @Test func versions_afterTheDaysAreChanged_areDroppedByThese() throws {
        for value in ["1", "2"] { try dated.set(value, "old", day: 0) }
        var settings = try HistorySettings.read(vault)
        settings.days = 2
        try vault.transaction(.none) { (items) throws(KeychainError) in
            try settings.write(items, at: DatedVault.noon(0))
        }
        try use(0...3)
        for value in ["1", "2"] { try dated.set(value, "new", day: 3) }
        #expect(try services() == ["new"])
    }

    @Test(arguments: [
        HistorySettings(versions: 0), HistorySettings(versions: 1001), HistorySettings(days: 0),
        HistorySettings(days: .min), HistorySettings(size: 0), HistorySettings(size: .max),
        HistorySettings(pauses: [Pause(end: .max, days: 2)]), HistorySettings(pauses: [Pause(end: 0, days: .min)]),
        HistorySettings(setbacks: [ClockSetback(end: .max, since: 0)]),
        HistorySettings(setbacks: [ClockSetback(end: 1, since: 1)]),
    ])
    func settings_thatAreImpossible_areAnErrorUntilTheyAreSetAgain(settings: HistorySettings) throws {
        try dated.set("1", day: 0)
        let date = DatedVault.noon(0)
        try vault.transaction(.none) { (items) throws(KeychainError) in try settings.write(items, at: date) }
        let failure = #expect(throws: KeychainError.self) { try dated.set("2", day: 0) }
        #expect(failure?.reason == .corrupt)
        try vault.transaction(.none) { (items) throws(KeychainError) in
            #expect(try HistorySettings.readOrStandard(items) == .standard)
            try HistorySettings.standard.write(items, at: date)
        }
        try dated.set("2", day: 0)
        #expect(try services() == ["s"])
    }

    /// Work, not time: `set` beside 10,000 versions is as fast as beside none.
    @Test func change_besideVersionsOfOtherItems_readsNoMore() throws {
        for value in ["1", "2", "3"] { try dated.set(value, day: 0) }
        let before = try itemsRead()
        for number in 0..<20 { for value in ["1", "2"] { try dated.set(value, "other \(number)", day: 0) } }
        #expect(try KeptVersions(items: vault).all().count == 22)
        #expect(try itemsRead() == before)
    }

    /// How many items a change of the item `s` reads, which does not happen then.
    private func itemsRead() throws -> Int {
        var count = 0
        let name: Attributes = [.service: .string("s"), .account: .string("a")]
        let selection = Selection(itemClass: .genericPassword, conditions: name, groups: ["default"])
        #expect(throws: KeychainError.self) {
            try vault.transaction(.none) { (items) throws(KeychainError) in
                let counted = CountedItems(items)
                let now = DatedVault.noon(0)
                let keeping = KeepingOperations(counted, .set, .none, at: now)
                _ = try keeping.update(selection, .none) { stored in
                    var item = stored.item
                    item.value = Data("new".utf8)
                    return item
                }
                count = counted.count
                throw KeychainError(.cancelled, "Nothing is to be changed.")
            }
        }
        try #require(count > 0)
        return count
    }

    // MARK: - Protection

    /// The proof that a command has asked for is needed again to read what it replaced.
    @Test(arguments: [ChangingCommand.edit, .move])
    func version_ofAnItemThatRequiresTheUser_requiresTheUserToo(command: ChangingCommand) throws {
        let place = try LockableVault(passphrase: "several words")
        let person = Person(passphrase: "several words")
        var store = SecretStore(
            service: "s", accessControl: .userPresence, store: KeepingStore(place.vault, command),
            accessGroups: .unrestricted)
        store.context = AuthenticationContext { person }
        for value in ["one", "two"] { try store.save(Data(value.utf8), for: "a") }
        let version = try #require(try KeptVersions(items: place.vault).all().first)
        #expect((version.number, version.size, version.command) == (1, 3, command.rawValue))
        #expect(version.stored.item.value == nil)
        let nobody = Authorization(AuthenticationContext { Person(failing: .cancelled) })
        #expect(throws: KeychainError.self) {
            try KeptVersions(items: place.vault, authorization: nobody).complete(version)
        }
        let asked = Authorization(AuthenticationContext { person })
        let complete = try KeptVersions(items: place.vault, authorization: asked).complete(version)
        #expect(complete.stored.item.value == Data("one".utf8))
        #expect(!complete.stored.item.accessControl.needs.isEmpty)
    }

    @Test(arguments: Accessibility.allCases)
    func version_ofAnItem_hasItsProtection(accessibility: Accessibility) throws {
        guard accessibility != .whenPasscodeSetThisDeviceOnly else { return }
        try dated.set("1", day: 0, accessibility)
        try dated.set("2", day: 0)
        #expect(try KeptVersions(items: vault).all().map(\.stored.item.accessControl) == [AccessControl(accessibility)])
    }

    @Test func versions_ofAnItemThatGetsABetterProtection_getItToo() throws {
        try dated.set("1", day: 0, .always)
        try dated.set("2", day: 0)
        try dated.set("2", day: 0, .whenUnlockedThisDeviceOnly)
        let protections = try KeptVersions(items: vault).all().map(\.stored.item.accessControl)
        #expect(protections == Array(repeating: AccessControl(.whenUnlockedThisDeviceOnly), count: 2))
    }

    @Test func versions_ofAnItemThatBeginsToRequireTheUser_requireTheUserToo() throws {
        let place = try LockableVault(passphrase: "several words")
        var store = SecretStore(service: "s", store: KeepingStore(place.vault, .set), accessGroups: .unrestricted)
        for value in ["one", "two"] { try store.save(Data(value.utf8), for: "a") }
        store.accessControl = .userPresence
        try store.save(Data("two".utf8), for: "a")
        let protections = try KeptVersions(items: place.vault).all().map(\.stored.item.accessControl.needs)
        #expect(protections == [.user, .user])
    }

    @Test func versions_thatRequireTheUser_getABetterAccessibilityToo() throws {
        let place = try LockableVault(passphrase: "several words")
        let person = Person(passphrase: "several words")
        var store = SecretStore(service: "s", store: KeepingStore(place.vault, .set), accessGroups: .unrestricted)
        (store.accessibility, store.accessControl) = (.always, .userPresence)
        store.context = AuthenticationContext { person }
        for value in ["one", "two"] { try store.save(Data(value.utf8), for: "a") }
        store.accessibility = .whenUnlocked
        try store.save(Data("two".utf8), for: "a")
        let protections = try KeptVersions(items: place.vault).all().map(\.stored.item.accessControl.accessibility)
        #expect(protections == [.whenUnlocked, .whenUnlocked])
    }

    private static let pairs: [(own: AccessControl.Flags, other: AccessControl.Flags)] = [
        ([.userPresence], [.userPresence, .applicationPassword]), ([.applicationPassword], [.devicePasscode]),
        ([.biometryAny, .or, .devicePasscode], [.applicationPassword]), ([], [.userPresence]),
    ]

    @Test(arguments: pairs)
    func protection_strengthenedByAnother_needsWhatBothNeed(own: AccessControl.Flags, other: AccessControl.Flags) throws
    {
        let (own, other) = (try AccessControl(.always, flags: own), try AccessControl(.always, flags: other))
        #expect(try own.strengthened(by: other).needs == own.needs.union(other.needs))
    }

    @Test func versions_whileTheHistoryIsOff_getABetterProtectionToo() throws {
        for value in ["1", "2"] { try dated.set(value, day: 0, .always) }
        try vault.switchHistory(on: false)
        try dated.set("2", day: 0, .whenUnlocked)
        let protections = try KeptVersions(items: vault).all().map(\.stored.item.accessControl)
        #expect(protections == [AccessControl(.whenUnlocked)])
    }

    @Test func versions_ofAnItemThatIsMovedWhileTheHistoryIsOff_getItsBetterProtectionToo() throws {
        for value in ["1", "2"] { try dated.set(value, day: 0, .always) }
        try vault.switchHistory(on: false)
        let keeping = dated.store(day: 0, .move)
        func store(_ service: String) -> SecretStore {
            SecretStore(service: service, store: keeping, accessGroups: .unrestricted)
        }
        #expect(try store("s").move(to: store("moved")) == 1)
        try dated.set("2", "moved", day: 0, .whenUnlocked)
        let protections = try KeptVersions(items: vault).all().map(\.stored.item.accessControl)
        #expect(protections == [AccessControl(.whenUnlocked)])
    }

    @Test func version_ofAValueThatABetterProtectedOneReplaces_hasItsProtection() throws {
        try dated.set("1", day: 0, .always)
        try dated.set("2", day: 0, .whenUnlocked)
        let protections = try KeptVersions(items: vault).all().map(\.stored.item.accessControl)
        #expect(protections == [AccessControl(.whenUnlocked)])
    }

    @Test func versions_ofAnItemThatGetsALesserProtection_keepTheirs() throws {
        try dated.set("1", day: 0, .whenUnlocked)
        try dated.set("2", day: 0)
        try dated.set("3", day: 0, .always)
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
        for service in ["s", "t"] { for value in ["1", "2"] { try dated.set(value, service, day: 0) } }
        let item = try #require(
            try KeychainCatalog(store: vault, accessGroups: .unrestricted).items(matching: ItemFilter(service: "t"))
                .first)
        #expect(try KeptVersions(items: vault).versions(of: KeptName(item)).map { $0.name.listed?.service } == ["t"])
    }
}

/// Operations that count the items that they return.
private final class CountedItems: ItemOperations {
    private let items: any ItemOperations
    private(set) var count = 0

    init(_ items: any ItemOperations) { self.items = items }

    func select(
        _ selection: Selection, limit: Int?, includingValues: Bool, _ authorization: Authorization
    ) throws(KeychainError) -> SelectedItems {
        let found = try items.select(selection, limit: limit, includingValues: includingValues, authorization)
        count += found.items.count
        return found
    }

    func insert(_ item: Item, _ authorization: Authorization) throws(KeychainError) -> StoredItem {
        try items.insert(item, authorization)
    }

    func update(
        _ selection: Selection, _ authorization: Authorization, _ change: (StoredItem) throws(KeychainError) -> Item
    ) throws(KeychainError) -> SelectedItems {
        let found = try items.update(selection, authorization, change)
        count += found.items.count
        return found
    }

    func delete(_ selection: Selection, _ authorization: Authorization) throws(KeychainError) -> Int {
        let deleted = try items.delete(selection, authorization)
        count += deleted
        return deleted
    }
}
