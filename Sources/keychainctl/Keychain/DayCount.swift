// SPDX-License-Identifier: Apache-2.0
// Days of the history on the command line.

import ArgumentParser

/// A number of days of the history, such as 30 or 30d.
struct DayCount {
    let days: Int

    @Sendable init(_ argument: String) throws {
        let digits = argument.hasSuffix("d") ? argument.dropLast() : argument[...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let days = Int(digits),
            (1...HistorySettings.mostDays).contains(days)
        else {
            throw ValidationError("Give whole days (30 or 30d), from 1 to 3650. To keep nothing: --off")
        }
        self.days = days
    }
}
