// SPDX-License-Identifier: Apache-2.0
// When versions are too old, by a clock that may have been wrong.

import Foundation

/// Days between a change and the next one. A clock that was set looks the same.
struct Pause: Codable, Equatable {
    /// The day of the next change, counted from 1970.
    let end: Int
    let days: Int

    /// The clock can show no day beyond, and sums stay far from an overflow.
    static let latestDay = 1 << 50

    var isPossible: Bool {
        (2...2 * Self.latestDay).contains(days) && (-Self.latestDay...Self.latestDay).contains(end)
    }
}

extension Pause {
    /// - Returns: `nil` for a day and the next one, which is no pause.
    init?(from start: Int, to end: Int) {
        guard end - start > 1 else { return nil }
        (self.end, days) = (end, end - start)
    }

    /// What is left of it once the clock was put back to a day.
    func upTo(_ day: Int) -> Pause? { end <= day ? self : Pause(from: end - days, to: day) }
}

/// A clock that was put back. It may have been ahead before, and then there are versions of days to come.
struct ClockSetback: Codable, Equatable {
    /// The last day that the clock has shown before, counted from 1970.
    let end: Int
    /// The day that it has shown then.
    let since: Int

    var isPossible: Bool { -Pause.latestDay <= since && since < end && end <= Pause.latestDay }
}

extension HistorySettings {
    /// Notes that there is a change on a day.
    ///
    /// - Parameter today: Counted from 1970.
    /// - Returns: The days whose versions have become too old since the change before; `nil` if there may be too many to go through.
    mutating func pass(to today: Int) -> Range<Int>? {
        guard let before = swept.map({ min(max($0, -Pause.latestDay), Pause.latestDay) }) else {
            swept = today
            return 0..<0
        }
        let first = firstKeptDay(on: before)
        note(today, after: before)
        let last = firstKeptDay(on: today)
        guard first < last else { return 0..<0 }
        return last - first > 400 ? nil : first..<last
    }

    /// The first day whose versions are not too old. The longest of the last pauses is not counted, since it may have been a step of the
    /// clock: then versions would end that have hardly been kept.
    func firstKeptDay(on today: Int) -> Int {
        let recent = (pauses ?? []).filter { isRecent($0, on: today) }
        return today - days - (recent.map(\.days).max() ?? 0)
    }

    private func isRecent(_ pause: Pause, on today: Int) -> Bool { today - pause.end <= days }

    private mutating func note(_ today: Int, after before: Int) {
        swept = today
        var known = (pauses ?? []).compactMap { $0.upTo(today) }.filter { isRecent($0, on: today) }
        if let pause = Pause(from: before, to: today) {
            // Those that are shorter and end earlier never decide.
            known.removeAll { $0.days <= pause.days }
            known.append(pause)
        }
        pauses = known.isEmpty ? nil : known
        noteSetback(from: before, to: today)
    }
}

// MARK: - Days to come

extension HistorySettings {
    /// Notes that there may be versions of days to come.
    ///
    /// - Parameter last: The last of these days; one that has come already is not noted.
    mutating func noteSetback(from last: Int, to today: Int) {
        // If the clock was put back again, the days are counted from then. Once it shows the day there is nothing more to note.
        var known = (setbacks ?? []).filter { $0.end > today }
            .map { ClockSetback(end: $0.end, since: min($0.since, today)) }
        if last > today, !known.contains(where: { $0.end >= last && $0.since == today }) {
            // What is not later than the last day may be of the last time that the clock was ahead.
            known.removeAll { $0.end <= last }
            known.append(ClockSetback(end: last, since: today))
        }
        setbacks = known.isEmpty ? nil : known
    }

    /// The same for a version that was found. Its day may have been noted, with an earlier day from which it counts.
    mutating func noteVersion(of last: Int, on today: Int) {
        if !(setbacks ?? []).contains(where: { $0.end >= last }) { noteSetback(from: last, to: today) }
    }

    /// Forgets the setbacks that were so long ago that the versions from before are too old.
    ///
    /// - Returns: The days to come of these versions; `nil` if there are none.
    mutating func takeDaysAhead(on today: Int) -> ClosedRange<Int>? {
        let (first, known) = (firstKeptDay(on: today), setbacks ?? [])
        let later = known.filter { $0.since >= first }
        setbacks = later.isEmpty ? nil : later
        let start = max(today, later.map(\.end).max() ?? today)
        guard let end = known.map(\.end).max(), start < end else { return nil }
        return start + 1...end
    }
}
