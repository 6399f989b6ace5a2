// SPDX-License-Identifier: Apache-2.0
// What can be told about a vault without showing anything in it.

public import Foundation
import GRDB
public import KeychainEngine
import SecretMemory

/// The state of a vault, for people and monitoring: no names, no values.
public struct VaultStatus: Sendable {
    /// One way to open the vault.
    public struct Slot: Sendable {
        public let id: UUID
        /// `nil` for a kind that this version does not know.
        public let kind: ProtectorKind?
        public let created: Date
        /// Whether guessing its secret costs less than it should; the next unlocking with it mends that.
        public let isWeak: Bool
    }

    public let location: VaultLocation
    /// `false` until something is written for the first time; everything below is then empty.
    public let exists: Bool
    public let formatVersion: Int
    public let isReadOnly: Bool
    public let slots: [Slot]
    /// How far the vault is unlocked for this process.
    public let lockState: LockState
    /// Whether it opens here without anybody being asked.
    public let isAlwaysUnlocked: Bool
    /// What opens it without anybody being asked.
    public let openedBy: ProtectorKind?
    /// The file of a credential that should open the vault and does not, while nothing else at hand opens it.
    public let wrongCredential: String?
    /// Where unlocking keeps the keys.
    public let unlockCache: VaultSettings.UnlockCacheKind
    /// Whether the items for this device alone can be opened here.
    public let isOfThisDevice: Bool
    /// Whether a rotation of the class keys has begun and not ended.
    public let isRotating: Bool
    /// Items that a rotation has still to seal under the new keys.
    public let unrotatedCount: Int
    /// Items that open, by class.
    public let itemCounts: [ItemClass: Int]
    /// Items that are closed now.
    public let lockedCount: Int
    /// Items that only the device can open that they were stored on.
    public let ofAnotherDeviceCount: Int
    /// Items that do not open, or are filed under another key than their own; they stay where they are. Values are not
    /// looked at: ``Vault/examine(_:_:)`` opens them.
    public let damagedCount: Int
    /// Of those, the ones that open and are filed under another key: ``Vault/repairIndex()`` mends that.
    public let misfiledCount: Int
    /// Index entries that items lack, so that searches miss them.
    public let missingIndexCount: Int
    /// Index entries that lead to no item, or to one that they do not fit.
    public let foreignIndexCount: Int
    /// Damaged items that were moved out of the way by an addition or a deletion; their bytes are kept.
    public let quarantinedCount: Int
    /// Whether one of the two copies of the keybag is damaged; the next write mends it.
    public let isKeybagCopyDamaged: Bool
    /// Whether what was removed may still be in the WAL, because a process reads there that has not gone on since. The next
    /// write after it has takes it out.
    public let walHoldsRemovedData: Bool
    /// In what the vault is not as it was left; nothing can then be written until it is accepted. `nil` if that cannot be told
    /// because not even the index is open.
    public let headFindings: [HeadFinding]?
    /// Whether this machine remembers the state of the vault, so that an older one put back is noticed; `nil` while not even the
    /// index is open. It does not where neither the state folder nor the kernel takes a record, where the state folder lies in the
    /// vault's, and after another machine has written, until the next write here.
    public let isRollbackWatched: Bool?
    /// Whether the memory that holds the vault's keys is kept out of swap.
    public let isKeyMemoryLocked: Bool
}

extension Vault {
    /// The ways to open the vault, in the order in which they were added; none if there is no vault yet.
    public var protectors: [VaultStatus.Slot] {
        get throws(KeychainError) {
            guard try openSession() != nil else { return [] }
            return try currentSession().keybag.slots.map { VaultStatus.Slot($0, settings) }
        }
    }

    /// Whether the vault opens here without anybody being asked; also if there is none yet, since it is made with a device key.
    public var opensByItself: Bool {
        get throws(KeychainError) { try openSession()?.keyState.isAlwaysUnlocked ?? true }
    }

    /// What opens the vault here without anybody being asked; `nil` if nothing does.
    public var openedBy: ProtectorKind? {
        get throws(KeychainError) { try openSession()?.keyState.openedBy }
    }

    /// Where unlocking keeps the keys: what the settings ask for, unless the kernel refuses.
    public var unlockCacheInUse: VaultSettings.UnlockCacheKind {
        settings.cacheInUse
    }

    /// Looks at the whole vault: opens the metadata of every item, so it takes about 10 µs for each, and looks up each of its
    /// index entries, which takes a few more. Values stay closed.
    public func status() throws(KeychainError) -> VaultStatus {
        guard let session = try openSession() else { return VaultStatus(absentAt: location, unlockCacheInUse) }
        let deviceKey = try surroundings().deviceKey
        let seen = session.anchors.read()
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { db in
                let table = ItemTable(db)
                let items = try ItemExamination(session.keyState, table, .metadata)
                return try VaultStatus(
                    session, items, deviceKey, quarantined: table.quarantineCount(),
                    rotation: session.keybag.pendingRotation(table.keyUse()),
                    Self.headLook(session, db, seen), settings)
            }
        }
    }

    private static func headLook(
        _ session: Session, _ db: Database, _ seen: SeenAnchors
    ) throws -> (findings: [HeadFinding], isWatched: Bool)? {
        guard try session.keyState.hasIndex else { return nil }
        let look = try HeadExamination(session, db, seen, .wholeVault)
        return (look.findings, try session.anchors.cover(look.head, seen, session.headKeys()))
    }
}

extension VaultStatus {
    fileprivate init(absentAt location: VaultLocation, _ unlockCache: VaultSettings.UnlockCacheKind) {
        self.init(
            location: location, exists: false, formatVersion: Int(VaultSchema.version), isReadOnly: false, slots: [],
            lockState: .unlocked, isAlwaysUnlocked: true, openedBy: .deviceKey, wrongCredential: nil,
            unlockCache: unlockCache, isOfThisDevice: true, isRotating: false, unrotatedCount: 0, itemCounts: [:],
            lockedCount: 0, ofAnotherDeviceCount: 0, damagedCount: 0, misfiledCount: 0, missingIndexCount: 0,
            foreignIndexCount: 0, quarantinedCount: 0, isKeybagCopyDamaged: false, walHoldsRemovedData: false,
            headFindings: [], isRollbackWatched: nil, isKeyMemoryLocked: true)
    }

    fileprivate init(
        _ session: Session, _ items: ItemExamination, _ deviceKey: DeviceKey?, quarantined: Int,
        rotation: [UInt8: Int], _ head: (findings: [HeadFinding], isWatched: Bool)?,
        _ settings: VaultSettings
    ) throws(KeychainError) {
        let (keybag, keyState) = (session.keybag, session.keyState)
        let slots = keybag.slots.map { Slot($0, settings) }
        let misfiled = items.index?.misfiled.count ?? 0
        self.init(
            location: session.location, exists: true, formatVersion: Int(session.formatVersion),
            isReadOnly: session.isReadOnly, slots: slots, lockState: try keyState.state,
            isAlwaysUnlocked: keyState.isAlwaysUnlocked, openedBy: keyState.openedBy,
            wrongCredential: keyState.wrongCredential,
            unlockCache: settings.cacheInUse,
            isOfThisDevice: keybag.isBound(to: deviceKey), isRotating: !rotation.isEmpty,
            unrotatedCount: rotation.values.reduce(0, +), itemCounts: items.byClass, lockedCount: items.locked,
            ofAnotherDeviceCount: items.ofAnotherDevice, damagedCount: items.damaged + misfiled,
            misfiledCount: misfiled, missingIndexCount: items.index?.missing.count ?? 0,
            foreignIndexCount: items.index?.foreign.count ?? 0,
            quarantinedCount: quarantined,
            isKeybagCopyDamaged: !session.hasTwoKeybags,
            walHoldsRemovedData: try VaultMarker.logHoldsRemovedData(session.location), headFindings: head?.findings,
            isRollbackWatched: head?.isWatched, isKeyMemoryLocked: SecretBytes.random(count: 32).isLocked)
    }
}

extension VaultStatus.Slot {
    init(_ slot: Keybag.Slot, _ settings: VaultSettings) {
        self.init(
            id: slot.id, kind: ProtectorKind(number: slot.kind),
            created: Date(timeIntervalSinceReferenceDate: slot.created),
            isWeak: PassphraseProtector.isWeak(slot, settings))
    }
}
