// SPDX-License-Identifier: Apache-2.0
// One machine of a ring, as a pure value.

// Folders, from top to bottom:
//
// - Replica: one machine, as a value that receives events
// - Joining: invitations, from both sides
// - Detection: rollbacks, forks and withholding, from observations
// - Merging: the writes of items that no other write has seen
// - Membership: the log of a ring, and its members
// - Sealing: keys of rings, epochs and members, and sealed objects
// - Storage: the parts of a stored replica
// - Formats: the bytes of objects on a carrier
// - Basics: identities, version vectors, times, bounds

package import Foundation
import KeychainCrypto
import SecretMemory

/// What the owner of a ``Replica`` has to do after storing it.
package enum Effect: Equatable, Sendable {
    /// Publish an object, and report the outcome. A segment is not published if there is another one of that name.
    case write(ObjectName, Data)
    /// Publish an object beside others of that name, which are none, and report the outcome.
    case writeBeside(ObjectName, Data)
    case read([ObjectName])
    /// Remove objects that no member needs any more.
    case remove([ObjectName])
    case changed([ItemChange])
    case found(Finding)
}

/// A local write of one item.
package struct LocalWrite: Sendable {
    package enum Content: Sendable {
        case value([UInt8], accessibility: UInt8)
        case deletion
    }

    package let item: SyncID
    package let content: Content
    /// Whether whoever wrote was shown what this machine has of the item. What they were not shown is kept beside it.
    package let hasSeenAll: Bool

    package init(item: SyncID, _ content: Content, hasSeenAll: Bool = true) {
        (self.item, self.content, self.hasSeenAll) = (item, content, hasSeenAll)
    }
}

/// The outcome of publishing an object.
package enum Publication: Sendable {
    case created
    /// The same bytes existed already.
    case alreadySame
    case otherThere
}

/// The state of one machine in one ring, and what changes it. It has no files, clocks or sockets.
///
/// The owner stores it after each call, and then carries out the effects of the call. So a crash only loses effects,
/// and the next listing requests them again.
package struct Replica: Sendable {
    /// The last applied position of a log.
    struct LogState: Equatable, Sendable {
        var tip: LogTip
        /// What its writer had seen.
        var vector: VersionVector
        /// For each epoch, the last segment that is sealed with its keys, or that a snapshot under them covers.
        var sealed: [EpochID: UInt64]
        /// The epoch of the last segment; `nil` if a snapshot covers it.
        var epoch: EpochID?
    }

    /// A segment of this machine, kept until a snapshot covers it.
    struct OwnSegment: Equatable, Sendable {
        let bytes: Data
        /// Kept, since it is compared with what each listing shows.
        let content: ListedContent
        let epoch: EpochID
        /// The hash of the previous segment, and the batch that this segment ends.
        let previous: ObjectHash
        let batch: Batch?
        /// The first segment of the same batch.
        let first: UInt64
        var isPublished: Bool

        init(
            bytes: Data, epoch: EpochID, previous: ObjectHash, batch: Batch?, first: UInt64, isPublished: Bool = false
        ) {
            (self.bytes, content, self.epoch, self.previous) = (bytes, ListedContent(bytes), epoch, previous)
            (self.batch, self.first, self.isPublished) = (batch, first, isPublished)
        }
    }

    package internal(set) var member: MemberID
    package internal(set) var keys: DeviceKeys
    /// Those before, the oldest first. Machines that have not heard of the present ones wrap keys for them.
    package internal(set) var former: [FormerKeys] = []
    let random: Randomness
    package internal(set) var writer: WriterID
    package internal(set) var log: RingLog
    package internal(set) var keyring: Keyring
    package internal(set) var items = MergedItems()
    package internal(set) var outbox = Outbox()
    var clock = HybridTime.zero
    var logs: [WriterID: LogState] = [:]
    var own: [WriterID: [UInt64: OwnSegment]] = [:]
    /// Entries and wraps in their form on the carrier, to upload them again.
    var entries: [EntryHash: Data] = [:]
    var wraps: [ObjectName: Data] = [:]
    /// Entries of this machine that have not been on the carrier yet, so that they are not missing there. The owner stores them; without
    /// them they are reported as missing once.
    package var unlisted: Set<EntryHash> = []
    /// Snapshots of this machine that have not been on the carrier yet, likewise.
    package var unlistedSnapshots: Set<SnapshotID> = []
    var waiting = WaitingSegments()
    /// The segment up to which they are read, if there is not room for all. It is not stored.
    var readThrough: ObjectName?
    /// The next segments of logs that go no further because something is missing, and since when. The owner stores it; without it, what is
    /// missing counts from then on.
    package var stalled: [ObjectName: UInt64] = [:]
    /// Wraps for this machine by members that may write, of epochs whose entry has not come. They are read again with each listing.
    var earlyWraps: Set<ObjectName> = []
    /// What active members that may write are known to have seen. Segments of removed members are accepted up to there.
    var claims = VersionVector()
    var snapshots: [SnapshotID: KnownSnapshot] = [:]
    /// Snapshots of removed members that are not known from before the removal. Nothing is taken from them. It is not stored: they are read
    /// again with each listing.
    var unheardSnapshots: [SnapshotID: KnownSnapshot] = [:]
    /// Of snapshots that are not joined. It is not stored.
    var collecting: [SnapshotID: Collecting] = [:]
    package internal(set) var observations = Observations()
    /// Confirmed segments of this machine that were not made.
    var refusals: [ObjectHash: RefusedSegment] = [:]
    var lastHead: (number: UInt64, hash: ObjectHash) = (0, .zero)
    /// Only a snapshot can give other members, or new ones, everything that is here: the carrier lacks a part of a log, or holds
    /// one under the keys of an earlier epoch. It is decided again with each listing.
    package internal(set) var needsSnapshot = false
    /// What lies beside what is known. It is not stored.
    var doubts: [ObjectName: Doubt] = [:]
    /// Contents that are none, whatever comes: they are not read again while nothing else lies under their names.
    var junk: [ObjectName: [UInt32: Refusal]] = [:]
    /// Heads that are none. They are not stored either.
    var refusedHeads: Set<ObjectName> = []

    package init(keys: DeviceKeys, log: RingLog, keyring: Keyring, _ random: Randomness = Randomness())
        throws(Refusal)
    {
        (self.keys, self.log, self.keyring, self.random) = (keys, log, keyring, random)
        writer = random.writer()
        member = try keys.publicKeys().member
        for (hash, entry) in log.entries { entries[hash] = try entry.sealed(with: keyring.ring) }
    }

    /// Founds a ring.
    ///
    /// - Parameter policy: What it shares. It precedes the first item.
    package static func founding(
        name: String, keys: DeviceKeys, sharing policy: Policy = .allGroups, _ random: Randomness = Randomness()
    ) throws(Refusal) -> (Replica, [Effect]) {
        let (log, ringKeys, change) = try RingLog.found(name: name, keys: keys, random)
        var replica = try Replica(keys: keys, log: log, keyring: Keyring(ring: ringKeys), random)
        var effects = try replica.adopt(change)
        if policy != .allGroups {
            let entry = try replica.log.append(.policy(policy), author: replica.member, signer: keys)
            effects += try replica.store([entry])
        }
        return (replica, effects)
    }

    package var ring: Ring { log.ring }
    var ringKeys: RingKeys { keyring.ring }

    /// What opens a key that was wrapped for a member: this machine, or what it was before.
    func wrappingKey(of recipient: MemberID) -> SecretBytes? {
        recipient == member ? keys.wrapping : former.last { $0.member == recipient }?.wrapping
    }

    /// The code to read out when comparing two machines.
    package var compareCode: String {
        CompareCode.text(log.id, tips: log.tips, vector: items.vector, digest: items.digest)
    }

    /// Whether all local writes are on the carrier, as far as is known.
    package var isPublished: Bool {
        outbox.isEmpty && own.values.allSatisfy { $0.values.allSatisfy(\.isPublished) }
    }

    /// How many local writes are not on the carrier, as far as is known.
    package var unpublishedCount: Int {
        let segments = own.values.flatMap(\.values).filter { !$0.isPublished }
        return outbox.count + segments.reduce(0) { $0 + ($1.batch?.entries.count ?? 0) }
    }

    /// How many changes of this machine the others cannot have yet: those of items, and those of the ring, such as removals.
    package var unsentCount: Int { unpublishedCount + unlisted.count }

    /// Whether the item has a value that is not shown. Machines that had the same item before they met have no
    /// conflict.
    package func hasConflict(_ item: SyncID) -> Bool { !hiddenVersions(item).isEmpty }

    /// The versions of an item that are not shown, and are not equal to the one that is.
    private func hiddenVersions(_ item: SyncID) -> [SealedRecord] {
        let versions = items[item]
        guard !versions.others.isEmpty, let shown = versions.shown else { return [] }
        // What cannot be opened now may differ.
        let content = try? open(shown)
        return versions.others.filter { content == nil || (try? open($0)) != content }
    }

    /// Whether a value that this machine has written, under its present or its former keys, is not shown.
    package var hasHiddenValues: Bool {
        let authors = Set(former.map(\.member) + [member])
        return items.items.contains { hiddenVersions($0).contains { authors.contains($0.author) } }
    }

    /// The content of a write, after its author's signature was checked.
    package func open(_ record: SealedRecord) throws(Refusal) -> [UInt8] {
        guard let author = log.publicKeys(of: record.author) else { throw .notAMember }
        return try record.open(ring: log.id, keys: try keyring.keys(of: record.epoch), author: author)
    }

    /// The content of a write that is among ``items``. Its author's signature was checked before it was applied.
    package func openApplied(_ record: SealedRecord) throws(Refusal) -> [UInt8] {
        try record.open(ring: log.id, keys: try keyring.keys(of: record.epoch), author: nil)
    }
}
