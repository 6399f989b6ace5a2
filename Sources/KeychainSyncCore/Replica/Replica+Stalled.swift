// SPDX-License-Identifier: Apache-2.0
// Logs that go no further because something that they need has not come: it may be late, or withheld.

import Foundation

extension Replica {
    /// Notes which logs go no further, and since when. One that has gone on meanwhile counts again from then on.
    mutating func noteStalled(at now: UInt64) {
        let before = stalled.keys.compactMap { if case .segment(let writer, _) = $0 { writer } else { nil } }
        let segments = Set(waiting.writers + before).filter(isStalled).sorted().map { writer in
            ObjectName.segment(writer, (logs[writer]?.tip.number ?? 0) + 1)
        }
        let names = (withoutEntry + segments).prefix(Bounds.stalled)
        // A clock that has gone back counts from then on.
        stalled = Dictionary(uniqueKeysWithValues: names.map { ($0, min(stalled[$0] ?? now, now)) })
    }

    /// Those whose missing part would have arrived by now.
    ///
    /// - Parameter findings: What is known to be missing. It is not said twice.
    func overdueLogs(at now: UInt64, beside findings: [Finding]) -> [Finding] {
        let known = Set(findings.compactMap { if case .withheld(let writer, _) = $0 { writer } else { nil } })
        let overdue = stalled.filter { now >= $0.value &+ Observations.grace }.keys.sorted()
        let lacksEntry = overdue.contains { if case .segment = $0 { false } else { true } }
        return (lacksEntry ? [.entryWithheld] : [])
            + overdue.compactMap { name in
                guard case .segment(let writer, let number) = name, !known.contains(writer) else { return nil }
                return .stalled(writer, number: number)
            }
    }

    /// What only an entry of the ring log explains that is not here: what entries of members follow, and wraps by members.
    private var withoutEntry: [ObjectName] {
        let wraps = earlyWraps.filter { if case .wrap(let epoch, _) = $0 { ring.epochs[epoch] == nil } else { false } }
        let names = log.missingBeforeMembers.map { ObjectName.entry($0) } + wraps
        return Array(names.sorted().prefix(Bounds.tips))
    }

    /// Notes a wrap of an epoch whose entry is not here, unless anybody else than a member that may write could have made it.
    mutating func noteEarly(_ wrap: KeyWrap, _ name: ObjectName) {
        guard wrap.ring == log.id, ring.mayWrite(wrap.author), let author = log.publicKeys(of: wrap.author),
            (try? wrap.check(by: author)) != nil, earlyWraps.count < Bounds.stalled
        else { return }
        earlyWraps.insert(name)
    }

    /// Whether segments of a log are here, and the next one, the rest of its transaction, a snapshot that comes first or an entry of the
    /// ring log is not. A missing key is noticed apart.
    private func isStalled(_ writer: WriterID) -> Bool {
        let number = (logs[writer]?.tip.number ?? 0) + 1
        guard writer != self.writer else { return false }
        guard let bytes = waiting[writer, number] else {
            // What had no room is as it was.
            if waiting.lacksRoom, stalled[.segment(writer, number)] != nil { return true }
            return (waiting.logs[writer] ?? [:]).contains { $0.key > number && isExpected($0.value.bytes) }
        }
        guard isExpected(bytes) else { return false }
        var (copy, checked) = (self, [WriterID: UInt64]())
        guard leadsToSnapshots(writer, &checked) else { return true }
        do {
            try copy.verify(try copy.next(of: writer, from: number).0)
            return false
        } catch {
            return if case .waits = error { true } else { false }
        }
    }

    /// Whether somebody with the keys of the ring has made it who may write, or is not known yet.
    private func isExpected(_ bytes: Data) -> Bool {
        guard let (_, body) = try? SegmentBody.open(bytes, in: keyring) else { return false }
        return log.publicKeys(of: body.author) == nil || ring.mayWrite(body.author)
    }
}
