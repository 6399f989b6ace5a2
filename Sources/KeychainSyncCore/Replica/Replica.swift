// SPDX-License-Identifier: Apache-2.0
// One machine of a ring: values in, values out.

// Folders, from top to bottom:
//
// - Replica: one machine, as a value that is told what happens
// - Joining: invitations, from both sides
// - Detection: rollbacks, forks and withholding, from what was seen
// - Merging: the writes of items that no other write has seen
// - Membership: the log of a ring, and who is in it
// - Sealing: keys of rings, epochs and members, and what is sealed with them
// - Storage: parts in which a replica is stored
// - Formats: what lies on a carrier, as bytes
// - Basics: identities, version vectors, times, bounds

package import Foundation
import KeychainCrypto

/// What the owner of a ``Replica`` has to do, after it has stored the replica.
package enum Effect: Equatable, Sendable {
    /// Publish an object unless there is one of that name, and report the outcome.
    case write(ObjectName, Data)
    case read([ObjectName])
    /// Nobody needs these any more.
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

/// What became of an object that was to be published.
package enum Publication: Sendable {
    case created
    /// The same bytes were there already.
    case alreadySame
    case otherThere
}

/// The state of one machine in one ring, and what changes it. It has no files, clocks or sockets.
///
/// Whoever has one stores it after each call and before the effects of the call are carried out. Then any crash only loses
/// effects, and the next listing asks for them again.
package struct Replica: Sendable {
    /// The last that was applied of a log.
    struct LogState: Equatable, Sendable {
        var tip: LogTip
        /// What its writer had seen.
        var vector: VersionVector
        /// Of each epoch, the last segment that is sealed under its keys, or that a snapshot under them stands for.
        var sealed: [EpochID: UInt64]
        /// That of the last segment; `nil` if a snapshot stands for it.
        var epoch: EpochID?
    }

    /// A segment of this machine, kept until a snapshot stands for it.
    struct OwnSegment: Equatable, Sendable {
        let bytes: Data
        let epoch: EpochID
        /// The hash of the one before, and the batch that this segment ends.
        let previous: ObjectHash
        let batch: Batch?
        /// The first segment of the same batch.
        let first: UInt64
        var isPublished = false
    }

    package internal(set) var member: MemberID
    package internal(set) var keys: DeviceKeys
    let random: Randomness
    package internal(set) var writer: WriterID
    package internal(set) var log: RingLog
    package internal(set) var keyring: Keyring
    package internal(set) var items = MergedItems()
    package internal(set) var outbox = Outbox()
    var clock = HybridTime.zero
    var logs: [WriterID: LogState] = [:]
    var own: [WriterID: [UInt64: OwnSegment]] = [:]
    /// Entries and wraps as they lie on the carrier, to put them back.
    var entries: [EntryHash: Data] = [:]
    var wraps: [ObjectName: Data] = [:]
    var waiting = WaitingSegments()
    /// What active members are known to have seen: so much of a removed member's log is accepted from others.
    var claims = VersionVector()
    var snapshots: [SnapshotID: KnownSnapshot] = [:]
    package internal(set) var observations = Observations()
    var lastHead: (number: UInt64, hash: ObjectHash) = (0, .zero)
    /// Only a snapshot can give other members, or new ones, everything that is here: the carrier lacks a part of a log, or holds
    /// one under the keys of an earlier epoch. It is decided again with each listing.
    package internal(set) var needsSnapshot = false

    package init(keys: DeviceKeys, log: RingLog, keyring: Keyring, _ random: Randomness = Randomness())
        throws(Refusal)
    {
        (self.keys, self.log, self.keyring, self.random) = (keys, log, keyring, random)
        writer = random.writer()
        member = try keys.publicKeys().member
        for (hash, entry) in log.entries { entries[hash] = try entry.sealed(with: keyring.ring) }
    }

    /// Founds a ring.
    package static func founding(name: String, keys: DeviceKeys, _ random: Randomness = Randomness())
        throws(Refusal) -> (Replica, [Effect])
    {
        let (log, ringKeys, change) = try RingLog.found(name: name, keys: keys, random)
        var replica = try Replica(keys: keys, log: log, keyring: Keyring(ring: ringKeys), random)
        let effects = try replica.adopt(change)
        return (replica, effects)
    }

    package var ring: Ring { log.ring }
    var ringKeys: RingKeys { keyring.ring }

    /// What is read out to compare two machines.
    package var compareCode: String {
        CompareCode.text(log.id, tips: log.tips, vector: items.vector, digest: items.digest)
    }

    /// Whether all that was written here is on the carrier, as far as is known.
    package var isPublished: Bool {
        outbox.isEmpty && own.values.allSatisfy { $0.values.allSatisfy(\.isPublished) }
    }

    /// How many writes of this machine are not on the carrier, as far as is known.
    package var unpublishedCount: Int {
        let segments = own.values.flatMap(\.values).filter { !$0.isPublished }
        return outbox.entries.count + segments.reduce(0) { $0 + ($1.batch?.entries.count ?? 0) }
    }

    /// Whether there is a value of the item that is not shown. Machines that had the same item before they met have no conflict.
    package func hasConflict(_ item: SyncID) -> Bool {
        let versions = items[item]
        guard !versions.others.isEmpty, let shown = versions.shown else { return false }
        let content = try? open(shown)
        return versions.others.contains { content == nil || (try? open($0)) != content }
    }

    /// The content of a write, once its author's signature has held.
    package func open(_ record: SealedRecord) throws(Refusal) -> [UInt8] {
        guard let author = log.publicKeys(of: record.author) else { throw .notAMember }
        return try record.open(ring: log.id, keys: try keyring.keys(of: record.epoch), author: author)
    }
}
