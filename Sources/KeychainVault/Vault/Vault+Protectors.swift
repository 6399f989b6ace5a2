// SPDX-License-Identifier: Apache-2.0
// Adding and changing protectors.

public import Foundation
import KeychainCrypto
public import KeychainEngine
public import SecretMemory

extension Vault {
    /// Creates the vault if there is none, with a device key, which opens it without a prompt.
    ///
    /// - Returns: Whether it was created by this call.
    @discardableResult
    public func create() throws(KeychainError) -> Bool {
        guard try openSession() == nil else { return false }
        try write { _ in }
        return true
    }

    /// A recovery key: 256 random bits as text of 14 groups. It is not stored; add it as a protector and show it once.
    public static func makeRecoveryKey() -> SecretBytes { RecoveryKey.text(RecoveryKey.make()) }

    /// Adds a secret that opens the vault.
    ///
    /// - Parameter authority: A secret that opens the vault now. It may be omitted while the device key, or a
    ///   credential, opens the vault. Once there is a passphrase or a recovery key, only one of these can authorize
    ///   another one.
    /// - Returns: The slot's identity.
    /// - Throws: `authenticationFailed` if the authority is wrong or not sufficient, `invalidParameter` for a secret
    ///   that is invalid for its kind, `duplicateItem` if the secret opens the vault already: it would still open the vault once one of
    ///   the two was removed.
    @discardableResult
    public func addProtector(
        _ secret: ProtectorSecret, authority: ProtectorSecret? = nil
    ) throws(KeychainError) -> UUID {
        try checkMayAdd(secret.kind)
        try create()
        let environment = try environment()
        let protector = try protector(secret, environment)
        let changed = try changeKeybag(try self.authority(authority)) { (keybag, authority) throws(KeychainError) in
            try keybag.checkOpensNothing(protector, environment.deviceKey)
            return try keybag.adding(protector, authority, at: Date())
        }
        guard let slot = changed.slots.last else { throw .noSuchSlot }
        return slot.id
    }

    /// Checks that a protector may be added, before anything is created or asked for.
    ///
    /// - Throws: `unsupported` for a TPM beside no passphrase or recovery key, such as in a new vault, or beside another TPM.
    package func checkMayAdd(_ kind: ProtectorKind) throws(KeychainError) {
        guard kind == .tpm else { return }
        guard try openSession() != nil else { throw .loneTPM }
        try currentSession().keybag.checkMayAddTPM()
    }

    /// Replaces a secret with another one of the same kind. At every moment exactly one of the two opens the vault.
    ///
    /// Does not protect older copies of the vault: they open with the older secret. An older passphrase or recovery key
    /// leads to the user key, which today's passphrases and recovery keys also unwrap.
    ///
    /// - Throws: `busy` if another process replaces it at the same time; `duplicateItem` if another protector has the new secret.
    public func changeProtector(
        _ id: UUID, to secret: ProtectorSecret, authority: ProtectorSecret? = nil
    ) throws(KeychainError) {
        let protector = try protector(secret)
        // Read first: the authority may be the secret that another process replaces meanwhile.
        let slots = try currentSession().keybags.flatMap(\.slots)
        try changeProtector(id, among: slots, to: protector, self.authority(authority))
    }

    /// - Parameter slots: The slots before the authority was opened.
    func changeProtector(
        _ id: UUID, among slots: [Keybag.Slot], to protector: any Protector, _ authority: Authority
    ) throws(KeychainError) {
        let deviceKey = try environment().deviceKey
        try changeKeybag(authority) { (keybag, authority) throws(KeychainError) in
            try keybag.checkOpensNothing(protector, deviceKey, except: id)
            guard
                let slot = keybag.slots.first(where: { $0.id == id && $0.kind == type(of: protector).kind.number })
            else { throw .noSuchSlot }
            // Both processes would report success, and one of the new secrets would open nothing.
            guard slots.contains(slot) else { throw .keybagChangedMeanwhile }
            return try keybag.changing(id, to: protector, authority, at: Date())
        }
    }

    /// Binds a vault that came from another device, or lost its device key, to this device's key. The key is created if
    /// there is none.
    ///
    /// Items for the other device only are kept, with their keys. They open again while that device key is at the
    /// vault's ``VaultLocation/deviceKeyFile``, and after the vault was bound to it again with this method.
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
                "The vault is now bound to this device's key. A later step failed.",
                next: "To see the state of the vault, run: keychainctl status")
        }
    }

    /// The cached keys belong to the previous keybag.
    func forgetUnlocking() throws(KeychainError) {
        guard let session = try openSession() else { return }
        session.keyState.forget()
        session.reads.removeAll()
        session.knownHead.forgetKeys()
        try session.keyState.removeEntries([.unlocked, .locked])
    }

    /// The protector for a secret, which is either given or found on this machine.
    func protector(_ secret: ProtectorSecret) throws(KeychainError) -> any Protector {
        try protector(secret, environment())
    }

    func protector(
        _ secret: ProtectorSecret, _ environment: ProtectorEnvironment
    ) throws(KeychainError) -> any Protector {
        guard let type = Protectors.type(secret.kind) else { throw .noSuchSlot }
        let made: (any Protector)?
        if let bytes = secret.secret {
            made = try type.make(bytes, environment)
        } else {
            made = try type.probe(environment)
        }
        guard let made else {
            guard secret.kind != CredentialProtector.kind else {
                throw CredentialProtector.missing(environment.settings)
            }
            guard secret.kind != DeviceKeyProtector.kind else {
                throw KeychainError(
                    .unavailable,
                    "There is no device key in '\(location.deviceKeyFile)'. Put it back. If it is lost, first bind the vault to this "
                        + "device: keychainctl protect adopt")
            }
            throw KeychainError(
                .unavailable, "There is no \(secret.kind.name) here. Give one, or use another protector.")
        }
        return made
    }

    /// The authority to change the keybag: a given secret, otherwise a protector on this machine.
    func authority(_ secret: ProtectorSecret?) throws(KeychainError) -> Authority {
        let session = try currentSession()
        if let secret { return try open(session, secret).authority }
        let environment = try environment()
        for protector in try Protectors.atHand(environment) {
            if let authority = try session.keybag.authority(protector, environment.deviceKey) { return authority }
        }
        throw KeychainError(
            .authenticationFailed,
            "Changing the protectors requires a passphrase or another secret that opens the vault.")
    }

    // MARK: - One transaction

    /// Replaces the keybag with the result of `edit`, in one durable transaction. The edit may take a second to derive
    /// keys, so it runs before the writer lock is taken; if the keybag has changed in the meantime, it runs again.
    ///
    /// - Parameter step: Further work in the same transaction; it gets the old and the new keybag.
    @discardableResult
    func changeKeybag(
        _ authority: Authority, within step: (Keybag, Keybag, WriteTransaction) throws -> Void = { _, _, _ in },
        _ edit: (Keybag, Authority) throws(KeychainError) -> Keybag
    ) throws(KeychainError) -> Keybag {
        for _ in 1...3 {
            let (keybags, base) = try currentSession().keybags(vouchedForBy: authority)
            try base.checkOpens(authority)
            let next = try edit(base, authority)
            PausePoint.keybagRead.reached()
            let isWritten = try write(.removal) { transaction in
                let (session, content) = (transaction.session, transaction.content)
                guard session.keybags == keybags else { return false }
                // The authority to change the keybag also opens the index, even while the vault is locked.
                session.knownHead.learn(try ClassKeys(base, authority).head)
                try step(base, next, content)
                try base.checkNothingIsLost(in: next) { try content.table.keyUse() }
                try content.write(keybag: next.bytes)
                return true
            }
            guard isWritten else { continue }
            PausePoint.keybagWritten.reached()
            // The previous keys are no longer valid. The committed change stays, even if closing the connections fails.
            do throws(KeychainError) { try close() } catch { dropSession() }
            return next
        }
        throw KeychainError.keybagChangedMeanwhile
    }
}

extension Keybag {
    /// Its keys may have outlived it: a passphrase that was replaced led to the same keys as the new one.
    ///
    /// - Throws: `busy` if another process has replaced or removed it since.
    fileprivate func checkOpens(_ authority: Authority) throws(KeychainError) {
        guard let slot = authority.slot, !slots.contains(slot) else { return }
        throw .keybagChangedMeanwhile
    }

    /// Refuses a secret that another slot has. It would still open the vault once one of the two was removed.
    ///
    /// - Parameter id: The slot that is about to get the secret, if there is one.
    fileprivate func checkOpensNothing(
        _ protector: any Protector, _ deviceKey: DeviceKey?, except id: UUID? = nil
    ) throws(KeychainError) {
        guard let opened = try slot(openedBy: protector, deviceKey), opened.id != id else { return }
        throw KeychainError(
            .duplicateItem, "This \(type(of: protector).kind.name) opens the vault already. Nothing was changed.")
    }

    /// A slot that is damaged keeps nobody from adding another one, and neither does a TPM, which has one slot at most.
    ///
    /// - Throws: An error if a slot cannot be tried now, for example for lack of memory.
    private func slot(openedBy protector: any Protector, _ deviceKey: DeviceKey?) throws(KeychainError) -> Slot? {
        do throws(KeychainError) {
            return try opening(protector, deviceKey)?.slot
        } catch {
            guard error.reason == .corrupt || protector is TPMProtector else { throw error }
            return nil
        }
    }
}

extension Session {
    /// The stored keybags, and the one among them that the authority's root key authenticates. Signing any other one
    /// would authenticate an attacker's keybag, or make a keybag unusable whose root key has changed since.
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
    static let keybagChangedMeanwhile = KeychainError(
        .busy, "Another process changed the protectors or keys of the vault at the same time. Try again.")
}
