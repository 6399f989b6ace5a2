// SPDX-License-Identifier: Apache-2.0
// The unlock cache in the user's kernel keyring: one unlock serves all of the user's processes.

import Foundation
import KeychainEngine
import SecretMemory

/// Entries in the user's kernel keyring. The kernel removes them when their timeout expires, when the user's last
/// process ends, and when the system restarts.
///
/// Does not protect against other processes of the user: each of them can read the keyring.
struct KernelUnlockCache: UnlockCache {
    /// Reading an entry does not extend its timeout; only setting it does.
    func store(
        _ entry: UnlockEntry, _ state: LockState, vaultID: UUID
    ) throws(KeychainError) -> UnlockToken {
        do {
            let lifetime = entry.idleTimeout.map(Self.lifetime)
            let key = try KernelKeyring.store(entry.bytes, as: name(state, vaultID), timeout: lifetime)
            return .kernel(key)
        } catch {
            throw Self.failure(error)
        }
    }

    func find(
        _ state: LockState, vaultID: UUID
    ) throws(KeychainError) -> (entry: UnlockEntry, token: UnlockToken)? {
        do {
            guard let key = try KernelKeyring.find(name(state, vaultID)), let bytes = try KernelKeyring.read(key),
                let entry = UnlockEntry(bytes: bytes)
            else { return nil }
            return (entry, .kernel(key))
        } catch {
            throw Self.failure(error)
        }
    }

    func isAlive(_ token: UnlockToken) -> Bool {
        guard case .kernel(let key) = token else { return false }
        return KernelKeyring.isAlive(key)
    }

    func renew(_ token: UnlockToken, _ timeout: Duration) {
        guard case .kernel(let key) = token else { return }
        do {
            try KernelKeyring.setTimeout(Self.lifetime(timeout), of: key)
        } catch {
            // The entry has expired in the meantime: the vault is locked, and the next call reports that.
        }
    }

    func remove(_ state: LockState, vaultID: UUID) throws(KeychainError) {
        do {
            guard let key = try KernelKeyring.find(name(state, vaultID)) else { return }
            try KernelKeyring.remove(key)
        } catch {
            throw Self.failure(error)
        }
    }

    /// Whether this process may use keyrings; containers often forbid it.
    static let isUsable: Bool = {
        do {
            _ = try KernelKeyring.find("swift-keychain:probe")
            return true
        } catch {
            return false
        }
    }()

    /// The kernel compares whole seconds of its clock, so its keys expire up to one second early. A timeout of one second could be
    /// over at once.
    private static func lifetime(_ timeout: Duration) -> Duration {
        .seconds(min(timeout / .seconds(1), Double(UInt32.max - 1)).rounded(.up) + 1)
    }

    private func name(_ state: LockState, _ vaultID: UUID) -> String {
        "swift-keychain:\(vaultID.uuidString.lowercased()):\(state.rawValue)"
    }

    private static func failure(_ failure: KernelKeyring.Failure) -> KeychainError {
        let text = String(cString: strerror(failure.code))
        guard failure.code == EDQUOT else {
            return KeychainError(
                .unavailable,
                "The kernel keyring failed: \(text). To work without it, set KEYCHAIN_UNLOCK_CACHE=process")
        }
        return KeychainError(
            .diskFull,
            "The kernel keyring of this user is full (kernel.keys.maxbytes), so the lock state was not changed. "
                + "Remove keys that are not needed (keyctl show @u), set KEYCHAIN_UNLOCK_CACHE=process, or give the "
                + "secret with each command."
        )
    }
}
