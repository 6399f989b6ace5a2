// SPDX-License-Identifier: Apache-2.0
// Observed misbehaviour of a carrier or a member.

/// An observation that the user should know. It stops nothing: received objects stay in use, and uploads, which repair
/// the carrier, continue.
package enum Finding: Hashable, Sendable {
    /// A log is shorter than it was: the carrier was rolled back, or hides the end of the log.
    case logWentBack(WriterID, known: UInt64, shown: UInt64)
    /// Entries of the ring log have disappeared.
    case entriesMissing(Int)
    /// A snapshot has disappeared, and there is no newer one.
    case snapshotMissing(SnapshotID)
    /// The carrier's revision number went back.
    case revisionWentBack(known: UInt64, shown: UInt64)
    /// A member has seen a write that the carrier does not show.
    case withheld(WriterID, counter: UInt64)
    /// A log goes no further here: its next segment, the rest of a transaction, or an entry of the ring log that it follows is not shown.
    case stalled(WriterID, number: UInt64)
    /// An entry of the ring log is not shown: entries that follow it are, or keys that it begins.
    case entryWithheld
    /// A key of the ring is missing here, with which others seal.
    case keysMissing
    /// An exchange has ended before everything was read that the carrier shows.
    case unread
    /// A member has published nothing for a long time.
    case silent(MemberID, since: UInt64)
    /// No member has published anything for a long time: this machine may be shown an old state.
    case viewIsOld(since: UInt64)
    /// A member's head is older than one that was seen before.
    case headWentBack(MemberID, known: UInt64, shown: UInt64)
    /// Two heads or two segments with the same number: a machine was cloned, or its keys were stolen.
    case equivocation(MemberID, number: UInt64)
    /// A member has removed another one, which does not count, or, if both are the same, a removed member has returned.
    case contested(MemberCard, by: MemberCard)
    /// The carrier shows a confirmed segment of this machine that it had refused, or in the place of which it had made another one.
    case shownAfterRefusal(ObjectName)
    /// Another machine has seen the same writes, but has other items.
    case differentState(MemberID)
    /// This machine was restored from a backup, or was cloned: it continues as another writer.
    case startedAgain(WriterID)
    /// The clock of a member is more than a day ahead.
    case clockAhead(MemberID, milliseconds: UInt64)
    /// A local item exceeds the ring's maximum size, and is not shared.
    ///
    /// - Parameter item: What a person knows it by.
    case tooLargeToShare(item: String)
    /// Local changes stay on this machine, because it only reads in its ring.
    case notSent(changes: Int)
    /// A local item that is not shared has the primary key of an item from another machine, which is not shown.
    case placeTaken(SyncID)
    /// An item from another machine is not shown here: this version cannot read it, or it is none that may be shared.
    case notUnderstood(SyncID)
    /// The shown value of an item cannot be opened, so the item is not shown here.
    case notOpened(SyncID, Refusal)
    /// Something is not used.
    case refused(ObjectName, Refusal)
}
