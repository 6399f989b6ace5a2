// SPDX-License-Identifier: Apache-2.0
// The expiry date of an item, which is an attribute of this tool.

import ArgumentParser
import Foundation
import KeychainEngine
import KeychainKit

extension Attribute {
    /// The date from which the value of an item is not valid any more. Other programs ignore it, and it stays when they
    /// change the item.
    static let expiry = Attribute(code: 0x6578_7079)  // expy
}

extension KeychainItem {
    /// `nil` too for an item that requires authentication and of which only the name is known.
    var expiry: Date? {
        guard case .date(let seconds) = attributes[.expiry], seconds.isFinite else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    func isExpired(at now: Date) -> Bool { expiry.map { $0 <= now } ?? false }

    /// Tells the user that a value which was read is not valid any more. Names no item, since the text may get into a log.
    func warnIfExpired(at now: Date = Date()) {
        guard let expiry, expiry <= now else { return }
        Output.complain(
            "Warning: the value has expired (\(expiry.timestamp(withFraction: false))). To see which items have: "
                + "keychainctl list --expired")
    }
}

/// A date as 2027-01-01 or 2027-01-01T12:00:00Z, or a time from now such as 90d.
enum ExpiryDate {
    case date(Date)
    case after(Duration)

    @Sendable init(_ argument: String) throws {
        if let date = Self.day(argument) ?? Self.moment(argument) {
            self = .date(date)
        } else if let duration = Self.duration(argument) {
            self = .after(duration)
        } else if let day = Self.impossibleDay(argument) {
            throw ValidationError("There is no day \(day) in the calendar. Give one that exists, such as 2027-01-01.")
        } else {
            throw ValidationError(
                "Give a day (2027-01-01), a moment (2027-01-01T12:00:00Z), or a time from now with its unit: seconds (90s), "
                    + "minutes (15m), hours (12h) or days (90d), up to 49710 days. A number without a unit is refused: it "
                    + "could be a year.")
        }
    }

    func date(from now: Date) -> Date {
        switch self {
        case .date(let date): date
        case .after(let duration): now.addingTimeInterval(Double(duration.components.seconds))
        }
    }

    /// The beginning of a day, in UTC as all dates of the tool.
    private static func day(_ text: String) -> Date? {
        guard text.utf8.count == 10 else { return nil }
        return moment(text + "T00:00:00Z")
    }

    /// The day with which a date begins, if it has the form of one and is in no calendar. It has only digits and hyphens.
    private static func impossibleDay(_ text: String) -> String? {
        let day = String(text.prefix(10))
        let isAlone = text.utf8.count == 10 || text.dropFirst(10).first == "T"
        let shape = String(day.map { $0.isASCII && $0.isNumber ? "0" : $0 })
        return isAlone && shape == "0000-00-00" && Self.day(day) == nil ? day : nil
    }

    /// The parser counts 30 February as 2 March and 25:00 as 01:00, and ignores what follows the time zone.
    private static func moment(_ text: String) -> Date? {
        let clock = String(text.prefix("2027-01-01T12:00:00".count))
        guard hasZone(text.dropFirst(clock.count)),
            parsed(clock + "Z")?.timestamp(withFraction: false) == clock + "Z"
        else { return nil }
        return parsed(text)
    }

    private static func parsed(_ text: String) -> Date? {
        do { return try Date(text, strategy: .iso8601) } catch { return nil }
    }

    /// Whether this is a time zone, alone or after a fraction of a second.
    private static func hasZone(_ text: Substring) -> Bool {
        let shape = String(text.map { $0.isASCII && $0.isNumber ? "0" : $0 })
        let zone = shape.hasPrefix(".0") ? shape.dropFirst().drop { $0 == "0" } : shape[...]
        guard zone.utf8.count <= 3 || text.suffix(2) < "60" else { return false }
        return ["Z", "z", "+00:00", "-00:00", "+0000", "-0000", "+00", "-00"].contains(zone)
    }

    /// With a unit: a number alone could be a year.
    private static func duration(_ text: String) -> Duration? {
        guard let last = text.last, "smhd".contains(last) else { return nil }
        do { return try IdleTimeout(text).duration } catch { return nil }
    }
}
