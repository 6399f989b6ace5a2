// SPDX-License-Identifier: Apache-2.0
// Locking and unlocking a vault.

import Foundation
import KeychainCrypto
public import KeychainEngine
public import SecretMemory

/// A secret and the kind of protector that it belongs to.
public struct ProtectorSecret: Sendable {
    public let kind: ProtectorKind
    /// The typed text, or the bytes; `nil` for a kind that finds its secret on this machine.
    public let secret: SecretBytes?

    public init(_ kind: ProtectorKind, _ secret: SecretBytes? = nil) {
        self.kind = kind
        self.secret = secret
    }
}

extension Vault {
    /// How far the vault is unlocked for this process. A vault that does not exist yet counts as unlocked: it is made with
    /// the device key, which opens it.
    public var lockState: LockState {
        get throws(KeychainError) { try openSession()?.keyState.state ?? .unlocked }
    }

    /// Unlocks the vault, for all of the user's processes if the kernel keeps keys for it, else for this process.
    ///
    /// ```swift
    /// try vault.unlock(ProtectorSecret(.passphrase, passphrase), idleTimeout: .seconds(900))
    /// ```
    ///
    /// - Parameters:
    ///   - idleTimeout: How long it stays unlocked after the last use; `nil`: until it is locked, or the system restarts.
    ///   - place: `process` unlocks for this process alone; `nil`: what ``unlockCacheInUse`` says.
    /// - Throws: `authenticationFailed` if the secret is wrong, `corrupt` if its slot is damaged, `itemNotFound` if the vault
    ///   has no slot of that kind, `unavailable` if there is no vault.
    public func unlock(
        _ secret: ProtectorSecret, idleTimeout: Duration? = nil,
        keepingKeysIn place: VaultSettings.UnlockCacheKind? = nil
    ) throws(KeychainError) {
        let session = try currentSession()
        let opening = try open(session, secret)
        let cache: any UnlockCache = place == .process ? ProcessUnlockCache() : settings.cache
        defer { announceLockState() }
        try store(opening.authority, session, idleTimeout, in: cache)
        try rewrapIfWeak(opening)
    }

    /// Closes what is open only while the vault is unlocked, for all processes that share the unlocking, and wipes the keys
    /// of this one.
    ///
    /// A credential opens the vault for the service that it was given to, and for nobody else: all others are locked, and that
    /// service goes on.
    ///
    /// - Parameter forgettingFirstUnlock: Whether to close as well what stays open after the first unlock.
    /// - Returns: What still opens the vault for this process without anybody being asked, a credential; `nil` if nothing does.
    /// - Throws: `unsupported` if nobody can be locked out: the device key opens the vault for all processes, or a credential
    ///   opens it for this process, and each process keeps its own keys.
    @discardableResult
    public func lock(forgettingFirstUnlock: Bool = false) throws(KeychainError) -> ProtectorKind? {
        let session = try openSession()
        defer { announceLockState() }
        // Those of this process go even if the cache cannot be reached, and what was cached earlier goes even if the vault
        // opens by itself now.
        session?.keyState.forget()
        session?.knownHead.forgetKeys()
        RecentProof.forget(self)
        PausePoint.beforeCacheRemoval.reached()
        try session?.keyState.removeEntries(forgettingFirstUnlock ? [.unlocked, .locked] : [.unlocked])
        guard let session else { throw Self.opensForAll }
        switch session.keyState.openedBy {
        case nil: return nil
        case .credential? where settings.cacheInUse == .kernel: return .credential
        case .credential?:
            throw KeychainError(
                .unsupported,
                "The credential opens the vault for this process, and others keep their own keys, so locking it here would "
                    + "change nothing.")
        default: throw Self.opensForAll
        }
    }

    private static let opensForAll = KeychainError(
        .unsupported,
        "This vault opens without asking anybody, so locking it would change nothing. Give it a passphrase and "
            + "take the device key away: keychainctl protect add passphrase; keychainctl protect remove device-key")

    /// The session, with the keybag as it is stored now.
    func currentSession() throws(KeychainError) -> Session {
        if let session = try openSession(), try !closeIfKeybagChanged(session) { return session }
        guard let session = try openSession() else {
            throw KeychainError(
                .unavailable, "There is no vault in '\(location.folder)' yet. Make one: keychainctl init")
        }
        return session
    }

    /// What a secret opened.
    struct Opening {
        let authority: Authority
        let slot: Keybag.Slot
        let protector: any Protector
    }

    func open(_ session: Session, _ secret: ProtectorSecret) throws(KeychainError) -> Opening {
        let protector = try protector(secret)
        let deviceKey = try surroundings().deviceKey
        guard session.keybag.slots.contains(where: { $0.kind == secret.kind.number }) else { throw .noSuchSlot }
        let opened = try session.firstOpening { (keybag) throws(KeychainError) in
            try keybag.opening(protector, deviceKey)
        }
        guard let opened else {
            throw KeychainError(.authenticationFailed, "The \(secret.kind.name) is not one that opens this vault.")
        }
        return Opening(authority: opened.authority, slot: opened.slot, protector: protector)
    }

    func surroundings() throws(KeychainError) -> Surroundings {
        let canDoWithout = try openSession()?.keybag.canBeUnlocked ?? false
        return try Surroundings(location, settings, canDoWithoutDeviceKey: canDoWithout)
    }

    private func store(
        _ authority: Authority, _ session: Session, _ idleTimeout: Duration?, in cache: any UnlockCache
    ) throws(KeychainError) {
        let (bootID, vaultID) = (BootID.read(settings.bootIDFile), session.keybag.vaultID)
        func store(_ state: LockState, _ timeout: Duration?) throws(KeychainError) {
            let keys = authority.wrappingKeys.limited(to: state)
            let entry = UnlockEntry(bootID: bootID, idleTimeout: timeout, keys: keys.bytes)
            PausePoint.beforeCacheStore.reached()
            _ = try cache.store(entry, state, vaultID: vaultID)
        }
        let wasThere = try cache.find(.locked, vaultID: vaultID) != nil
        try store(.locked, nil)
        do throws(KeychainError) {
            try store(.unlocked, idleTimeout)
        } catch {
            // Nothing is open that was not before.
            if !wasThere { try cache.remove(.locked, vaultID: vaultID) }
            throw error
        }
    }

    /// An old slot may ask for less work than is right today; who unlocks with it has what it takes to make it anew.
    func rewrapIfWeak(_ opening: Opening) throws(KeychainError) {
        guard opening.protector.shouldRewrap(opening.slot) else { return }
        do throws(KeychainError) {
            try changeKeybag(opening.authority) { (keybag, authority) throws(KeychainError) in
                // It may hold another secret by now, which must not give way to the one of before.
                guard keybag.slots.contains(opening.slot) else { throw .noSuchSlot }
                return try keybag.changing(opening.slot.id, to: opening.protector, authority, at: Date())
            }
        } catch {
            // The vault is open all the same, and the next unlock tries again. A slot that is gone was made anew by another
            // process that has just unlocked.
            guard [.readOnly, .busy, .diskFull, .unavailable, .itemNotFound].contains(error.reason) else { throw error }
        }
    }
}

extension Session {
    /// What the first keybag gives that is not damaged: somebody may have spoiled one copy and made its checksum fit.
    func firstOpening<Opened>(
        _ open: (Keybag) throws(KeychainError) -> Opened?
    ) throws(KeychainError) -> Opened? {
        var damage: KeychainError?
        for keybag in keybags {
            do throws(KeychainError) {
                if let opened = try open(keybag) { return opened }
            } catch {
                guard error.reason == .corrupt else { throw error }
                damage = error
            }
        }
        if let damage { throw damage }
        return nil
    }
}
