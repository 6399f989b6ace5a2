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
        let token: UnlockToken
        let idleTimeout: Duration?
        var renewed: ContinuousClock.Instant
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
    private let current = Mutex(Current())

    init(
        _ keybags: [Keybag], deviceKey: DeviceKey?, permanent: Permanent?, _ caches: [any UnlockCache],
        bootIDFile: String
    ) {
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
    func sealer() throws(KeychainFailure) -> RowSealer {
        if let permanent { return permanent.sealer }
        return try current.withLock { (current) throws(KeychainFailure) in
            for state in [LockState.unlocked, .locked] {
                if let sealer = try cached(state, &current) { return sealer }
            }
            return try always(&current)
        }
    }

    var state: LockState {
        get throws(KeychainFailure) {
            do throws(KeychainFailure) {
                return try sealer().keys.state
            } catch {
                guard error.reason == .locked else { throw error }
                return .beforeFirstUnlock
            }
        }
    }

    /// Whether items can be looked for.
    var hasIndex: Bool {
        get throws(KeychainFailure) {
            do throws(KeychainFailure) {
                _ = try sealer()
                return true
            } catch {
                guard error.reason == .locked else { throw error }
                return false
            }
        }
    }

    /// Drops, and so wipes, all keys that were opened by unlocking.
    func forget() {
        current.withLock { $0 = Current() }
    }

    /// Takes the entries of these states away, from every process that shares them.
    func removeEntries(_ states: [LockState]) throws(KeychainFailure) {
        for cache in caches {
            for state in states { try cache.remove(state, vaultID: keybags[0].vaultID) }
        }
    }

    // MARK: - By the cache

    private func cached(_ state: LockState, _ current: inout Current) throws(KeychainFailure) -> RowSealer? {
        if let opened = current.opened[state] {
            if caches.contains(where: { $0.isAlive(opened.token) }) {
                renewIfDue(state, &current)
                return opened.sealer
            }
            current.opened[state] = nil
        }
        guard let (entry, token) = try find(state),
            entry.bootID == BootID.read(bootIDFile),
            let keys = WrappingKeys(bytes: entry.keys, vaultID: vaultID)
        else { return nil }
        // Keys that do not fit are those of before a protector was removed.
        guard let sealer = try opened(keys, state) else { return nil }
        current.opened[state] = Opened(
            sealer: sealer, token: token, idleTimeout: entry.idleTimeout, renewed: .now)
        if let timeout = entry.idleTimeout { renew(token, timeout) }
        return sealer
    }

    func find(_ state: LockState) throws(KeychainFailure) -> (entry: UnlockEntry, token: UnlockToken)? {
        for cache in caches {
            if let found = try cache.find(state, vaultID: vaultID) { return found }
        }
        return nil
    }

    private func renew(_ token: UnlockToken, _ timeout: Duration) {
        for cache in caches { cache.renew(token, timeout) }
    }

    private func opened(_ keys: WrappingKeys, _ state: LockState) throws(KeychainFailure) -> RowSealer? {
        guard let keybag = keybags.first(where: { $0.isAuthentic(keys) }) else { return nil }
        return RowSealer(try ClassKeys(keybag, keys, state), userPublicKey: keybag.userKey?.publicKey)
    }

    /// Use puts the timeout off; not at each call, which would be another call of the system.
    private func renewIfDue(_ state: LockState, _ current: inout Current) {
        guard let opened = current.opened[state], let timeout = opened.idleTimeout else { return }
        let now = ContinuousClock.now
        guard now - opened.renewed > min(timeout / 8, .seconds(10)) else { return }
        current.opened[state]?.renewed = now
        renew(opened.token, timeout)
    }

    // MARK: - Without

    private func always(_ current: inout Current) throws(KeychainFailure) -> RowSealer {
        if let sealer = current.always { return sealer }
        let keybag = keybags[0]
        guard let section = keybag.always, let deviceKey, section.deviceKeyID == deviceKey.id else { throw .locked }
        let keys = try WrappingKeys(section, deviceKey: deviceKey, vaultID: keybag.vaultID)
        let sealer = RowSealer(try ClassKeys(keybag, keys, .beforeFirstUnlock))
        current.always = sealer
        return sealer
    }
}
