// SPDX-License-Identifier: Apache-2.0
// Times that never go back behind a time that was seen, whatever the clock shows.

/// A hybrid logical clock: 48 bits of milliseconds since 1970, and a 16-bit counter within a millisecond.
package struct HybridTime: Hashable, Comparable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }

    package init(milliseconds: UInt64, count: UInt16 = 0) {
        number = min(milliseconds, Self.lastMillisecond) << 16 | UInt64(count)
    }

    package static let zero = HybridTime(0)
    private static let lastMillisecond: UInt64 = 1 << 48 - 1
    /// How far ahead of its own clock a machine follows another one.
    private static let mostAhead: UInt64 = 24 * 3_600_000

    package var milliseconds: UInt64 { number >> 16 }

    package static func < (lhs: HybridTime, rhs: HybridTime) -> Bool { lhs.number < rhs.number }

    /// The next time of a machine with this last time and a clock that shows `now`.
    package func next(at now: UInt64) -> HybridTime {
        let clock = HybridTime(milliseconds: now)
        guard clock <= self else { return clock }
        return HybridTime(number < .max ? number + 1 : number)
    }

    /// Advances to a received time, unless it is more than a day ahead of the clock.
    package mutating func follow(_ other: HybridTime, at now: UInt64) {
        if !other.isFarAhead(of: now) { self = max(self, other) }
    }

    package func isFarAhead(of now: UInt64) -> Bool {
        let latest = min(now, Self.lastMillisecond) + Self.mostAhead
        return milliseconds > latest
    }
}
