// SPDX-License-Identifier: Apache-2.0
// Times on the command line.

import ArgumentParser

/// The seconds of a time such as 90, 90s, 15m, 8h or 2d.
private enum TimeWords {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400]

    /// What to give, for a message.
    static let forms = "Give seconds (90 or 90s), minutes (15m), hours (8h) or days (2d)"

    /// - Returns: `nil` if it is not a time, or not one of those wanted.
    static func seconds(_ text: String, in wanted: ClosedRange<Int64>) -> Int64? {
        let unit = text.last.flatMap { units[$0] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard digits.utf8.count <= 10, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits), wanted.contains(number * (unit ?? 1))
        else { return nil }
        return number * (unit ?? 1)
    }
}

/// A time such as 90, 90s, 15m, 8h or 2d.
struct IdleTimeout {
    let duration: Duration

    @Sendable init(_ argument: String) throws {
        // The kernel counts the seconds in 32 bits.
        guard let seconds = TimeWords.seconds(argument, in: 1...Int64(UInt32.max)) else {
            throw ValidationError("\(TimeWords.forms), up to 49710 days.")
        }
        duration = .seconds(seconds)
    }
}

/// The time until the clipboard is cleared, such as 90, 90s, 15m, 8h or 2d.
struct ClearingDelay {
    static let standard = ClearingDelay(seconds: 45)

    /// 0: never.
    let seconds: UInt32

    private init(seconds: UInt32) { self.seconds = seconds }

    @Sendable init(_ argument: String) throws {
        guard let seconds = TimeWords.seconds(argument, in: 0...(2 * 86400)) else {
            throw ValidationError("\(TimeWords.forms), up to 2 days; 0 for never.")
        }
        self.init(seconds: UInt32(seconds))
    }

    /// Such as "45 seconds" or "1 hour".
    var words: String {
        let units: [(name: String, size: UInt32)] = [("day", 86400), ("hour", 3600), ("minute", 60)]
        let unit = units.first { seconds >= $0.size && seconds % $0.size == 0 } ?? ("second", 1)
        let count = seconds / unit.size
        return "\(count) \(unit.name)\(count == 1 ? "" : "s")"
    }
}
