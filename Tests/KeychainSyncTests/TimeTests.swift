// SPDX-License-Identifier: Apache-2.0
// Hybrid times, and merging without a carrier.

import Foundation
import KeychainCrypto
import SyncSimulation
import Testing

@testable import KeychainSyncCore

struct TimeTests {
    @Test func nextTime_isLaterThanTheLast_whateverTheClockSays() {
        var time = HybridTime.zero
        for now: UInt64 in [5, 5, 3, 0, 1 << 40, .max, .max, 0] {
            let next = time.next(at: now)
            #expect(next > time)
            time = next
        }
        #expect(time.milliseconds == 1 << 48 - 1)
    }

    @Test func lastTimeOfAll_staysWhereItIs() {
        #expect(HybridTime(.max).next(at: .max) == HybridTime(.max))
    }

    @Test func time_aDayAhead_isFollowed_andLaterOnesAreNot() {
        let (now, day) = (UInt64(1_000_000), UInt64(24 * 3_600_000))
        for (ahead, isFollowed) in [(day, true), (day + 1, false)] {
            var time = HybridTime(milliseconds: now)
            let other = HybridTime(milliseconds: now + ahead)
            time.follow(other, at: now)
            #expect((time == other) == isFollowed)
            #expect(other.isFarAhead(of: now) != isFollowed)
        }
        #expect(!HybridTime(.max).isFarAhead(of: .max))
    }

    @Test func snapshots_joinedInAnyOrder_giveTheSame() throws {
        let sample = Sample()
        let (a, b, c) = (
            try sample.record("a", counter: 1), try sample.record("b", counter: 2), try sample.record("a", counter: 3)
        )
        let states: [([SealedRecord], UInt64)] = [([a], 1), ([a, b], 2), ([b, c], 3), ([c], 4)]
        var random = SeededRandom(seed: 3)
        for _ in 0..<20 {
            var items = MergedItems()
            for (records, counter) in states.shuffled(using: &random) + states {
                _ = items.join(records, VersionVector([sample.writer: counter]), sample.ringKeys)
            }
            #expect(items.records.map(\.header.dot.counter) == [3])
            #expect(items.digest == Bytes32(sample.ringKeys.sum(c.header.item, c.header.dot).bytes))
        }
    }
}
