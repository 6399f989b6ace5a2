// SPDX-License-Identifier: Apache-2.0
// Writes that are made only if nobody else has written since.

import Foundation

extension Replica {
    /// The writer of this machine's confirmed writes.
    ///
    /// A segment that was refused is never part of this machine's state, and one that was accepted is received like that of any other
    /// writer. So a machine that is interrupted between the two needs to remember nothing. It follows from the machine's other
    /// writer: a machine that starts again as another one gets another one here too.
    package var confirmer: WriterID { WriterID(writer.number ^ 1) }

    /// The hash of the last confirmed segment of this machine.
    package var lastConfirmed: ObjectHash? { logs[confirmer]?.tip.hash }

    /// This machine as it makes a confirmed write: what is committed and sealed with it is published only if nothing has changed
    /// since the listing.
    ///
    /// - Returns: `nil` while the listing has something that is not applied here, a local write is not on the carrier, or a removed
    ///   member may know the current keys.
    package func confirming(after listing: Listing) throws(Refusal) -> Replica? {
        guard ring.mayWrite(member) else { throw .notAMember }
        guard isPublished, hasApplied(listing), !ring.isCurrentKnownToRemoved else { return nil }
        var copy = self
        (copy.writer, copy.outbox) = (confirmer, Outbox())
        return copy
    }

    /// Whether everything that a carrier holds of writes and members is applied here. What can never be is left out.
    package func hasApplied(_ listing: Listing) -> Bool {
        listing.names.allSatisfy { name in
            switch name {
            case .segment(let id, let number):
                number <= logs[id]?.tip.number ?? 0 || isJunk(name, in: listing) || isOfRemoved(id, number)
            case .entry(let hash): entries[hash] != nil || isJunk(name, in: listing)
            case .wrap, .snapshot, .head, .invitation, .request: true
            }
        }
    }

    private func isOfRemoved(_ writer: WriterID, _ number: UInt64) -> Bool {
        guard let bytes = waiting[writer, number], let author = try? signer(of: bytes) else { return false }
        return !ring.mayWrite(author)
    }

    /// A confirmed segment that was applied is one of this machine's own: it puts it back if the carrier loses it, and removes it once
    /// a snapshot covers it.
    mutating func keepConfirmed(_ bytes: Data, _ batch: Batch, _ state: LogState, after previous: ObjectHash) {
        guard batch.writer == confirmer, state.tip.author == member, let epoch = state.epoch else { return }
        own[batch.writer, default: [:]][state.tip.number] = OwnSegment(
            bytes: bytes, epoch: epoch, previous: previous, batch: batch, first: state.tip.number, isPublished: true)
    }
}
