// SPDX-License-Identifier: Apache-2.0
// Observing a vault.

public import KeychainEngine

extension Vault {
    /// Calls `body` after items or the lock state may have changed, by whatever process, until the observation goes.
    ///
    /// Waiting takes no processor time. The vault need not exist yet, and may be removed, made anew or replaced by a copy
    /// meanwhile. Several changes may be one call, a call may be for nothing, and reading alone causes none.
    ///
    /// ```swift
    /// let observation = try vault.observe { print("something may have changed") }
    /// ```
    ///
    /// That an idle timeout has run out is noticed at most an eighth of it late. Not noticed is what happens on another
    /// machine that shares the folder, that something is mounted over a folder above the vault, and that a symbolic link
    /// above it leads elsewhere.
    ///
    /// - Throws: `unavailable` if the system's limits on watching files are reached
    ///   (`fs.inotify.max_user_instances`, `fs.inotify.max_user_watches`), the lowest folder that exists cannot be read, or
    ///   this is the child of a fork whose parent was observing; `unsupported` where there is no Linux.
    public func observe(_ body: @escaping @Sendable () -> Void) throws(KeychainError) -> StoreObservation {
        try changes.observe(self, body)
    }

    /// Tells every process that observes the vault that its lock state may have changed, of which the files show nothing.
    func announceLockState() {
        guard !FileLock.touch(location.lockFile) else { return }
        // On a medium that cannot be written nobody else could be told.
        changes.announce()
    }

    /// How long the vault stays unlocked without use; `nil` if it is not unlocked, or for good. Asking is no use.
    var idleTimeout: Duration? {
        do throws(KeychainError) {
            guard let keyState = try openSession()?.keyState, !keyState.isAlwaysUnlocked else { return nil }
            return try keyState.find(.unlocked)?.entry.idleTimeout
        } catch {
            return nil  // Whoever asks the vault for something is told why that fails.
        }
    }
}
