// SPDX-License-Identifier: Apache-2.0
// The bounds of the history by days, with a clock that is set.

import Foundation
import KeychainEngine
import KeychainKit
import KeychainVault
import Testing

@testable import keychainctl

@Suite("history, with a clock that is set")
struct HistoryClockTests {
    private let dated: DatedVault
    private var vault: Vault { dated.vault }

    init() throws { dated = try DatedVault() }

    // MARK: - In a vault

    private func count(_ service: String) throws -> Int { try dated.services().count { $0 == service } }

    @Test func deletedItem_whileTheClockWasBehind_isKeptOnceItIsRight() throws {
        for value in ["1", "2"] { try dated.set(value, "other", day: 60) }
        try dated.set("1", "s", day: 60)
        #expect(try dated.store("s", day: 0, .delete).remove(for: "a"))
        for day in 60...61 { try dated.set("more \(day)", "other", day: day) }
        #expect(try count("s") == 1)
    }

    @Test(arguments: ["s", "other"])
    func versions_afterOneChangeWithAClockAhead_areKept(changed: String) throws {
        for service in ["s", "other"] { for value in ["1", "2"] { try dated.set(value, service, day: 0) } }
        try dated.set("3", changed, day: 60)
        try dated.set("4", changed, day: 0)
        #expect(try count("s") == (changed == "s" ? 3 : 1))
        #expect(try count("other") == (changed == "other" ? 3 : 1))
    }

    @Test(arguments: [(90, 1), (91, 0)])
    func versions_fromBeforeALongPause_areDroppedTheDaysAfterIt(day: Int, left: Int) throws {
        for value in ["1", "2"] { try dated.set(value, "s", day: 0) }
        try dated.set("first", "other", day: 0)
        for day in 60...day { try dated.set("\(day)", "other", day: day) }
        #expect(try count("s") == left)
    }

    @Test(arguments: [(36, 1), (39, 0)])
    func deletedItem_whileTheClockWasAhead_isDroppedTheDaysAfterItIsRight(day: Int, left: Int) throws {
        for service in ["s", "other"] { try dated.set("1", service, day: 0) }
        #expect(try dated.store("s", day: 20_000, .delete).remove(for: "a"))
        for day in stride(from: 3, through: day, by: 3) { try dated.set("\(day)", "other", day: day) }
        #expect(try count("s") == left)
    }

    // MARK: - Links to former names

    /// As `keychainctl move` does.
    private func move(_ service: String, to target: String, day: Int) throws {
        let keeping = dated.store(day: day, .move)
        let (source, goal) = (
            SecretStore(service: service, store: keeping, accessGroups: .unrestricted),
            SecretStore(service: target, store: keeping, accessGroups: .unrestricted)
        )
        try source.transaction { transaction in
            let value = try #require(try transaction.read(Data.self, for: "a"))
            try transaction.in(goal).create(value, for: "a")
            transaction.remove(for: "a")
        }
    }

    @Test(arguments: [[], ["next"]])
    func forgottenItem_whoseMoveIsTooOldBeforeWhatItLedTo_leavesNoVersions(others: [String]) throws {
        for (value, day) in [("1", 0), ("2", 20), ("3", 21)] { try dated.set(value, "s", day: day) }
        var name = "s"
        for next in others + ["last"] {
            try move(name, to: next, day: 1)
            name = next
        }
        for day in 1...33 { try dated.set("\(day)", "other", day: day) }
        #expect(try dated.store("last", day: 33, .forget).remove(for: "a"))
        for service in ["s", "next", "last"] { #expect(try count(service) == 0) }
    }

    /// The move to `next` is dropped by the days, and the ones before lead to `last` then.
    @Test func versionsUnderTheFirstName_whenALaterMoveIsTooOld_areFoundByTheLastName() throws {
        for value in ["1", "2"] { try dated.set(value, "s", day: 20) }
        try move("s", to: "next", day: 21)
        try move("next", to: "last", day: 1)
        for day in 1...33 { try dated.set("\(day)", "other", day: day) }
        #expect(try (count("s"), count("next")) == (2, 0))
        #expect(try dated.store("last", day: 33, .forget).remove(for: "a"))
        #expect(try count("s") == 0)
    }

    // MARK: - By numbers

    /// The first day whose versions are kept for 30 days, after changes on these days.
    private func firstKept(_ days: [Int]) -> Int? {
        var settings = HistorySettings.standard
        for day in days { _ = settings.pass(to: day) }
        return days.last.map { settings.firstKeptDay(on: $0) }
    }

    @Test func changesOfEachDay_leaveNoMoreThanTheDays() { #expect(firstKept(Array(0...100)) == 70) }

    @Test func changesOfEachTenthDay_leaveTenDaysMore() {
        #expect(firstKept(Array(stride(from: 0, through: 100, by: 10))) == 60)
    }

    @Test(arguments: [([100, 160], 70), ([100, 160, 100], 70), ([60, 0, 60], -30), ([60, 0, 60, 59, 60], -29)])
    func clock_thatIsSet_endsNothingOfTheDaysBefore(days: [Int], first: Int) { #expect(firstKept(days) == first) }

    @Test(arguments: [(90, 0), (91, 61)])
    func pause_countsAgainAfterTheDays(day: Int, first: Int) { #expect(firstKept([0] + Array(60...day)) == first) }

    /// It may be a step of the clock too.
    @Test(arguments: [(55, 0), (56, 6)])
    func shorterPause_afterALongerOneThatCountsAgain_isNotCounted(day: Int, first: Int) {
        #expect(firstKept([0] + Array(25...30) + Array(50...day)) == first)
    }

    @Test func pauses_thatDoNotDecide_areForgotten() {
        var settings = HistorySettings.standard
        for day in [0, 10, 15, 40, 45, 60] { _ = settings.pass(to: day) }
        #expect(settings.pauses == [Pause(end: 40, days: 25), Pause(end: 60, days: 15)])
        for day in 61...91 { _ = settings.pass(to: day) }
        #expect(settings.pauses == nil)
    }

    @Test func daysThatHaveBecomeTooOld_followOnEachOther() {
        var (settings, ended) = (HistorySettings.standard, [Int]())
        for day in [0, 60] + Array(61...100) { ended += Array(settings.pass(to: day) ?? 0..<0) }
        #expect(ended == Array(-30..<70))
    }

    /// The days to come whose versions become too old by changes on these days.
    private func endedAhead(_ days: [Int]) -> [ClosedRange<Int>] {
        var settings = HistorySettings.standard
        return days.compactMap { day in
            _ = settings.pass(to: day)
            return settings.takeDaysAhead(on: day)
        }
    }

    @Test(arguments: [
        ([0, 20_000] + Array(1...31), []), ([0, 20_000] + Array(1...32), [33...20_000]),
        ([0, 30_000, 20_000] + Array(1...32), [33...30_000]),
        ([0, 20_000] + Array(1...20) + [300] + Array(20...50), [301...20_000]),
        ([0, 20_000] + Array(1...20) + [300] + Array(20...51), [301...20_000, 52...300]),
    ])
    func daysToCome_afterTheClockWasAhead_endOnceTheDaysAreOver(days: [Int], ended: [ClosedRange<Int>]) {
        #expect(endedAhead(days) == ended)
    }

    @Test func daysToCome_whileTheClockWasBehind_areForgottenOnceItIsRight() {
        #expect(endedAhead([60, 0] + Array(60...200)).isEmpty)
        #expect(endedAhead([60, -1000, 60, 30] + Array(61...200)).isEmpty)
    }

    /// The settings are read from the vault, so any number can be there.
    @Test(arguments: [Int.min, -1, 19_499])
    func days_sinceAChangeOfLongAgo_areTooManyToGoThroughOnceTheyCount(swept: Int) {
        var settings = HistorySettings.standard
        settings.swept = swept
        let results = (20_000...20_031).map { settings.pass(to: $0) }
        #expect(results.first == .some(0..<0))
        #expect(results.last == .some(nil))
    }
}
