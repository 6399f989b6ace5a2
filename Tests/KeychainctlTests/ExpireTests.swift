// SPDX-License-Identifier: Apache-2.0
// Expiry dates of items.

import Foundation
import Testing

@Suite("expire")
struct ExpireTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func expire(_ date: String) throws {
        try tool.must("\"$CTL\" expire \(date) -s example.com -a alice")
    }

    private func expiry() throws -> String? { try tool.listed().first?["expires"] as? String }

    @Test(arguments: [
        ("2027-01-01", "2027-01-01T00:00:00.000Z"), ("2027-01-01T12:30:00Z", "2027-01-01T12:30:00.000Z"),
        ("2028-02-29", "2028-02-29T00:00:00.000Z"), ("2027-03-01T01:30:00.5+02:00", "2027-02-28T23:30:00.500Z"),
    ])
    func expire_withADate_setsIt(date: String, shown: String) throws {
        try tool.store()
        try expire(date)
        #expect(try expiry() == shown)
        #expect(try tool.get() == secret)
    }

    @Test(arguments: [
        "2027-02-29", "2027-02-30", "2027-04-31", "2027-13-01", "2027-00-10", "2027-01-00", "1900-02-29",
        "2027-02-29T12:00:00Z", "2027-02-28T25:00:00Z", "2027-01-01T24:00:00Z", "2027-01-01T12:60:00Z",
        "2027-01-01T12:00:60Z", "2027-02-29T12:00:00+02:00", "2027-01-01T12:00:00+25:00", "2027-01-01T12:00:00+02:99",
        "2027-01-01T12:00:00Zulu", "2027-01-01T12:00:00+02:00.5", "2027-01-01T12:00:00", "2027-1-1T12:00:00Z",
    ])
    func expire_withADateThatDoesNotExist_isUsageAndSetsNone(date: String) throws {
        try tool.store()
        #expect(try tool.run("expire", date, "-s", "example.com").status == 64)
        #expect(try expiry() == nil)
    }

    @Test(arguments: ["2027-02-30", "2027-13-01", "2027-02-30T12:00:00Z"])
    func expire_withADayThatDoesNotExist_saysSo(date: String) throws {
        try tool.store()
        let run = try tool.run("expire", date, "-s", "example.com")
        #expect(run.status == 64, "\(run.errors)")
        #expect(run.errors.contains("There is no day \(date.prefix(10)) in the calendar"), "\(run.errors)")
        #expect(!run.errors.contains("could be a year"), "\(run.errors)")
    }

    /// The day exists, the time does not.
    @Test func expire_withATimeThatDoesNotExist_namesTheForms() throws {
        try tool.store()
        let run = try tool.run("expire", "2027-02-28T25:00:00Z", "-s", "example.com")
        #expect(run.status == 64 && run.errors.contains("could be a year"), "\(run.errors)")
    }

    @Test func expire_withATimeFromNow_setsTheDate() throws {
        try tool.store()
        try expire("2d")
        let shown = try #require(try expiry())
        let date = try Date(shown, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let hours = date.timeIntervalSinceNow / 3600
        #expect(hours > 47 && hours <= 48)
    }

    @Test(arguments: ["5", "2027", "5w", "tomorrow", "d"])
    func expire_withWhatIsNoDate_isUsageAndNamesTheForms(date: String) throws {
        try tool.store()
        let run = try tool.run("expire", date, "-s", "example.com", "-a", "alice")
        #expect(run.status == 64)
        for words in ["2027-01-01T12:00:00Z", "seconds (90s)", "minutes (15m)", "days (90d)", "could be a year"] {
            #expect(run.errors.contains(words), "\(run.errors)")
        }
        #expect(try expiry() == nil)
    }

    @Test func expire_never_removesTheDate() throws {
        try tool.store()
        try expire("90d")
        try expire("--never")
        #expect(try expiry() == nil)
    }

    @Test func expire_ofWhatIsNotThere_isNotFound() throws {
        #expect(try tool.run("expire", "90d", "-s", "s").status == 3)
    }

    @Test func get_ofAnExpiredItem_warnsAndWritesTheValue() throws {
        try tool.store()
        try expire("2020-01-01")
        let run = try tool.run("get", "-s", "example.com")
        #expect(run.status == 0)
        #expect(run.output == secret)
        #expect(run.errors.contains("expired"))
    }

    @Test func get_ofAnItemThatExpiresLater_isSilent() throws {
        try tool.store()
        try expire("90d")
        #expect(try tool.run("get", "-s", "example.com").errors.isEmpty)
    }

    @Test func run_withAnExpiredValue_warnsWithoutTheReference() throws {
        try tool.store()
        try expire("2020-01-01")
        let run = try tool.shell("\"$CTL\" run --env T=keychain://example.com/alice -- printenv T")
        #expect(run.text == "correct horse\n")
        #expect(run.errors.contains("expired"))
        #expect(!run.errors.contains("example.com"))
    }

    @Test func list_ofItemsWithoutDates_hasNoColumnForThem() throws {
        try tool.store()
        #expect(try !tool.run("list").text.contains("EXPIRES"))
        try expire("2027-01-01")
        #expect(try tool.run("list").text.contains("2027-01-01T00:00:00Z"))
    }

    @Test func list_ofExpiredItems_showsThese() throws {
        for (account, date) in [("old", "2020-01-01"), ("soon", "5d"), ("later", "90d")] {
            try tool.store(account: account)
            try tool.must("\"$CTL\" expire \(date) -s example.com -a \(account)")
        }
        try tool.store(account: "never")
        func accounts(_ options: String...) throws -> Set<String> {
            let run = try tool.must("\"$CTL\" list --json \(options.joined(separator: " "))")
            let items = try JSONSerialization.jsonObject(with: run.output) as? [[String: Any]]
            return Set((items ?? []).compactMap { $0["account"] as? String })
        }
        #expect(try accounts("--expired") == ["old"])
        #expect(try accounts("--expires-within", "14d") == ["old", "soon"])
        #expect(try accounts("--expires-within", "1209600") == ["old", "soon"])
        #expect(try accounts() == ["old", "soon", "later", "never"])
    }

    @Test func newValue_takesTheDateOfTheOldOneWithIt() throws {
        try tool.store()
        try expire("90d")
        let run = try tool.run("set", "-s", "example.com", "-a", "alice", input: otherSecret)
        #expect(run.errors.contains("keychainctl expire"))
        #expect(try expiry() == nil)
    }

    @Test func newLabel_leavesTheDate() throws {
        try tool.store()
        try expire("2027-01-01")
        try tool.must("\"$CTL\" set -s example.com -a alice --keep-value --label l")
        #expect(try expiry() != nil)
    }

    @Test func counterOfAOneTimePassword_leavesTheDate() throws {
        try tool.store(Data("otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1".utf8))
        try expire("2027-01-01")
        try tool.must("\"$CTL\" otp -s example.com")
        #expect(try expiry() != nil)
    }

    @Test func movedItem_keepsItsDate() throws {
        try tool.store()
        try expire("2027-01-01")
        try tool.must("\"$CTL\" move -s example.com --to-service other")
        #expect(try expiry() == "2027-01-01T00:00:00.000Z")
    }

    @Test func export_keepsTheDate() throws {
        try tool.store()
        try expire("2027-01-01")
        try tool.must(
            "\"$CTL\" export f --clear-text json && \"$CTL\" delete -s example.com --all --forget "
                + "&& \"$CTL\" import-archive f --yes")
        #expect(try expiry() == "2027-01-01T00:00:00.000Z")
    }

    private func git(_ operation: String, _ more: String = "") throws -> Tool.Run {
        try tool.shell(
            "printf 'protocol=https\\nhost=h\\nusername=a\\n\(more)\\n' | \"$CTL\" git-credential \(operation)")
    }

    @Test func git_ofAnExpiredItem_getsNoPassword() throws {
        _ = try git("store", "password=one\\n")
        try tool.must("\"$CTL\" expire 2020-01-01 --server h")
        #expect(try !git("get").text.contains("one"))
    }

    @Test func git_ofAnItemWithADate_getsTheEarlierOne() throws {
        _ = try git("store", "password=one\\npassword_expiry_utc=4102444800\\n")
        #expect(try git("get").text.contains("password_expiry_utc=4102444800\n"))
        try tool.must("\"$CTL\" expire 2099-01-01 --server h")
        #expect(try git("get").text.contains("password_expiry_utc=4070908800\n"))
    }

    @Test func git_thatStoresANewPassword_getsIt() throws {
        _ = try git("store", "password=one\\n")
        try tool.must("\"$CTL\" expire 2020-01-01 --server h")
        _ = try git("store", "password=two\\n")
        #expect(try git("get").text.contains("password=two\n"))
    }
}
