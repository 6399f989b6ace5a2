// SPDX-License-Identifier: Apache-2.0
// Observing a vault.

public import KeychainEngine

extension Vault {
    /// Calls `body` after any process may have changed items or the lock state, until the observation is released.
    ///
    /// Waiting takes no processor time. The vault need not exist yet, and may be removed, created again or replaced by
    /// a copy in the meantime. Several changes may cause one call, a call may come without a change, and reading causes
    /// none.
    ///
    /// ```swift
    /// let observation = try vault.observe { print("something may have changed") }
    /// ```
    ///
    /// The end of an idle timeout is noticed with a delay of at most an eighth of it. These changes are not noticed:
    /// writes by another machine that shares the folder, a mount over a folder above the vault, and a changed symbolic
    /// link above it.
    ///
    /// - Throws: `unavailable` if the system's limits on watching files are reached (`fs.inotify.max_user_instances`,
    ///   `fs.inotify.max_user_watches`), the lowest folder that exists cannot be read, or this is the child of a fork
    ///   whose parent was observing; `unsupported` on systems other than Linux.
    public func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        let subject = VaultChanges.Subject(
            location: location, idleTimeout: { [weak self] () throws(KeychainError) in try self?.idleTimeout },
            lookAgain: { [weak self] in self?.lookAgain() })
        return try changes.observe(subject, body)
    }

    /// Notifies every process that observes the vault that its lock state may have changed, since the files do not show
    /// it.
    func announceLockState() {
        guard !FileLock.touch(location.lockFile) else { return }
        // On a read-only medium, other processes cannot be notified.
        changes.announce()
    }

    /// How long the vault stays unlocked without use; `nil` if it is not unlocked, or has no timeout. The call does not
    /// count as use.
    var idleTimeout: Duration? {
        get throws(KeychainError) {
            guard let keyState = try openSession()?.keyState, !keyState.isAlwaysUnlocked else { return nil }
            return try keyState.find(.unlocked)?.entry.idleTimeout
        }
    }
}
