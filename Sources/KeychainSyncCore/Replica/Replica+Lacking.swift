// SPDX-License-Identifier: Apache-2.0
// What members have written and this machine has not applied.

extension Replica {
    /// The members that have written the logs that are known.
    package var authors: [WriterID: MemberID] { logs.mapValues(\.tip.author) }

    /// Whether members have written something that is not applied here, as far as this can be known: a segment is shown whose predecessor
    /// is missing, or that cannot be read, or a head of theirs names what is not shown.
    package func lacksWrites(of members: [MemberID], in listing: Listing) -> Bool {
        let isShown = listing.names.contains { name in
            guard case .segment(let writer, let number) = name, number > logs[writer]?.tip.number ?? 0 else {
                return false
            }
            return author(of: writer).map(members.contains) ?? false
        }
        return isShown || members.contains { namesWritesOfItsOwn($0) }
    }

    /// Whether the last head of a member names writes that are not here, and that may be its own.
    private func namesWritesOfItsOwn(_ member: MemberID) -> Bool {
        guard let seen = observations.heads[member]?.vector else { return false }
        return items.vector.missing(from: seen).sorted.contains { writer, _ in author(of: writer) ?? member == member }
    }

    /// `nil` if nothing of the writer has come that a member has signed.
    private func author(of writer: WriterID) -> MemberID? {
        if let tip = logs[writer]?.tip { return tip.author }
        for held in (waiting.logs[writer] ?? [:]).values {
            if let author = try? signer(of: held.bytes) { return author }
        }
        return nil
    }
}
