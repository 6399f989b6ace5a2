// SPDX-License-Identifier: Apache-2.0
// What a vault stores about its ring.

import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainSyncCore
import KeychainVault

/// The state of a machine in a ring, as the vault stores it between two transactions.
struct RingState {
    var replica: Replica
    var place: CarrierPlace
    var invitations: [InvitationID: Invitation] = [:]
    var isPaused = false
    /// When the last complete exchange was, in milliseconds since 1970; 0: never.
    private(set) var lastExchange: UInt64 = 0
    /// When this machine last published a head, and since when tidying is due; 0: never, or not due.
    var lastHead: UInt64 = 0
    var neededSince: UInt64 = 0
    /// Whether the carrier had lost the last head when it was too early for another one. It is not stored.
    var isHeadLost = false
    /// Items whose shown value the vault does not have.
    var hidden: Set<SyncID> = []
    /// Values that were never shown on this machine, or not last, and are kept for a month.
    var kept = KeptVersions()
    /// What exchanges have noticed.
    var notices = RingNotices()
    /// Set in the step that completes an exchange: what its earlier steps have found. The step then ends the notices of what it has not
    /// found either. It is not stored.
    var concluded: Set<SyncFinding>?
    /// That of the vault when the state was stored; empty if it never was.
    var incarnation = Data()
    /// That of the vault's keys when this machine's keys in the ring were made.
    var keyGeneration: UInt32 = 0
    /// Whether the vault was restored or copied, and has seen nothing of its ring since.
    var mayLackNewKeys = false
    /// Whether the vault has new keys, and this machine's keys in the ring cannot be replaced yet. Each step finds out again.
    var isRenewalPostponed = false
    /// Whether the vault has new keys, and this machine only reads: it may not replace its own in the ring. Each step finds out again.
    var isReaderWithFormerKeys = false
    /// Drawn again with each change of the stored state, so that a process notices those of another one. A number that is counted
    /// could be the same again after the vault was restored. The sealed notices follow it: a version that does not know them takes all
    /// of it for the number.
    var generation = Data()

    static let generationName = Data([0x40])

    /// Whether changes were collected and not sealed.
    var hasUnsent: Bool { !replica.outbox.isEmpty }

    var keys: StoredKeys { StoredKeys(device: replica.keys, former: replica.former, keyring: replica.keyring) }

    mutating func noteExchange(at now: UInt64) {
        kept.pass(from: lastExchange, to: now)
        lastExchange = now
    }
}

extension RingState {
    private enum Name {
        static let generation = RingState.generationName
        static let settings = Data([0x41])
        static func invitation(_ id: InvitationID) -> Data { Data([0x42] + id.bytes) }
        static let hidden = Data([0x43])
        static let incarnation = Data([0x44])
        static let keyGeneration = Data([0x45])
        static let mayLackNewKeys = Data([0x47])
        static let keptFirst: UInt8 = 0x46
        static func kept(_ version: KeptVersions.Version) -> Data {
            let dot = version.record.header.dot
            var writer = ByteWriter(capacity: 33)
            writer.append(keptFirst)
            version.record.header.item.write(to: &writer)
            writer.append(bigEndian: dot.writer.number)
            writer.append(bigEndian: dot.counter)
            return writer.data
        }
    }

    /// - Parameter known: The state that this process has. If it is current, nothing is read.
    /// - Returns: `nil` if the vault is in no ring.
    /// - Throws: `locked` if its keys are locked; `corrupt` if the stored state cannot be opened.
    static func load(_ transaction: RingTransaction, known: RingState?) throws(KeychainError) -> RingState? {
        guard transaction.isInRing else { return nil }
        // The keys are read even if the state is current, because a locked vault is not synced.
        let keys = try RingKeyItem.read(transaction)
        let generation = try transaction.part(Name.generation) ?? Data()
        if let known, known.generation == generation, known.replica.log.id == keys.keyring.ring.ring { return known }
        do {
            return try RingState(try opened(transaction, keys), keys, generation)
        } catch let error as KeychainError {
            throw error
        } catch {
            throw .brokenRing
        }
    }

    private static func opened(_ transaction: RingTransaction, _ keys: StoredKeys) throws -> [Data: Data] {
        let sealing = StoredSealing(keys)
        var parts: [Data: Data] = [:]
        for (name, sealed) in try transaction.state() where name != Name.generation {
            parts[name] = try sealing.open(sealed, as: name)
        }
        return parts
    }

    private init(_ parts: [Data: Data], _ keys: StoredKeys, _ generation: Data) throws {
        var stored: [PartName: Data] = [:]
        for (name, bytes) in parts where name.first.map({ $0 < 0x40 }) ?? true { stored[try PartName(name)] = bytes }
        replica = try Replica(stored: stored, keys: keys.device, former: keys.former, keyring: keys.keyring)
        guard let settings = parts[Name.settings], settings.count >= 25,
            let place = CarrierPlace(stored: String(decoding: settings.dropFirst(25), as: UTF8.self))
        else { throw Refusal.malformed }
        self.place = place
        isPaused = settings.first == 1
        lastExchange = UInt64(bigEndianBytes: settings.dropFirst().prefix(8))
        lastHead = UInt64(bigEndianBytes: settings.dropFirst(9).prefix(8))
        neededSince = UInt64(bigEndianBytes: settings.dropFirst(17).prefix(8))
        for (name, bytes) in parts where name.first == 0x42 {
            // It has the code.
            defer { bytes.wipeWithCopies() }
            invitations[InvitationID(name.dropFirst())] = try Invitation(stored: bytes)
        }
        for (name, bytes) in parts where name.first == Name.keptFirst {
            guard name.count == 33, bytes.count > 8 else { throw Refusal.malformed }
            let dot = Dot(
                writer: WriterID(UInt64(bigEndianBytes: name.dropFirst(17).prefix(8))),
                counter: UInt64(bigEndianBytes: name.suffix(8)))
            let record = try SealedRecord(stored: Data(bytes.dropFirst(8)), dot)
            kept.insert(KeptVersions.Version(record: record, until: UInt64(bigEndianBytes: bytes.prefix(8))))
        }
        hidden = try Self.items(parts[Name.hidden] ?? Data())
        incarnation = parts[Name.incarnation] ?? Data()
        keyGeneration = UInt32(truncatingIfNeeded: UInt64(bigEndianBytes: parts[Name.keyGeneration] ?? Data()))
        mayLackNewKeys = parts[Name.mayLackNewKeys] == Data([1])
        self.generation = generation
        notices = try RingNotices(in: generation, Name.generation, StoredSealing(keys))
        try replica.setReturned(notices.returned)
        replica.stalled = notices.stalledLogs
        replica.unlisted = notices.unlistedEntries
        replica.unlistedSnapshots = notices.unlistedSnapshots
    }

    private static func items(_ bytes: Data) throws(Refusal) -> Set<SyncID> {
        guard bytes.count.isMultiple(of: SyncID.length) else { throw .malformed }
        let bytes = [UInt8](bytes)
        return Set(
            stride(from: 0, to: bytes.count, by: SyncID.length).map { SyncID(bytes[$0..<$0 + SyncID.length]) })
    }

    private var hiddenBytes: Data { Data(hidden.sorted().flatMap(\.bytes)) }

    private func hasSameSettings(_ other: RingState) -> Bool {
        other.others == others && other.kept == kept && other.notices == notices
    }

    /// What is stored beside the replica, invitations and kept versions, by name.
    private var others: [Data: Data] {
        [
            Name.settings: settings, Name.hidden: hiddenBytes, Name.incarnation: incarnation,
            Name.keyGeneration: withUnsafeBytes(of: keyGeneration.bigEndian) { Data($0) },
            Name.mayLackNewKeys: Data([mayLackNewKeys ? 1 : 0]),
        ]
    }

    private var settings: Data {
        var writer = ByteWriter(capacity: 64)
        writer.append(UInt8(isPaused ? 1 : 0))
        for time in [lastExchange, lastHead, neededSince] { writer.append(bigEndian: time) }
        writer.append(place.stored)
        return writer.data
    }

    private static func isSame(_ old: Invitation?, _ new: Invitation) -> Bool {
        guard let old else { return false }
        var stored = (old.bytes(), new.bytes())
        defer {
            stored.0.wipe()
            stored.1.wipe()
        }
        let bytes = (stored.0.data, stored.1.data)
        defer {
            bytes.0.wipeWithCopies()
            bytes.1.wipeWithCopies()
        }
        return bytes.0 == bytes.1
    }

    /// Writes what has changed, in the same transaction.
    ///
    /// - Parameter old: The stored state; `nil` if there is none.
    mutating func store(_ transaction: RingTransaction, since old: RingState?) throws(KeychainError) {
        let isNewMember = old?.replica.member != replica.member
        let changes = replica.changes(since: old?.replica)
        // All parts are sealed under a key that follows from the member's.
        let written = isNewMember ? replica.changes(since: nil).written : changes.written
        let isNewKey = isNewMember || old?.replica.keyring.roots.count != replica.keyring.roots.count
        // A look writes nothing, also while somebody is invited: whoever watches the vault would look again.
        let invited = invitations.filter { isNewMember || !Self.isSame(old?.invitations[$0], $1) }
        let hasInvitations = !invited.isEmpty || old?.invitations.keys.contains { invitations[$0] == nil } == true
        let isSame = old.map(hasSameSettings) ?? false
        guard !changes.isEmpty || isNewKey || hasInvitations || !isSame else { return }
        if isNewKey { try RingKeyItem.write(keys, transaction) }
        let sealing = StoredSealing(keys)
        do {
            for name in changes.removed { try transaction.removePart(name.bytes) }
            for (name, bytes) in written {
                try transaction.write(sealing.seal(bytes, as: name.bytes), as: name.bytes)
            }
            let former = isNewMember ? nil : old?.others
            for (name, bytes) in others where former?[name] != bytes {
                try transaction.write(sealing.seal(bytes, as: name), as: name)
            }
            try storeKept(transaction, sealing, since: isNewMember ? nil : old?.kept, former: old?.kept)
            for id in (old?.invitations ?? [:]).keys where invitations[id] == nil {
                try transaction.removePart(Name.invitation(id))
            }
            for (id, invitation) in invited {
                var bytes = invitation.bytes()
                defer { bytes.wipe() }
                let part = bytes.data
                defer { part.wipeWithCopies() }
                try transaction.write(sealing.seal(part, as: Name.invitation(id)), as: Name.invitation(id))
            }
            generation = try notices.part(Name.generation, sealing)
            try transaction.write(generation, as: Name.generation)
        } catch let error as KeychainError {
            throw error
        } catch {
            throw .brokenRing
        }
    }

    private func storeKept(
        _ transaction: RingTransaction, _ sealing: StoredSealing, since old: KeptVersions?, former: KeptVersions?
    ) throws {
        for version in former?.all ?? [] where kept[version.record.header.dot] == nil {
            try transaction.removePart(Name.kept(version))
        }
        for version in kept.all where old?[version.record.header.dot] != version {
            var writer = ByteWriter(capacity: 1024)
            writer.append(bigEndian: version.until)
            writer.append(version.record.storedBytes)
            try transaction.write(sealing.seal(writer.data, as: Name.kept(version)), as: Name.kept(version))
        }
    }
}

extension UInt64 {
    fileprivate init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
