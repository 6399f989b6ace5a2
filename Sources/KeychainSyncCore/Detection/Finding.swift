// SPDX-License-Identifier: Apache-2.0
// What a carrier, or a member, was seen to do.

/// Something that a person should know. A finding stops nothing: what was received goes on being used, and uploads, which
/// heal, go on.
package enum Finding: Hashable, Sendable {
    /// A log is shorter than it was: the carrier was rolled back, or hides its end.
    case logWentBack(WriterID, known: UInt64, shown: UInt64)
    /// Entries of the ring log that were there are gone.
    case entriesMissing(Int)
    /// A snapshot that was there is gone, and nothing newer took its place.
    case snapshotMissing(SnapshotID)
    /// The carrier counts from an earlier number again.
    case revisionWentBack(known: UInt64, shown: UInt64)
    /// Somebody has seen a write that the carrier does not show.
    case withheld(WriterID, counter: UInt64)
    /// Nothing of a member for long.
    case silent(MemberID, since: UInt64)
    /// Nothing of anybody for long: perhaps this machine is shown an old state.
    case viewIsOld(since: UInt64)
    /// A member's head is older than one that was seen.
    case headWentBack(MemberID, known: UInt64, shown: UInt64)
    /// Two heads, or segments, with one number: a machine was cloned, or its keys were stolen.
    case equivocation(MemberID, number: UInt64)
    /// Another machine has seen the same writes, and has other items.
    case differentState(MemberID)
    /// This machine was restored from a backup, or has a clone: it goes on as another writer.
    case startedAgain(WriterID)
    /// The clock of a member is more than a day ahead.
    case clockAhead(MemberID, milliseconds: UInt64)
    /// An item of this machine is larger than a ring takes: it stays here.
    case tooLargeToShare
    /// An item of this machine that is not shared has the primary key of one from another machine, which is not shown.
    case placeTaken(SyncID)
    /// An item from another machine is not shown here: this version cannot read it, or it is none that may be shared.
    case notUnderstood(SyncID)
    /// Something is not used.
    case refused(ObjectName, Refusal)
}
