// SPDX-License-Identifier: Apache-2.0
// Dates of certificates, including forms that RFC 5280 does not allow but that are in use.

import Foundation

extension DERReader {
    /// A UTCTime or GeneralizedTime: seconds may be missing, and the zone may be given in hours and minutes.
    mutating func time() throws(KeyFailure) -> Date {
        let element = try next()
        var digits = TimeText(element.content.map { $0 })
        let year: Int?
        switch element.tag {
        case 0x17: year = digits.number(2).map { $0 < 50 ? 2000 + $0 : 1900 + $0 }
        case 0x18: year = digits.number(4)
        default: throw .malformed(format)
        }
        guard let year, let date = digits.date(in: year) else { throw .malformed(format) }
        return date
    }
}

/// The text of a time, read from the front.
private struct TimeText {
    private var rest: ArraySlice<UInt8>

    init(_ text: [UInt8]) { rest = text[...] }

    mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Everything after the year.
    mutating func date(in year: Int) -> Date? {
        guard let month = number(2), (1...12).contains(month), let day = number(2),
            (1...Self.days(in: month, of: year)).contains(day), let hour = number(2), hour < 24,
            let minute = number(2), minute < 60
        else { return nil }
        let second = number(2) ?? 0
        guard second <= 60, let zone = zone(), rest.isEmpty else { return nil }
        let days = Self.days(toMonth: month, of: year) + day - 1
        return Date(timeIntervalSince1970: Double(days * 86400 + hour * 3600 + minute * 60 + second - zone))
    }

    /// Seconds east of Greenwich.
    private mutating func zone() -> Int? {
        switch rest.popFirst() {
        case UInt8(ascii: "Z"): return 0
        case UInt8(ascii: "+"): return hoursAndMinutes()
        case UInt8(ascii: "-"): return hoursAndMinutes().map { -$0 }
        default: return nil
        }
    }

    private mutating func hoursAndMinutes() -> Int? {
        guard let hours = number(2), hours < 24, let minutes = number(2), minutes < 60 else { return nil }
        return hours * 3600 + minutes * 60
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(in month: Int, of year: Int) -> Int {
        month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days from 1970 to the first day of a month.
    private static func days(toMonth month: Int, of year: Int) -> Int {
        let years = year - 1
        let days = years * 365 + years / 4 - years / 100 + years / 400
        return days - 719_162 + (1..<month).reduce(0) { $0 + Self.days(in: $1, of: year) }
    }
}
