// SPDX-License-Identifier: Apache-2.0
// A carrier that shows what it had refused is no copy of this machine.

package import Foundation

extension Replica {
    /// Remembers a confirmed segment that was not made, as far as is known, for 30 days.
    ///
    /// - Parameter isCertain: Whether the carrier has said so; `false` if it has not answered, and may still show it.
    package mutating func noteRefusal(_ name: ObjectName, _ bytes: Data, isCertain: Bool, at now: UInt64) {
        guard case .segment(let writer, let number) = name else { return }
        refusals[.hash(of: bytes)] = RefusedSegment(writer, number, isCertain: isCertain, at: now)
        guard refusals.count > Bounds.refusals else { return }
        let oldest = refusals.min { ($0.value.until, $0.key) < ($1.value.until, $1.key) }
        if let oldest { refusals[oldest.key] = nil }
    }

    mutating func forgetRefusals(at now: UInt64) {
        let kept = refusals.filter { $0.value.until > now }
        guard kept.count < refusals.count else { return }
        // What was made of them until now is looked at again.
        (refusals, doubts) = (kept, [:])
    }

    /// Notes that the carrier shows a segment.
    ///
    /// - Returns: Whether it is one that was refused, or not answered.
    mutating func noteShown(_ bytes: Data) -> Bool {
        guard !refusals.isEmpty else { return false }
        let hash = ObjectHash.hash(of: bytes)
        guard let refusal = refusals[hash] else { return false }
        if isLie(refusal) { refusals[hash]?.isShown = true }
        return true
    }

    /// Notes what a log has come to. A segment that was not answered may be made.
    mutating func noteApplied(_ tip: LogTip) {
        guard let refusal = refusals[tip.hash] else { return }
        if refusal.isCertain { refusals[tip.hash]?.isShown = true } else { refusals[tip.hash] = nil }
    }

    /// Whether the carrier may not show it. Where another one was made, one that was not answered never can be.
    private func isLie(_ refusal: RefusedSegment) -> Bool {
        refusal.isCertain || refusal.number <= logs[refusal.writer]?.tip.number ?? 0
    }

    /// Whether two segments of one number tell that there are two of their author.
    func isCopy(_ hash: ObjectHash, beside other: ObjectHash) -> Bool {
        hash != other && refusals[hash] == nil && refusals[other] == nil
    }

    /// Notes what a carrier lists. It may be gone before it is read.
    mutating func noteShown(in listing: Listing) {
        for (hash, refusal) in refusals where !refusal.isShown && isLie(refusal) {
            guard let contents = listing.contents[refusal.name] else { continue }
            if contents.contains(where: { $0.fingerprint == hash.fingerprint }) { refusals[hash]?.isShown = true }
        }
    }

    /// What there is to say of it, each time that something is listed.
    var shownAfterRefusal: [Effect] {
        Set(refusals.values.filter(\.isShown).map(\.name)).sorted().map { .found(.shownAfterRefusal($0)) }
    }
}
