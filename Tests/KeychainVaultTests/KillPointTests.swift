// SPDX-License-Identifier: Apache-2.0
// The points at which tests kill programs: all of them are tried, and no program is tried for ever.

import KeychainTestSupport
import Testing

struct KillPointTests {
    @Test func points_ofTwoCalls_areCountedUntilTheProgramEnds() async throws {
        var tried: [String] = []
        let points = try await KillPoints(calls: ["fsync", "unlink"], every: 2).count { call, occurrence in
            tried.append("\(call) \(occurrence)")
            return call == "fsync" && occurrence <= 4
        }
        #expect(points == 2)
        #expect(tried == ["fsync 1", "fsync 3", "fsync 5", "unlink 1"])
    }

    @Test func points_ofAProgramThatIsAlwaysKilled_areAnErrorAtTheLimit() async {
        var tried = 0
        await #expect(throws: KillsWithoutEnd.self) {
            try await KillPoints(calls: ["fsync"], every: 3, atMost: 10).count { _, _ in
                tried += 1
                return true
            }
        }
        #expect(tried == 4)
    }

    /// As `strace` fails at each occurrence if it may not trace.
    @Test func points_ofAProgramThatFails_endWithItsError() async {
        await #expect(throws: LimitReached.self) {
            try await KillPoints(calls: ["fsync"], every: 1).count { _, _ in throw LimitReached("The program", .zero) }
        }
    }
}
