// SPDX-License-Identifier: Apache-2.0
// Which keys of a vault are open to this process now.

import Foundation
import KeychainCrypto
import KeychainEngine
import SecretMemory
import Synchronization

/// The keys of one session: always open if a protector at hand opens the vault, else open for as long as the unlock cache
/// holds them, which is looked at before every call.
final class KeyState: Sendable {
    /// What was built from one entry of the cache.
    private struct Opened {
        let sealer: RowSealer
        /// The stored one that the entry's keys authenticate.
        let keybag: Keybag
        let cache: any UnlockCache
        let token: UnlockToken
        var idleTimeout: Duration?
        /// When use put the timeout off last; `nil` if this process has only looked so far.
        var renewed: ContinuousClock.Instant?
    }

    /// What a caller does with the keys.
    enum Purpose {
        /// Reading or writing items, which puts the idle timeout off.
        case using
        /// Telling how the vault is, or what has changed in it: no use, however often it happens.
        case looking
    }

    /// What opens the vault without anybody unlocking it.
    struct Permanent {
        let sealer: RowSealer
        let kind: ProtectorKind
    }

    private struct Current {
        var opened: [LockState: Opened] = [:]
        var always: RowSealer?
    }

    /// Where an entry may be: an unlocking for this process alone comes before one for all.
    private let caches: [any UnlockCache]
    var vaultID: UUID { keybags[0].vaultID }
    /// The stored keybags that are whole, the newest first.
    private let keybags: [Keybag]
    private let deviceKey: DeviceKey?
    private let bootIDFile: String
    /// `nil` if the vault does not open by itself.
    private let permanent: Permanent?
    /// The file of a credential that is here and opens none of the slots for credentials, while nothing else at hand opens the
    /// vault; `nil` if there is no such thing.
    let wrongCredential: String?
    private let current = Mutex(Current())

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

    /// Whether the vault opens here without anybody unlocking it.
    var isAlwaysUnlocked: Bool { permanent != nil }
    /// By what; `nil` if it does not.
    var openedBy: ProtectorKind? { permanent?.kind }

    /// What seals and opens rows now.
    ///
    /// - Throws: `locked` if not even the index is open.
    func sealer(_ purpose: Purpose = .using) throws(KeychainError) -> RowSealer {
        if let permanent { return permanent.sealer }
        return try current.withLock { (current) throws(KeychainError) in
            for state in [LockState.unlocked, .locked] {
                if let sealer = try cached(state, purpose, &current) { return sealer }
            }
            return try always(&current)
        }
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

    /// Whether items can be looked for.
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

    /// The stored keybag that keys which are open authenticate; `nil` before the first unlock.
    var authentic: Keybag? {
        if isAlwaysUnlocked { return keybags[0] }
        return current.withLock { $0.opened.values.first?.keybag }
    }

    /// Drops, and so wipes, all keys that were opened by unlocking.
    func forget() {
        current.withLock { $0 = Current() }
    }

    /// The same for those that have been locked meanwhile.
    func forgetLocked() {
        current.withLock { current in
            current.opened = current.opened.filter { $0.value.cache.isAlive($0.value.token) }
        }
    }

    /// Takes the entries of these states away, from every process that shares them.
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

    /// - Returns: `nil` if the cache has no entry, or one whose keys do not fit: they are those of before a protector was
    ///   removed.
    private func opened(_ state: LockState, by cache: any UnlockCache) throws(KeychainError) -> Opened? {
        guard let (entry, token) = try cache.find(state, vaultID: vaultID),
            entry.bootID == BootID.read(bootIDFile),
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

    /// Use puts the timeout off; not at each call, which would be another call of the system.
    private func renewIfDue(_ state: LockState, _ current: inout Current) throws(KeychainError) {
        guard let opened = current.opened[state] else { return }
        let (now, longest) = (ContinuousClock.now, Duration.seconds(10))
        let pause = min(opened.idleTimeout.map { $0 / 8 } ?? longest, longest)
        guard opened.renewed.map({ now - $0 > pause }) ?? true else { return }
        // Unlocking anew may have given the same entry another timeout.
        guard let (entry, token) = try opened.cache.find(state, vaultID: vaultID), token == opened.token else { return }
        current.opened[state]?.renewed = now
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
