// SPDX-License-Identifier: Apache-2.0
// Adding, removing and changing what opens a vault.

public import Foundation
import GRDB
import KeychainCrypto
public import KeychainEngine
public import SecretMemory

extension Vault {
    /// Makes the vault if there is none: with a device key, which opens it without asking anybody.
    ///
    /// - Returns: Whether it was made now.
    @discardableResult
    public func create() throws(KeychainError) -> Bool {
        guard try openSession() == nil else { return false }
        try writeAnything { _, _ in }
        return true
    }

    /// A recovery key: 256 random bits as text of 14 groups. It is kept nowhere; add it as a protector and show it once.
    public static func makeRecoveryKey() -> SecretBytes { RecoveryKey.text(RecoveryKey.make()) }

    /// Lets one more secret open the vault.
    ///
    /// - Parameter authority: A secret that opens the vault now. May be left out while the device key, or a credential, opens
    ///   it; but once there is a passphrase or a recovery key, only one of them can vouch for another.
    /// - Returns: The slot's identity.
    /// - Throws: `authenticationFailed` if the authority is wrong or not enough, `invalidParameter` for a secret that cannot
    ///   be one of its kind.
    @discardableResult
    public func addProtector(
        _ secret: ProtectorSecret, authority: ProtectorSecret? = nil
    ) throws(KeychainError) -> UUID {
        try create()
        let protector = try protector(secret)
        let changed = try changeKeybag(try self.authority(authority)) { (keybag, authority) throws(KeychainError) in
            try keybag.adding(protector, authority, at: Date())
        }
        guard let slot = changed.slots.last else { throw .noSuchSlot }
        return slot.id
    }

    /// Puts another secret of the same kind in the place of one. Both open the vault at no moment, and at every moment one.
    ///
    /// Does not protect older copies of the vault: they open with the older secret. With a person's secret they lead to the key that all
    /// persons' secrets unwrap, also today's.
    public func changeProtector(
        _ id: UUID, to secret: ProtectorSecret, authority: ProtectorSecret? = nil
    ) throws(KeychainError) {
        let protector = try protector(secret)
        try changeKeybag(try self.authority(authority)) { (keybag, authority) throws(KeychainError) in
            guard keybag.slots.contains(where: { $0.id == id && $0.kind == secret.kind.number }) else {
                throw .noSuchSlot
            }
            return try keybag.changing(id, to: protector, authority, at: Date())
        }
    }

    /// Takes a way to open the vault away. Where the vault had been unlocked it is locked afterwards.
    ///
    /// In one transaction the slot goes, and the vault gets a new root key and new class keys, which the removed secret never
    /// led to: with an older copy of the vault it opens what that copy holds, and nothing that is stored from then on. After
    /// that all items are sealed again under the new keys, which takes time in a large vault. If that is interrupted, the slot
    /// is gone all the same, and ``rotate(authority:progress:)`` goes on with the rest.
    ///
    /// New keys have to be wrapped for all other protectors, so their secrets must be here: the device key, a credential, and a
    /// person's as authority.
    ///
    /// Does not protect against an older copy of the vault together with a passphrase or recovery key that was removed or changed
    /// while there is another one: the key that persons' secrets unwrap stays the same. The key of the index stays the same as
    /// well, so whoever had it can go on guessing at services and accounts.
    ///
    /// - Parameters:
    ///   - erasingItems: Whether items may go that can be opened in no other way: with the last passphrase those that
    ///     exist only while one is set, with the last secret of a person those that ask for the user.
    ///   - keepingKeys: Whether to remove it also if a secret is missing that new keys take. Then the removed secret and an
    ///     older copy of the vault still open what is stored later.
    /// - Returns: Whether the vault has new keys.
    /// - Throws: `unsupported` for the last one, or if items would go and `erasingItems` is false; `authenticationFailed` or
    ///   `unavailable` if a secret is missing and `keepingKeys` is false, or if the items could not all be sealed again: the
    ///   message says which.
    @discardableResult
    public func removeProtector(
        _ id: UUID, erasingItems: Bool = false, keepingKeys: Bool = false, authority secret: ProtectorSecret? = nil
    ) throws(KeychainError) -> Bool {
        let authority = try self.authority(secret)
        let erasure = Erasure(isAllowed: erasingItems, authority: authority)
        var atHand = try Protectors.atHand(surroundings())
        if let secret { atHand.append(try protector(secret)) }
        var renewed: Authority?
        try changeKeybag(authority, within: erasure.perform) { (keybag, authority) throws(KeychainError) in
            let removal = try keybag.removing(
                id, authority, atHand, keepingKeys: keepingKeys, try keyUse(), at: Date())
            renewed = removal.renewed
            return removal.keybag
        }
        do throws(KeychainError) {
            try forgetUnlocking()
            guard let renewed else { return false }
            try rotate(by: renewed)
            return true
        } catch {
            let renewal = renewed == nil ? "" : ", and opens nothing that is stored from now on"
            throw error.after(
                "The protector was removed\(renewal). What comes after that has not ended.",
                next: "To see how the vault is now: keychainctl status")
        }
    }

    /// Binds a vault that came from another device, or lost its device key, to this device's key, which is made if there is
    /// none.
    ///
    /// Items that were for the other device alone are kept, with their keys. They open again while that device key is at the
    /// vault's ``VaultLocation/deviceKeyFile``, and after the vault was bound to it again in the same way.
    ///
    /// - Returns: The number of items that are kept for other devices.
    @discardableResult
    public func adoptDevice(authority: ProtectorSecret) throws(KeychainError) -> Int {
        let authority = try self.authority(authority)
        try PrivateFile.createParents(of: location.deviceKeyFile)
        let deviceKey = try DeviceKey.loadOrCreate(location.deviceKeyFile, timeout: settings.writerTimeout)
        try changeKeybag(authority) { (keybag, authority) throws(KeychainError) in
            try keybag.adopting(deviceKey, authority, at: Date())
        }
        do throws(KeychainError) {
            try forgetUnlocking()
            let (keybag, use) = (try currentSession().keybag, try keyUse())
            return keybag.keysOfOtherDevices.reduce(0) { $0 + (use.items[$1.name] ?? 0) }
        } catch {
            throw error.after(
                "The vault is bound to this device's key now. What comes after that has not ended.",
                next: "To see how the vault is now: keychainctl status")
        }
    }

    /// What is cached fits the keys of before.
    private func forgetUnlocking() throws(KeychainError) {
        guard let session = try openSession() else { return }
        session.keyState.forget()
        session.knownHead.forgetKeys()
        try session.keyState.removeEntries([.unlocked, .locked])
    }

    /// The protector around a secret: one that was given, or that is found here.
    func protector(_ secret: ProtectorSecret) throws(KeychainError) -> any Protector {
        try protector(secret, surroundings())
    }

    func protector(_ secret: ProtectorSecret, _ surroundings: Surroundings) throws(KeychainError) -> any Protector {
        guard let type = Protectors.type(secret.kind) else { throw .noSuchSlot }
        let made: (any Protector)?
        if let bytes = secret.secret {
            made = try type.make(bytes, surroundings)
        } else {
            made = try type.probe(surroundings)
        }
        guard let made else {
            throw KeychainError(
                .unavailable, "There is no \(secret.kind.name) here. Give one, or use another protector.")
        }
        return made
    }

    /// What may change the keybag: a secret that was given, else a protector at hand.
    func authority(_ secret: ProtectorSecret?) throws(KeychainError) -> Authority {
        let session = try currentSession()
        if let secret { return try open(session, secret).authority }
        let surroundings = try surroundings()
        for protector in try Protectors.atHand(surroundings) {
            if let authority = try session.keybag.authority(protector, surroundings.deviceKey) { return authority }
        }
        throw KeychainError(
            .authenticationFailed,
            "Changing what opens the vault takes a passphrase or another secret that opens it now.")
    }

    // MARK: - One transaction

    /// Replaces the keybag by what `edit` makes of it, in one durable transaction. The edit, which may derive keys for a
    /// second, runs before others are kept waiting; if the keybag has changed meanwhile, it runs again.
    ///
    /// - Parameter step: What belongs into the same transaction; gets the old keybag and the new.
    @discardableResult
    func changeKeybag(
        _ authority: Authority, within step: (Keybag, Keybag, WriteTransaction) throws -> Void = { _, _, _ in },
        _ edit: (Keybag, Authority) throws(KeychainError) -> Keybag
    ) throws(KeychainError) -> Keybag {
        for _ in 1...3 {
            let (keybags, base) = try currentSession().keybags(vouchedForBy: authority)
            let next = try edit(base, authority)
            PausePoint.keybagRead.reached()
            let isWritten = try writeAnything(emptyingLog: true) { session, transaction in
                guard session.keybags == keybags else { return false }
                // Who may change the keybag opens the index, also while the vault is locked.
                session.learnHeadKeys(try ClassKeys(base, authority).head)
                try step(base, next, transaction)
                try base.checkNothingIsLost(in: next) { try transaction.table.keyUse() }
                try transaction.write(keybag: next.bytes)
                return true
            }
            guard isWritten else { continue }
            PausePoint.keybagWritten.reached()
            closeChanged()
            return next
        }
        throw KeychainError.keybagChangedMeanwhile
    }

    /// The keys of before are of no use any more. What is written stays, also if the connections do not end well.
    private func closeChanged() {
        do throws(KeychainError) { try close() } catch { dropSession() }
    }

    /// What goes with a slot.
    struct Erasure {
        let isAllowed: Bool
        let authority: Authority

        private static let passcodeClass = Accessibility.whenPasscodeSetThisDeviceOnly.number

        /// - Throws: `unsupported` if something would go and must not.
        func perform(from old: Keybag, to new: Keybag, _ transaction: WriteTransaction) throws {
            let (table, items) = (transaction.table, transaction.items)
            try check(from: old, to: new, table)
            if old.hasPassphrase, !new.hasPassphrase { try items.deleteAll(of: Self.passcodeClass) }
            for rowID in try doomedByUserKey(old, new, table) { try items.deleteClosed(rowID) }
        }

        /// - Throws: The same, and nothing is erased.
        func check(from old: Keybag, to new: Keybag, _ table: ItemTable) throws {
            if old.hasPassphrase, !new.hasPassphrase {
                try check(try table.count(of: Self.passcodeClass), "exist only while a passphrase is set")
            }
            try check(try doomedByUserKey(old, new, table).count, "ask for the user")
        }

        /// The rows that ask for the user, if the key goes that they are sealed to.
        private func doomedByUserKey(_ old: Keybag, _ new: Keybag, _ table: ItemTable) throws -> [Int64] {
            guard old.userKey != nil, new.userKey == nil else { return [] }
            return try table.rowsAskingForTheUser(RowSealer(ClassKeys(old, authority)))
        }

        private func check(_ count: Int, _ what: String) throws(KeychainError) {
            guard count == 0 || isAllowed else {
                throw KeychainError(
                    .unsupported,
                    "Items that \(what), and that nothing else could open: \(count). Nothing was changed. To give them up: "
                        + "--erase-items")
            }
        }
    }
}

extension ItemTable {
    fileprivate func rowsAskingForTheUser(_ sealer: RowSealer) throws -> [Int64] {
        var found: [Int64] = []
        try forEach(.all, .metadata) { row in
            if Self.asksForTheUser(row, sealer) { found.append(row.rowID) }
            return true
        }
        return found
    }

    private static func asksForTheUser(_ row: SealedRow, _ sealer: RowSealer) -> Bool {
        do throws(UnreadableRow) {
            return try sealer.open(row).item.accessControl.needs.contains(.user)
        } catch {
            return false  // What does not open is damaged, and stays.
        }
    }
}

extension Session {
    /// The stored keybags, and the one among them that the authority's root key authenticates. To sign any other would vouch
    /// for what somebody else wrote, or lock everybody out of a keybag whose root key has changed since.
    func keybags(
        vouchedForBy authority: Authority
    ) throws(KeychainError) -> (all: [Keybag], authentic: Keybag) {
        guard let authentic = keybags.first(where: { $0.isAuthentic(authority.wrappingKeys) }) else {
            throw .keybagChangedMeanwhile
        }
        return (keybags, authentic)
    }
}

extension KeychainError {
    fileprivate static let keybagChangedMeanwhile = KeychainError(
        .busy, "Another process has changed what opens this vault meanwhile. Try again.")
}
