// SPDX-License-Identifier: Apache-2.0
// The keys of a vault that are open to this process now.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory

/// The keys of one session: always open if a protector on this machine opens the vault, otherwise open while the unlock
/// cache contains them, which is checked before every call.
final class KeyState: Sendable {
    /// The keys built from one entry of the cache.
    private struct Opened {
        let sealer: RowSealer
        /// The stored keybag that the entry's keys authenticate.
        let keybag: Keybag
        let cache: any UnlockCache
        let token: UnlockToken
        var idleTimeout: Duration?
        /// When use last extended the timeout; `nil` if this process has only looked so far.
        var renewed: ContinuousClock.Instant?

        /// Use extends the timeout, but not at each call, which would cost another system call.
        var isRenewalDue: Bool {
            let longest = Duration.seconds(10)
            let pause = min(idleTimeout.map { $0 / 8 } ?? longest, longest)
            return renewed.map { ContinuousClock.now - $0 > pause } ?? true
        }
    }

    /// The purpose for which a caller needs the keys.
    enum Purpose {
        /// Reading or writing items, which extends the idle timeout.
        case using
        /// Reporting the state of the vault or its changes. This does not extend the timeout, however often it happens.
        case looking
    }

    /// The keys of a vault that opens without being unlocked.
    struct Permanent {
        let sealer: RowSealer
        let kind: ProtectorKind
    }

    private struct Current {
        var opened: [LockState: Opened] = [:]
        var always: RowSealer?
    }

    /// The caches that may contain an entry: an unlock for this process only takes precedence over one for all.
    private let caches: [any UnlockCache]
    var vaultID: UUID { keybags[0].vaultID }
    /// The intact stored keybags, the newest first.
    private let keybags: [Keybag]
    private let deviceKey: DeviceKey?
    private let bootIDFile: String
    /// `nil` if the vault does not open by itself.
    private let permanent: Permanent?
    /// The file of a credential that opens none of the slots for credentials, while nothing else on this machine opens
    /// the vault; otherwise `nil`.
    let wrongCredential: String?
    private let current = Guarded(Current())

    init(
        _ keybags: [Keybag], deviceKey: DeviceKey?, permanent: Permanent?, wrongCredential: String? = nil,
        _ caches: [any UnlockCache], bootIDFile: String
    ) {
        self.wrongCredential = wrongCredential
        self.keybags = keybags
        self.deviceKey = deviceKey
        self.permanent = permanent
        self.caches = caches
        self.bootIDFile = bootIDFile
    }

    /// Whether the vault opens on this machine without being unlocked.
    var isAlwaysUnlocked: Bool { permanent != nil }
    /// What opens it; `nil` if it does not open by itself.
    var openedBy: ProtectorKind? { permanent?.kind }

    /// The sealer that seals and opens rows now.
    ///
    /// - Throws: `locked` if not even the index is open.
    func sealer(_ purpose: Purpose = .using) throws(KeychainError) -> RowSealer {
        if let permanent { return permanent.sealer }
        if let sealer = unlockedSealer(purpose) { return sealer }
        return try current.withLock { (current) throws(KeychainError) in
            for state in [LockState.unlocked, .locked] {
                if let sealer = try cached(state, purpose, &current) { return sealer }
            }
            return try always(&current)
        }
    }

    /// Asks the kernel without the lock: threads that read would wait for one another.
    ///
    /// - Returns: `nil` if the vault is not known to be unlocked, or the timeout has to be extended.
    private func unlockedSealer(_ purpose: Purpose) -> RowSealer? {
        let found = current.withLock { current in
            current.opened[.unlocked].map { ($0.sealer, $0.cache, $0.token, $0.isRenewalDue) }
        }
        guard let (sealer, cache, token, isRenewalDue) = found, purpose == .looking || !isRenewalDue else { return nil }
        return cache.isAlive(token) ? sealer : nil
    }

    var state: LockState {
        get throws(KeychainError) {
            do throws(KeychainError) {
                return try sealer(.looking).keys.state
            } catch {
                guard error.reason == .locked else { throw error }
                return .beforeFirstUnlock
            }
        }
    }

    /// Whether items can be searched.
    var hasIndex: Bool {
        get throws(KeychainError) {
            do throws(KeychainError) {
                _ = try sealer(.looking)
                return true
            } catch {
                guard error.reason == .locked else { throw error }
                return false
            }
        }
    }

    /// The stored keybag that the open keys authenticate; `nil` before the first unlock.
    var authentic: Keybag? {
        if isAlwaysUnlocked { return keybags[0] }
        return current.withLock { $0.opened.values.first?.keybag }
    }

    /// Drops, and so wipes, all keys that were opened by unlocking.
    func forget() {
        current.withLock { $0 = Current() }
    }

    /// The same, only for keys that have been locked in the meantime.
    func forgetLocked() {
        current.withLock { current in
            current.opened = current.opened.filter { $0.value.cache.isAlive($0.value.token) }
        }
    }

    /// Removes the entries of these states, for every process that shares them.
    func removeEntries(_ states: [LockState]) throws(KeychainError) {
        for cache in caches {
            for state in states { try cache.remove(state, vaultID: keybags[0].vaultID) }
        }
    }

    // MARK: - By the cache

    private func cached(
        _ state: LockState, _ purpose: Purpose, _ current: inout Current
    ) throws(KeychainError) -> RowSealer? {
        if let opened = current.opened[state] {
            if opened.cache.isAlive(opened.token) {
                if case .using = purpose { try renewIfDue(state, &current) }
                return opened.sealer
            }
            current.opened[state] = nil
        }
        for cache in caches {
            guard let opened = try opened(state, by: cache) else { continue }
            current.opened[state] = opened
            if case .using = purpose { try renewIfDue(state, &current) }
            return opened.sealer
        }
        return nil
    }

    /// - Returns: `nil` if the cache has no entry, or one with outdated keys from before a protector was removed.
    private func opened(_ state: LockState, by cache: any UnlockCache) throws(KeychainError) -> Opened? {
        guard let (entry, token) = try cache.find(state, vaultID: vaultID),
            try entry.bootID == BootID.read(bootIDFile),
            let keys = WrappingKeys(bytes: entry.keys, vaultID: vaultID),
            let keybag = keybags.first(where: { $0.isAuthentic(keys) })
        else { return nil }
        let classKeys = try ClassKeys(keybag, keys, state, deviceKey)
        let sealer = RowSealer(classKeys, userPublicKey: keybag.userKey?.publicKey)
        return Opened(
            sealer: sealer, keybag: keybag, cache: cache, token: token, idleTimeout: entry.idleTimeout)
    }

    func find(_ state: LockState) throws(KeychainError) -> (entry: UnlockEntry, token: UnlockToken)? {
        for cache in caches {
            if let found = try cache.find(state, vaultID: vaultID) { return found }
        }
        return nil
    }

    private func renewIfDue(_ state: LockState, _ current: inout Current) throws(KeychainError) {
        guard let opened = current.opened[state], opened.isRenewalDue else { return }
        // Another unlock may have given the same entry another timeout.
        guard let (entry, token) = try opened.cache.find(state, vaultID: vaultID), token == opened.token else { return }
        current.opened[state]?.renewed = .now
        current.opened[state]?.idleTimeout = entry.idleTimeout
        if let timeout = entry.idleTimeout { opened.cache.renew(token, timeout) }
    }

    // MARK: - Without

    private func always(_ current: inout Current) throws(KeychainError) -> RowSealer {
        if let sealer = current.always { return sealer }
        let keybag = keybags[0]
        guard let section = keybag.always, let deviceKey, section.deviceKeyID == deviceKey.id else { throw .locked }
        let keys = try WrappingKeys(section, deviceKey: deviceKey, vaultID: keybag.vaultID)
        let sealer = RowSealer(try ClassKeys(keybag, keys, .beforeFirstUnlock, deviceKey))
        current.always = sealer
        return sealer
    }
}
