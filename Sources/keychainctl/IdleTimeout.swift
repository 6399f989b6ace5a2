// SPDX-License-Identifier: Apache-2.0
// Times on the command line.

import ArgumentParser

/// A time such as 90, 90s, 15m, 8h or 2d.
struct IdleTimeout {
    let duration: Duration

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400]

    @Sendable init(_ argument: String) throws {
        let unit = argument.last.flatMap { Self.units[$0] }
        let digits = unit == nil ? argument[...] : argument.dropLast()
        // The kernel counts the seconds in 32 bits.
        guard digits.utf8.count <= 10, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits), number > 0, number * (unit ?? 1) <= UInt32.max
        else {
            throw ValidationError(
                "Give seconds (90 or 90s), minutes (15m), hours (8h) or days (2d), up to 49710 days.")
        }
        duration = .seconds(number * (unit ?? 1))
    }
}
