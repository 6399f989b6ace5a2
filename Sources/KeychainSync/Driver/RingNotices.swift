// SPDX-License-Identifier: Apache-2.0
// What exchanges have noticed, as it is stored with the ring's state.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainSyncCore

/// Something that was found about the carrier, a machine or an item.
package struct RingNotice: Codable, Hashable, Sendable {
    /// The name of its kind.
    package let kind: String
    /// What it is about. A later finding of the same kind and subject takes its place.
    let subject: String
    /// A text for the user, without the value of an item.
    package let message: String
    /// When it was found first, in milliseconds since 1970.
    package let since: UInt64
    /// Whether it stays until the user dismisses it.
    package let stays: Bool

    init(_ finding: SyncFinding, _ names: MachineNames = MachineNames(), since time: UInt64) {
        (kind, subject, message, stays) = (finding.kind.rawValue, finding.subject, finding.text(names), finding.stays)
        since = time
    }

    var isAboutTheRevision: Bool { key == RingNotice(.revisionWentBack(known: 0, shown: 0), since: 0).key }

    fileprivate var key: String { "\(kind) \(subject)" }

    /// If there are too many of a kind, the first ones are kept.
    fileprivate static func comesFirst(_ one: RingNotice, _ other: RingNotice) -> Bool {
        one.stays == other.stays ? one.key < other.key : one.stays
    }
}

/// Why exchanges fail.
package struct RingFailure: Codable, Hashable, Sendable {
    private let reason: String
    private let message: String
    /// When the first exchange after the last complete one failed, in milliseconds since 1970.
    package let since: UInt64

    init(_ error: KeychainError, since time: UInt64) {
        (reason, message, since) = (error.reason.rawValue, error.message, time)
    }

    /// A reason that only a newer version knows counts as `unavailable`.
    package var error: KeychainError { KeychainError(KeychainError.Reason(rawValue: reason) ?? .unavailable, message) }
}

/// The findings that hold, or that the user has not dismissed, and why the last exchange failed.
struct RingNotices: Codable, Equatable, Sendable {
    private(set) var all: [RingNotice] = []
    private(set) var failure: RingFailure?
    /// Entries of this machine that have not been on the carrier yet, in ascending order.
    private var unlisted: [Data] = []
    /// Snapshots of this machine that have not been on the carrier yet, in ascending order; `nil`: none, also in what was stored by a
    /// version that did not know them.
    private var snapshots: [Data]?
    /// Members whose removals of others do not count, by the decision of a person on this machine, in ascending order; `nil`: none.
    private var ignored: [Data]?
    /// Members that were removed on this machine and are there again, until a person has decided, in ascending order; `nil`: none.
    private var back: [Data]?
    /// The next segments of logs that go no further, by their names, and since when; `nil`: none.
    private var waiting: [String: UInt64]?

    static let most = 100
    /// A carrier can show any number of objects that are refused. So many notices of each kind have a place whatever else is found.
    static let mostOfKindAtLeast = most / NoticeKind.allCases.count

    var isEmpty: Bool {
        all.isEmpty && failure == nil && unlisted.isEmpty && snapshots == nil && ignored == nil && back == nil
            && waiting == nil
    }

    /// The same, as the core knows them.
    var unlistedEntries: Set<EntryHash> {
        get { Set(unlisted.map { EntryHash($0) }) }
        set { unlisted = newValue.sorted().map { Data($0.bytes) } }
    }

    var unlistedSnapshots: Set<SnapshotID> {
        get { Set((snapshots ?? []).map { SnapshotID($0) }) }
        set { snapshots = newValue.isEmpty ? nil : newValue.sorted().map { Data($0.bytes) } }
    }

    /// The same, as the core knows them.
    var returned: Set<MemberID> {
        get { Set((back ?? []).map { MemberID($0) }) }
        set { back = newValue.isEmpty ? nil : newValue.sorted().map { Data($0.bytes) } }
    }

    /// The same, as the core knows them.
    var stalledLogs: [ObjectName: UInt64] {
        get {
            let named = (waiting ?? [:]).compactMap { text, since in ObjectName(text).map { ($0, since) } }
            return Dictionary(named) { first, _ in first }
        }
        set {
            let named = newValue.map { ($0.key.text, $0.value) }
            waiting = named.isEmpty ? nil : Dictionary(uniqueKeysWithValues: named)
        }
    }

    func isDecided(_ subject: Ring.Contest.Subject) -> Bool {
        guard case .removals(let author) = subject else { return false }
        return ignored?.contains(Data(author.bytes)) == true
    }

    /// Notes that a person has decided against what some members have removed.
    mutating func decide(_ subjects: some Sequence<Ring.Contest.Subject>) {
        let authors = subjects.compactMap { if case .removals(let author) = $0 { Data(author.bytes) } else { nil } }
        guard !authors.isEmpty else { return }
        ignored = Set((ignored ?? []) + authors).sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Forgets notices of contests that are over.
    ///
    /// - Parameter undecided: The contests that are not.
    mutating func keepContests(_ undecided: [SyncFinding]) {
        let keys = Set(undecided.map { RingNotice($0, since: 0).key })
        all.removeAll { $0.kind == NoticeKind.contested.rawValue && !keys.contains($0.key) }
    }

    /// Forgets notices of copies of certain members.
    mutating func endCopies(where isMeant: (MemberID) -> Bool) {
        all.removeAll { notice in
            guard notice.kind == NoticeKind.copied.rawValue, let member = WaitingMachine.id(notice.subject) else {
                return false
            }
            return isMeant(member)
        }
    }

    /// Adds findings. Those that are known keep their time.
    mutating func note(_ findings: [SyncFinding], _ names: MachineNames = MachineNames(), at now: UInt64) {
        guard !findings.isEmpty else { return }
        var notices = Dictionary(all.map { ($0.key, $0) }) { first, _ in first }
        for finding in findings {
            let new = RingNotice(finding, since: now)
            notices[new.key] = RingNotice(finding, names, since: notices[new.key]?.since ?? now)
        }
        all = Self.bounded(notices.values.sorted(by: RingNotice.comesFirst))
    }

    /// - Parameter notices: In the order in which they are kept, if there are too many.
    private static func bounded(_ notices: [RingNotice]) -> [RingNotice] {
        guard notices.count > most else { return notices }
        var (counts, first, rest): ([String: Int], [RingNotice], [RingNotice]) = ([:], [], [])
        for notice in notices {
            let count = counts[notice.kind, default: 0]
            counts[notice.kind] = count + 1
            if count < mostOfKindAtLeast { first.append(notice) } else { rest.append(notice) }
        }
        return (first + rest).prefix(most).sorted(by: RingNotice.comesFirst)
    }

    /// Ends a complete exchange: what it has not found again is over, unless it is the user's to decide.
    mutating func conclude(found findings: Set<SyncFinding>) {
        let found = Set(findings.map { RingNotice($0, since: 0).key })
        all.removeAll { !$0.stays && !found.contains($0.key) }
        failure = nil
    }

    /// Notes why an exchange failed. The time stays that of the first failure.
    mutating func fail(_ error: KeychainError, at now: UInt64) {
        failure = RingFailure(error, since: failure?.since ?? now)
    }

    /// Forgets what would stay otherwise.
    ///
    /// - Parameter undecided: What stops this machine until a person decides. Those notices stay.
    /// - Returns: What is forgotten.
    mutating func dismiss(except undecided: [SyncFinding]) -> [RingNotice] {
        let keys = Set(undecided.map { RingNotice($0, since: 0).key })
        let dismissed = all.filter { $0.stays && !keys.contains($0.key) }
        all.removeAll(where: dismissed.contains)
        return dismissed
    }
}

// MARK: - Stored form

extension RingNotices {
    /// The length of the number that they follow.
    static let offset = 16

    /// - Parameter part: The part of the state that contains them, if there are any.
    init(in part: Data, _ name: Data, _ sealing: StoredSealing) throws {
        self.init()
        guard part.count > Self.offset else { return }
        let bytes = try sealing.open(part.dropFirst(Self.offset), as: name)
        do {
            self = try JSONDecoder().decode(RingNotices.self, from: bytes)
        } catch {
            // Those of another version; the next exchange finds again what holds. Which members have returned, only the log tells then.
        }
    }

    /// The part of the state with another number than before.
    func part(_ name: Data, _ sealing: StoredSealing) throws -> Data {
        let number = Data.random(count: Self.offset)
        if isEmpty { return number }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try number + sealing.seal(encoder.encode(self), as: name)
    }
}
