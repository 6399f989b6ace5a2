// SPDX-License-Identifier: Apache-2.0
// Locking and unlocking a vault.

import Foundation
import KeychainCrypto
public import KeychainEngine
public import SecretMemory

/// A secret and the kind of its protector.
public struct ProtectorSecret: Sendable {
    public let kind: ProtectorKind
    /// The typed text, or the bytes; `nil` for a kind whose secret is on this machine.
    public let secret: SecretBytes?

    public init(_ kind: ProtectorKind, _ secret: SecretBytes? = nil) {
        self.kind = kind
        self.secret = secret
    }
}

extension Vault {
    /// How far the vault is unlocked for this process. A vault that does not exist yet counts as unlocked: it is
    /// created with the device key, which opens it.
    public var lockState: LockState {
        get throws(KeychainError) { try openSession()?.keyState.state ?? .unlocked }
    }

    /// Unlocks the vault: for all of the user's processes if the kernel keeps its keys, otherwise for this process.
    ///
    /// ```swift
    /// try vault.unlock(ProtectorSecret(.passphrase, passphrase), idleTimeout: .seconds(900))
    /// ```
    ///
    /// - Parameters:
    ///   - idleTimeout: How long it stays unlocked after the last use; `nil`: until it is locked, or the system restarts.
    ///     In the kernel it is rounded up to whole seconds, and it may stay unlocked for one second more.
    ///   - place: `process` unlocks for this process only; `nil` uses ``unlockCacheInUse``.
    /// - Throws: `authenticationFailed` if the secret is wrong, or no secret of that kind opens the vault; `corrupt` if its
    ///   slot is damaged, `unavailable` if there is no vault.
    public func unlock(
        _ secret: ProtectorSecret, idleTimeout: Duration? = nil,
        keepingKeysIn place: VaultSettings.UnlockCacheKind? = nil
    ) throws(KeychainError) {
        let cache: any UnlockCache = place == .process ? ProcessUnlockCache() : settings.cache
        defer { announceLockState() }
        for _ in 0..<Self.mostUnlockings {
            let session = try currentSession()
            let opening = try open(session, secret)
            try store(opening.authority, session, idleTimeout, in: cache)
            // Another process may have given the vault a new root key since. Then these keys open nothing.
            let keys = opening.authority.wrappingKeys
            if try currentSession().keybags.contains(where: { $0.isAuthentic(keys) }) {
                return try rewrapIfWeak(opening)
            }
            for state in [LockState.locked, .unlocked] { try cache.remove(state, vaultID: session.keybag.vaultID) }
        }
        throw KeychainError.keybagChangedMeanwhile
    }

    /// How often to open the vault again if its keys are replaced meanwhile.
    private static let mostUnlockings = 3

    /// Closes the classes that are open only while the vault is unlocked, for all processes that share the unlock, and
    /// wipes the keys of this process.
    ///
    /// A credential opens the vault only for the service that received it: all other processes are locked, and that
    /// service continues.
    ///
    /// - Parameter forgettingFirstUnlock: Whether to close also the classes that stay open after the first unlock.
    /// - Returns: The credential that still opens the vault for this process without a prompt; `nil` if there is none.
    /// - Throws: `unsupported` if this locks no process out: the device key opens the vault for all processes, or a
    ///   credential opens it for this process and each process keeps its own keys.
    @discardableResult
    public func lock(forgettingFirstUnlock: Bool = false) throws(KeychainError) -> ProtectorKind? {
        let session = try openSession()
        defer { announceLockState() }
        // The keys of this process are wiped even if the cache cannot be reached, and earlier cached keys are removed
        // even if the vault now opens by itself.
        session?.keyState.forget()
        session?.reads.removeAll()
        session?.knownHead.forgetKeys()
        RecentProof.forget(self)
        PausePoint.beforeCacheRemoval.reached()
        try session?.keyState.removeEntries(forgettingFirstUnlock ? [.unlocked, .locked] : [.unlocked])
        guard let session else { throw Self.opensForAll([]) }
        switch session.keyState.openedBy {
        case nil: return nil
        case .credential? where settings.cacheInUse == .kernel: return .credential
        case .credential?:
            throw KeychainError(
                .unsupported,
                "The credential opens the vault for this process, and other processes keep their own keys. Locking it here "
                    + "would have no effect.")
        default: throw Self.opensForAll(session.keybag.slots)
        }
    }

    private static func opensForAll(_ slots: [Keybag.Slot]) -> KeychainError {
        // What somebody gives each time would open it then.
        let isLockable = slots.contains { slot in ProtectorKind(number: slot.kind).map { $0.input != .found } ?? false }
        let start = isLockable ? "Remove" : "Add a passphrase and remove"
        return KeychainError(
            .unsupported,
            "This vault opens without a prompt, so locking it would have no effect. "
                + "\(start) the device key: \(isLockable ? "" : "keychainctl protect add passphrase; ")"
                + "keychainctl protect remove device-key")
    }

    /// The session, with the current stored keybag.
    func currentSession() throws(KeychainError) -> Session {
        if let session = try openSession(), try !closeIfKeybagChanged(session) { return session }
        guard let session = try openSession() else {
            throw KeychainError(
                .unavailable, "There is no vault in '\(location.folder)' yet. To create one: keychainctl init")
        }
        return session
    }

    /// The result of opening the vault with a secret.
    struct Opening {
        let authority: Authority
        let slot: Keybag.Slot
        let protector: any Protector
    }

    func open(_ session: Session, _ secret: ProtectorSecret) throws(KeychainError) -> Opening {
        let protector = try protector(secret)
        let deviceKey = try environment().deviceKey
        // Not `itemNotFound`: callers who unlock to read an item would take it for the item that is missing.
        guard session.keybag.slots.contains(where: { $0.kind == secret.kind.number }) else {
            throw KeychainError(
                .authenticationFailed,
                "No \(secret.kind.name) opens the vault in '\(location.folder)'. To see what does: keychainctl status")
        }
        let opened = try session.firstOpening { (keybag) throws(KeychainError) in
            try keybag.opening(protector, deviceKey)
        }
        guard let opened else {
            throw KeychainError(.authenticationFailed, "The \(secret.kind.name) does not open this vault.")
        }
        return Opening(authority: opened.authority, slot: opened.slot, protector: protector)
    }

    func environment() throws(KeychainError) -> ProtectorEnvironment {
        let canDoWithout = try openSession()?.keybag.canBeUnlocked ?? false
        return try ProtectorEnvironment(location, settings, canDoWithoutDeviceKey: canDoWithout)
    }

    private func store(
        _ authority: Authority, _ session: Session, _ idleTimeout: Duration?, in cache: any UnlockCache
    ) throws(KeychainError) {
        let (bootID, vaultID) = (try BootID.read(settings.bootIDFile), session.keybag.vaultID)
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
            // After a failure, nothing stays open that was closed before.
            if !wasThere { try cache.remove(.locked, vaultID: vaultID) }
            throw error
        }
    }

    /// An old slot may have a lower cost than today's minimum. After an unlock with it, the secret is known, so the
    /// slot can be written again.
    func rewrapIfWeak(_ opening: Opening) throws(KeychainError) {
        guard opening.protector.shouldRewrap(opening.slot) else { return }
        do throws(KeychainError) {
            try changeKeybag(opening.authority) { (keybag, authority) throws(KeychainError) in
                try keybag.changing(opening.slot.id, to: opening.protector, authority, at: Date())
            }
        } catch {
            // The vault is open anyway, and the next unlock tries again. `busy` also if another process that just unlocked has
            // replaced the slot.
            guard [.readOnly, .busy, .diskFull, .unavailable].contains(error.reason) else { throw error }
        }
    }
}

extension Session {
    /// The result for the first keybag that is not damaged: an attacker may have changed one copy and corrected its
    /// checksum.
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
