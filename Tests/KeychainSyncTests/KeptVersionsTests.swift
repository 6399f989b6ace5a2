// SPDX-License-Identifier: Apache-2.0
// How long values that lost are kept, and how many of them.

import KeychainSyncCore
import Testing

@testable import KeychainSync

struct KeptVersionsTests {
    private let records: [SealedRecord]

    init() throws {
        let sample = Sample()
        records = try (1...4).map { try sample.record("a", counter: $0) }
    }

    /// The counters of what is kept after each record was kept a second after the one before.
    private func kept(_ limits: KeptVersions.Limits) -> [UInt64] {
        var kept = KeptVersions(limits: limits)
        for (number, record) in records.enumerated() { kept.keep([record], at: 1000 * UInt64(number), since: 0) }
        return counters(kept)
    }

    private func counters(_ kept: KeptVersions) -> [UInt64] { kept.all.map(\.record.header.dot.counter) }

    private static let day: UInt64 = 86_400_000

    @Test func version_after30Days_isGone() {
        var kept = KeptVersions()
        kept.keep([records[0]], at: 1000, since: 1000)
        kept.keep([records[1]], at: 2000, since: 1000)
        kept.keep([records[2]], at: 999 + 30 * Self.day, since: 30 * Self.day)
        #expect(counters(kept) == [1, 2, 3])
        kept.keep([], at: 1000 + 30 * Self.day, since: 30 * Self.day)
        #expect(counters(kept) == [2, 3])
    }

    /// A clock that shows two months more than at the last exchange, and a machine that was off for so long, look the same.
    @Test func version_keptBeforeALongPause_staysLongerByThePause() {
        var kept = KeptVersions()
        kept.keep([records[0]], at: 1000, since: 1000)
        kept.keep([], at: 1000 + 60 * Self.day, since: 1000)
        kept.pass(from: 1000, to: 1000 + 60 * Self.day)
        kept.keep([], at: 999 + 89 * Self.day, since: 88 * Self.day)
        #expect(counters(kept) == [1])
        kept.keep([], at: 1000 + 89 * Self.day, since: 88 * Self.day + 1000)
        #expect(counters(kept) == [])
    }

    @Test func version_keptAfterALongPause_staysFor30Days() {
        var kept = KeptVersions()
        kept.keep([records[0]], at: 60 * Self.day, since: 1000)
        kept.pass(from: 1000, to: 60 * Self.day)
        kept.keep([], at: 90 * Self.day, since: 90 * Self.day)
        #expect(counters(kept) == [])
    }

    @Test func versions_beyondTheNumber_goFromTheEarliestOn() {
        #expect(kept(KeptVersions.Limits(count: 4, bytes: .max)) == [1, 2, 3, 4])
        #expect(kept(KeptVersions.Limits(count: 3, bytes: .max)) == [2, 3, 4])
        #expect(kept(KeptVersions.Limits(count: 1, bytes: .max)) == [4])
    }

    @Test func versions_beyondTheSize_goFromTheEarliestOn() {
        let size = records.map(\.sealed.count).reduce(0, +)
        #expect(kept(KeptVersions.Limits(count: .max, bytes: size)) == [1, 2, 3, 4])
        #expect(kept(KeptVersions.Limits(count: .max, bytes: size - 1)) == [2, 3, 4])
        #expect(kept(KeptVersions.Limits(count: .max, bytes: records[3].sealed.count)) == [4])
    }

    /// A version that is removed makes room again.
    @Test func versionRemoved_countsNoMore() {
        var kept = KeptVersions(limits: KeptVersions.Limits(count: 3, bytes: records[0].sealed.count * 3))
        kept.keep(Array(records[..<3]), at: 1000, since: 1000)
        kept.remove(records[0].header.dot)
        kept.keep([records[3]], at: 2000, since: 1000)
        #expect(counters(kept) == [2, 3, 4])
    }

    /// The limits that the guide to sync names.
    @Test func limits_ofARing_are10000VersionsAnd64MiB() {
        #expect(KeptVersions.Limits.standard == KeptVersions.Limits(count: 10_000, bytes: 67_108_864))
        #expect(KeptVersions() == KeptVersions(limits: .standard))
    }
}
