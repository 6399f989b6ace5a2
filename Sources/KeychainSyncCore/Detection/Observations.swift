// SPDX-License-Identifier: Apache-2.0
// The observed state of a carrier and of other members, to compare with later observations.

import Foundation
import KeychainCrypto

/// A complete listing of a carrier.
package struct Listing: Sendable {
    package let names: Set<ObjectName>
    /// A number of the carrier that never goes back; a folder has none.
    package let revision: UInt64?
    /// What lies under the names; nothing of a carrier that cannot tell.
    package let contents: [ObjectName: Set<ListedContent>]

    package init(
        names: Set<ObjectName>, revision: UInt64? = nil, contents: [ObjectName: Set<ListedContent>] = [:]
    ) {
        self.names = names
        self.revision = revision
        self.contents = contents
    }

    /// Whether an object may lie under a name: what is listed with nothing in it is none.
    func mayHave(_ name: ObjectName) -> Bool {
        guard let contents = contents[name], !contents.isEmpty else { return names.contains(name) }
        return contents.contains { $0.size > 0 }
    }

    /// The numbers of each log.
    var logs: [WriterID: Set<UInt64>] {
        names.reduce(into: [:]) { logs, name in
            if case .segment(let writer, let number) = name { logs[writer, default: []].insert(number) }
        }
    }

    /// The highest number of each member's heads.
    var heads: [MemberID: UInt64] {
        names.reduce(into: [:]) { heads, name in
            if case .head(let member, let number) = name { heads[member] = max(heads[member] ?? 0, number) }
        }
    }
}

/// What is remembered to detect rollbacks, forks and withholding. It is stored in one transaction with what it is about.
package struct Observations: Sendable {
    package struct SeenHead: Equatable, Sendable {
        package let number: UInt64
        package let hash: ObjectHash
        package let vector: VersionVector
        /// By the clock of this machine.
        package let seen: UInt64
    }

    package internal(set) var heads: [MemberID: SeenHead] = [:]
    private var revision: UInt64 = 0
    /// Writes that a member has seen and that are missing here, and since when.
    private var missing: [WriterID: (counter: UInt64, since: UInt64)] = [:]
    /// Wraps of the current keys that the carrier lacks, or under whose name there is something else, and since when.
    package internal(set) var wraps: [ObjectName: UInt64] = [:]

    package init() {}

    /// How long files may take to arrive, in any order.
    package static let grace: UInt64 = 10 * 60_000
    package static let longSilence: UInt64 = 7 * 24 * 3_600_000
    /// How often an active member writes a head.
    package static let betweenHeads: UInt64 = 6 * 3_600_000

    // MARK: - Stored form

    /// Without the heads and the wraps, which are stored separately.
    func write(to writer: inout ByteWriter) {
        writer.append(bigEndian: revision)
        writer.append(bigEndian: UInt32(missing.count))
        for (id, wanted) in missing.sorted(by: { $0.key < $1.key }) {
            writer.append(bigEndian: id.number)
            writer.append(bigEndian: wanted.counter)
            writer.append(bigEndian: wanted.since)
        }
    }

    init(from reader: inout ByteReader) throws(Refusal) {
        revision = try reader.number()
        for _ in 0..<(try reader.count(UInt32.self, atMost: .max, ofAtLeast: 24)) {
            missing[try reader.writer()] = (try reader.counter(), try reader.number())
        }
    }

    // MARK: - Comparing the carrier

    /// - Parameters:
    ///   - logs: The last segments that are known.
    ///   - covered: The last segments that the snapshots in the listing cover.
    ///   - entries: The entries of the ring log that are known.
    ///   - members: Whose heads are compared. Nobody writes the lost one of a removed member again.
    package mutating func compare(
        _ listing: Listing, logs: [WriterID: UInt64], covered: [WriterID: UInt64], entries: Set<EntryHash>,
        members: Set<MemberID>
    ) -> [Finding] {
        var findings: [Finding] = []
        let shown = listing.logs
        for (writer, known) in logs.sorted(by: { $0.key < $1.key }) {
            // Every one has to be there: a hole is as bad as an end that is cut, and anybody can make a file with a high number.
            let numbers = shown[writer] ?? []
            var shown = covered[writer] ?? 0
            while shown < known, numbers.contains(shown + 1) { shown += 1 }
            if shown < known { findings.append(.logWentBack(writer, known: known, shown: shown)) }
        }
        let missing = entries.filter { !listing.names.contains(.entry($0)) }.count
        if missing > 0 { findings.append(.entriesMissing(missing)) }
        let heads = listing.heads
        for (member, known) in self.heads.sorted(by: { $0.key < $1.key })
        where members.contains(member) && (heads[member] ?? 0) < known.number {
            findings.append(.headWentBack(member, known: known.number, shown: heads[member] ?? 0))
        }
        return findings + (listing.revision.map { observed($0) } ?? [])
    }

    /// Compares the carrier's revision number, in every answer.
    package mutating func observed(_ revision: UInt64) -> [Finding] {
        defer { self.revision = max(self.revision, revision) }
        return revision < self.revision ? [.revisionWentBack(known: self.revision, shown: revision)] : []
    }

    /// Takes the next revision for the first one. A carrier that has once shown a number that was too high can show it never again.
    mutating func forgetRevision() { revision = 0 }

    /// Notes which wraps of the current keys are missing.
    ///
    /// - Returns: Those that would have arrived by now.
    mutating func missingWraps(_ names: Set<ObjectName>, at now: UInt64) -> Set<ObjectName> {
        // A clock that has gone back counts from then on.
        let since = names.map { ($0, min(wraps[$0] ?? now, now)) }
        wraps = Dictionary(uniqueKeysWithValues: since)
        return names.filter { wraps[$0].map { now - $0 >= Self.grace } ?? false }
    }

    // MARK: - Comparing members

    /// Processes a head whose signature was checked.
    ///
    /// - Parameters:
    ///   - vector: What this machine has seen.
    ///   - digest: The digest of this machine's items.
    package mutating func received(
        _ header: HeadHeader, _ head: Head, _ hash: ObjectHash, at now: UInt64, vector: VersionVector,
        digest: Bytes32<StateTag>
    ) -> [Finding] {
        var findings: [Finding] = []
        if let known = heads[header.member] {
            guard header.number >= known.number else { return [] }
            let isSame = header.number == known.number
            let isFork = isSame ? hash != known.hash : header.number - known.number == 1 && head.previous != known.hash
            if isFork { findings.append(.equivocation(header.member, number: header.number)) }
            if !head.vector.covers(known.vector) {
                findings.append(.headWentBack(header.member, known: known.number, shown: header.number))
            }
            if isSame { return findings }
        }
        heads[header.member] = SeenHead(number: header.number, hash: hash, vector: head.vector, seen: now)
        if head.vector == vector && head.digest != digest { findings.append(.differentState(header.member)) }
        if head.time.isFarAhead(of: now) {
            findings.append(.clockAhead(header.member, milliseconds: head.time.milliseconds - now))
        }
        return findings
    }

    /// Records what a member has seen, so that missing writes are detected.
    package mutating func note(_ seen: VersionVector, here: VersionVector, at now: UInt64) {
        for (writer, counter) in here.missing(from: seen).sorted {
            guard missing[writer] != nil || missing.count < Bounds.writers else { continue }
            missing[writer] = (max(counter, missing[writer]?.counter ?? 0), missing[writer]?.since ?? now)
        }
        missing = missing.filter { here[$0.key] < $0.value.counter }
    }

    /// Findings for everything that is overdue.
    ///
    /// - Parameter members: The other members of the ring.
    package func overdue(at now: UInt64, here: VersionVector, members: [MemberID]) -> [Finding] {
        var findings: [Finding] = []
        for (writer, wanted) in missing.sorted(by: { $0.key < $1.key }) where here[writer] < wanted.counter {
            if now >= wanted.since &+ Self.grace { findings.append(.withheld(writer, counter: wanted.counter)) }
        }
        let seen = members.sorted().compactMap { member in heads[member].map { (member, $0.seen) } }
        for (member, time) in seen where now >= time &+ Self.longSilence {
            findings.append(.silent(member, since: time))
        }
        if let last = seen.map(\.1).max(), now >= last &+ Self.betweenHeads &+ Self.grace {
            findings.append(.viewIsOld(since: last))
        }
        return findings
    }
}

extension Observations.SeenHead {
    var bytes: Data {
        var writer = ByteWriter(capacity: 128)
        writer.append(bigEndian: number)
        hash.write(to: &writer)
        vector.write(to: &writer)
        writer.append(bigEndian: seen)
        return writer.data
    }

    init(from reader: inout ByteReader) throws(Refusal) {
        self.init(
            number: try reader.counter(), hash: try reader.bytes32(), vector: try VersionVector(from: &reader),
            seen: try reader.number())
    }
}

/// A code that two people read out to compare their machines.
package enum CompareCode {
    /// 24 symbols, equal if rings, logs and items are.
    package static func text(
        _ ring: RingID, tips: [EntryHash], vector: VersionVector, digest: Bytes32<StateTag>
    ) -> String {
        let content = ring.bytes + tips.flatMap(\.bytes) + vector.bytes + digest.bytes
        let hash = ObjectHash.hash(of: Data(SignedMessage.bytes("compare", content)))
        return Base32.groups(Array(hash.bytes.prefix(15)))
    }
}
