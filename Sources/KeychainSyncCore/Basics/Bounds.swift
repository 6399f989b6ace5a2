// SPDX-License-Identifier: Apache-2.0
// The limits of everything that is read from a carrier. They are checked before any other work.

/// A carrier may contain anything. Each number is the most that this code reads, and the most that it writes.
package enum Bounds {
    /// Bytes of one object on the carrier: a segment, a part of a snapshot, a head.
    package static let object = 1 << 20
    /// Bytes of an entry of the ring log, before it is sealed.
    package static let entry = 16 << 10
    /// Entries of a ring log.
    package static let entries = 65_535
    /// Entries that one entry follows directly, and tips of the ring log that a segment names.
    package static let tips = 16
    /// Bytes of the entries of a ring log, including entries that wait for others.
    package static let log = 64 << 20
    package static let waitingEntries = 1_024
    /// Entries of one author and their bytes, so that nobody fills a log.
    package static let entriesOfAuthor = 8_192
    package static let logOfAuthor = log / 8
    /// Entries that do not count of one author who is no member, and of all of them. A removed one may have made some before it knew;
    /// they may void the removal, or be what an entry of somebody else follows.
    package static let entriesOfOther = 64
    package static let entriesOfOthers = 1_024
    /// Steps that the evaluation of a ring log may take.
    package static let evaluation = 20_000_000
    /// Members of a ring, including removed ones.
    package static let members = 100_000
    /// Counters, and numbers of segments and heads, so that incrementing them never overflows.
    package static let number: UInt64 = 1 << 62
    /// Writers in a version vector. What would make it longer is refused, so that what is stored can be read.
    package static let writers = 4_096
    /// Writers of one member whose segments are heard: a machine has another one after each restoration. What snapshots bring
    /// may be a few times as many, since machines may have heard different ones.
    package static let writersOfMember = 256
    package static let writersOfMemberInSnapshots = 4 * writersOfMember
    /// Different contexts of the records of one transaction.
    package static let contexts = 256
    /// Records of one transaction.
    package static let records = 65_535
    /// Segments of one transaction.
    package static let continued = 32
    /// Bytes of one item. A larger one stays on its machine.
    package static let item = 16 << 20
    /// Parts of a snapshot.
    package static let parts = 4_096
    /// Former keys of this machine that are kept. More than a few are used only if the others were away all the time.
    package static let formerKeys = 16
    /// Bytes of a member's name, and of an access group's.
    package static let name = 128
    /// Access groups that a founder can choose. What is read may have as many as fit into an entry.
    package static let groups = 64
    /// Names in one listing.
    package static let listing = 100_000
    /// Names whose contents are read although what belongs there is known.
    package static let doubts = 1_024
    /// Machines that one invitation admits at once; the next exchange admits more.
    package static let admissions = 64
    /// Snapshots that are followed at once.
    package static let snapshots = 64
    /// Confirmed segments that were not made and are remembered. Beyond, the oldest are forgotten.
    package static let refusals = 4_096
    /// Logs of which it is remembered since when they go no further.
    package static let stalled = 256
    /// Parts of snapshots that are collected at once, beside those of one that is larger: a ring may be so large that it needs that.
    package static let snapshotParts = 256
    /// Bytes of segments that wait for others, and of those that are read after one listing. What has no room is read again later.
    package static let waiting = 64 << 20
}
