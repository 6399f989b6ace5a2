// SPDX-License-Identifier: Apache-2.0
// Values of items that lost against another one, kept for a while.

import KeychainSyncCore

/// Of two concurrent values one is shown. The other one is kept for 30 days after a write has replaced both, so that it can be
/// restored.
struct KeptVersions: Equatable, Sendable {
    struct Version: Equatable, Sendable {
        let record: SealedRecord
        /// In milliseconds since 1970.
        let until: UInt64
    }

    /// How many there are at most, and of how many sealed bytes. Beyond, those that would go first go at once.
    struct Limits: Equatable, Sendable {
        let count: Int
        let bytes: Int

        static let standard = Limits(count: 10_000, bytes: 64 << 20)
    }

    private static let lifetime: UInt64 = 30 * 86_400_000
    private static let longestPause: UInt64 = 86_400_000

    private let limits: Limits
    private var versions: [Dot: Version] = [:]
    private var size = 0
    private var isTooLarge: Bool { versions.count > limits.count || size > limits.bytes }

    init(limits: Limits = .standard) { self.limits = limits }

    var all: [Version] { versions.values.sorted { $0.record.header.dot < $1.record.header.dot } }

    subscript(dot: Dot) -> Version? { versions[dot] }

    mutating func insert(_ version: Version) {
        remove(version.record.header.dot)
        versions[version.record.header.dot] = version
        size += version.record.sealed.count
    }

    mutating func remove(_ dot: Dot) {
        guard let old = versions.removeValue(forKey: dot) else { return }
        size -= old.record.sealed.count
    }

    /// - Parameter last: The last exchange. Of the time since then a day counts at most: a clock that was set forward must not end what
    ///   has hardly been kept.
    mutating func keep(_ records: [SealedRecord], at now: UInt64, since last: UInt64) {
        for record in records where versions[record.header.dot] == nil {
            insert(Version(record: record, until: now &+ Self.lifetime))
        }
        let counted = min(now, last &+ Self.longestPause)
        for version in versions.values where version.until <= counted { remove(version.record.header.dot) }
        guard isTooLarge else { return }
        for version in versions.values.sorted(by: {
            ($0.until, $0.record.header.dot) < ($1.until, $1.record.header.dot)
        }) {
            guard isTooLarge else { return }
            remove(version.record.header.dot)
        }
    }

    /// Notes a complete exchange: what was kept before stays longer by the time that does not count.
    ///
    /// - Parameter last: The exchange before; 0: there was none.
    mutating func pass(from last: UInt64, to now: UInt64) {
        guard last > 0, now > last, now - last > Self.longestPause else { return }
        let pause = now - last - Self.longestPause
        for version in versions.values where version.until <= last &+ Self.lifetime {
            insert(Version(record: version.record, until: version.until &+ pause))
        }
    }
}
