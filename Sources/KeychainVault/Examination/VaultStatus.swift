// SPDX-License-Identifier: Apache-2.0
// The description of a vault, without its contents.

public import Foundation
public import KeychainEngine
import SecretMemory

/// The state of a vault, for users and monitoring, without names and values.
public struct VaultStatus: Sendable {
    /// One way to open the vault.
    public struct Slot: Sendable {
        public let id: UUID
        /// `nil` for a kind that this version does not know.
        public let kind: ProtectorKind?
        public let created: Date
        /// Whether guessing its secret costs less than it should; the next unlock with it repairs that.
        public let isWeak: Bool
        /// Whether a TPM opens it only with a PIN.
        public let needsPIN: Bool
    }

    public let location: VaultLocation
    /// `false` until the first write; everything below is then empty.
    public let exists: Bool
    public let formatVersion: Int
    public let isReadOnly: Bool
    public let slots: [Slot]
    /// How far the vault is unlocked for this process.
    public let lockState: LockState
    /// Whether it opens on this machine without a prompt.
    public let isAlwaysUnlocked: Bool
    /// What opens it without a prompt.
    public let openedBy: ProtectorKind?
    /// The file of a credential that should open the vault but does not, if nothing else on this machine opens it.
    public let wrongCredential: String?
    /// Where unlocking keeps the keys.
    public let unlockCache: VaultSettings.UnlockCacheKind
    /// Whether the items for this device only can be opened here.
    public let isOfThisDevice: Bool
    /// Whether a rotation of the class keys has begun and not ended, or has left out items for want of the device key.
    public let isRotating: Bool
    /// Items that a rotation still has to seal under the new keys.
    public let unrotatedCount: Int
    /// Items that open, by class.
    public let itemCounts: [ItemClass: Int]
    /// Items that are closed now.
    public let lockedCount: Int
    /// Items that only the device that stored them can open.
    public let ofAnotherDeviceCount: Int
    /// Items that do not open, or are indexed under another key than their own; they stay in place. Values are not
    /// checked: ``Vault/examine(_:_:progress:)`` opens them.
    public let damagedCount: Int
    /// Of those, the ones that open but are indexed under another key: ``Vault/repairIndex()`` repairs that.
    public let wronglyIndexedCount: Int
    /// Missing index entries: searches do not find the items by them.
    public let missingIndexCount: Int
    /// Index entries that lead to no item, or to one that they do not match.
    public let foreignIndexCount: Int
    /// Damaged items that an addition or a deletion moved to the quarantine; their bytes are kept.
    public let quarantinedCount: Int
    /// Whether one of the two copies of the keybag is damaged; the next write repairs it.
    public let isKeybagCopyDamaged: Bool
    /// Whether removed data may still be in the WAL, because a process is still reading there, or the lock file, which would tell, was
    /// removed. The next write after that process has finished its read removes the data.
    public let walHoldsRemovedData: Bool
    /// The differences between the vault and its last known state. If there are any, nothing can be written until the
    /// vault is accepted, unless ``isChangedDespiteFindings``. `nil` if this is unknown because not even the index is open.
    public let headFindings: [HeadFinding]?
    /// Whether the vault can be changed despite ``headFindings``: it is large, and a change only counts its rows. Rotations and removals
    /// of protectors compare every row, and are refused.
    public let isChangedDespiteFindings: Bool
    /// Whether this machine remembers the state of the vault, so that an older one put back is noticed; `nil` while not
    /// even the index is open. It is false if neither the state folder nor the kernel accepts a record, if the state
    /// folder is inside the vault's, and after another machine has written, until the next write here.
    public let isRollbackWatched: Bool?
    /// Why the state folder takes no record, if ``isRollbackWatched`` is false for that reason.
    public let rollbackRecordFailure: KeychainError?
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

    /// Whether the vault opens on this machine without a prompt; also true if there is none yet, since it is created
    /// with a device key.
    public var opensByItself: Bool {
        get throws(KeychainError) { try openSession()?.keyState.isAlwaysUnlocked ?? true }
    }

    /// What opens the vault on this machine without a prompt; `nil` if nothing does.
    public var openedBy: ProtectorKind? {
        get throws(KeychainError) { try openSession()?.keyState.openedBy }
    }

    /// The file of a credential that should open the vault but does not, if nothing else on this machine opens it.
    package var wrongCredential: String? {
        get throws(KeychainError) { try openSession()?.keyState.wrongCredential }
    }

    /// Whether removed data may still be in the WAL, as ``VaultStatus/walHoldsRemovedData``. Looks at two files, not at the items.
    package var walHoldsRemovedData: Bool {
        get throws(KeychainError) { try VaultMarker.walHoldsRemovedData(location) }
    }

    /// Where unlocking keeps the keys: according to the settings, unless the kernel refuses.
    public var unlockCacheInUse: VaultSettings.UnlockCacheKind {
        settings.cacheInUse
    }

    /// Checks the whole vault. It opens the metadata of every item, which takes about 10 µs each, and looks up each of
    /// its index entries, which takes a few more. Values stay closed.
    public func status() throws(KeychainError) -> VaultStatus {
        try undisturbed { (session) throws(KeychainError) -> VaultStatus in
            guard let session else { return VaultStatus(absentAt: location, unlockCacheInUse) }
            return try status(session)
        }
    }

    private func status(_ session: Session) throws(KeychainError) -> VaultStatus {
        let deviceKey = try environment().deviceKey
        let seen = session.anchors.read()
        return try DatabaseFailure.translating(location.databaseFile) {
            try session.reader.read { connection in
                let table = ItemTable(connection)
                let items = try ItemExamination(session.keyState, table, .metadata)
                return try VaultStatus(
                    session, items, deviceKey, quarantined: table.quarantineCount(),
                    rotation: session.keybag.unfinishedRotation(table.keyUse()),
                    Self.headLook(session, connection, seen), settings)
            }
        }
    }

    private static func headLook(
        _ session: Session, _ connection: Connection, _ seen: SeenAnchors
    ) throws -> (look: HeadExamination, isWatched: Bool)? {
        guard try session.keyState.hasIndex else { return nil }
        let look = try HeadExamination(session, connection, seen, .wholeVault)
        return (look, try session.anchors.cover(look.head, seen, session.headKeys()))
    }
}

extension VaultStatus {
    fileprivate init(absentAt location: VaultLocation, _ unlockCache: VaultSettings.UnlockCacheKind) {
        self.init(
            location: location, exists: false, formatVersion: Int(VaultSchema.version), isReadOnly: false, slots: [],
            lockState: .unlocked, isAlwaysUnlocked: true, openedBy: .deviceKey, wrongCredential: nil,
            unlockCache: unlockCache, isOfThisDevice: true, isRotating: false, unrotatedCount: 0, itemCounts: [:],
            lockedCount: 0, ofAnotherDeviceCount: 0, damagedCount: 0, wronglyIndexedCount: 0, missingIndexCount: 0,
            foreignIndexCount: 0, quarantinedCount: 0, isKeybagCopyDamaged: false, walHoldsRemovedData: false,
            headFindings: [], isChangedDespiteFindings: false, isRollbackWatched: nil, rollbackRecordFailure: nil,
            isKeyMemoryLocked: true)
    }

    fileprivate init(
        _ session: Session, _ items: ItemExamination, _ deviceKey: DeviceKey?, quarantined: Int,
        rotation: [UInt8: Int], _ head: (look: HeadExamination, isWatched: Bool)?,
        _ settings: VaultSettings
    ) throws(KeychainError) {
        let (keybag, keyState) = (session.keybag, session.keyState)
        let slots = keybag.slots.map { Slot($0, settings) }
        let wronglyIndexed = items.index?.wronglyIndexed.count ?? 0
        self.init(
            location: session.location, exists: true, formatVersion: Int(session.formatVersion),
            isReadOnly: session.isReadOnly || !FilesState.unwritable(session.location).isEmpty, slots: slots,
            lockState: try keyState.state,
            isAlwaysUnlocked: keyState.isAlwaysUnlocked, openedBy: keyState.openedBy,
            wrongCredential: keyState.wrongCredential,
            unlockCache: settings.cacheInUse,
            isOfThisDevice: keybag.isBound(to: deviceKey), isRotating: !rotation.isEmpty,
            unrotatedCount: rotation.values.reduce(0, +), itemCounts: items.byClass, lockedCount: items.locked,
            ofAnotherDeviceCount: items.ofAnotherDevice, damagedCount: items.damaged + wronglyIndexed,
            wronglyIndexedCount: wronglyIndexed, missingIndexCount: items.index?.missing.count ?? 0,
            foreignIndexCount: items.index?.wrong.count ?? 0,
            quarantinedCount: quarantined,
            isKeybagCopyDamaged: !session.hasTwoKeybags,
            walHoldsRemovedData: try VaultMarker.walHoldsRemovedData(session.location),
            headFindings: head?.look.findings,
            isChangedDespiteFindings: head?.look.isNotSeenByChanges ?? false, isRollbackWatched: head?.isWatched,
            rollbackRecordFailure: head?.isWatched == false ? session.anchors.writeFailure : nil,
            isKeyMemoryLocked: SecretBytes.random(count: 32).isLocked)
    }
}

extension VaultStatus.Slot {
    init(_ slot: Keybag.Slot, _ settings: VaultSettings) {
        self.init(
            id: slot.id, kind: ProtectorKind(number: slot.kind),
            created: Date(timeIntervalSinceReferenceDate: slot.created),
            isWeak: PassphraseProtector.isWeak(slot, settings), needsPIN: TPMProtector.needsPIN(slot))
    }
}
