// SPDX-License-Identifier: Apache-2.0
// One writer at a time among all processes and threads, with a timeout.

internal import CKeychainShims
import Foundation
import KeychainEngine

/// An exclusive `flock` on a file or folder.
///
/// SQLite could arbitrate between writers itself, but it polls with growing pauses: with eight writing processes the
/// longest wait was twenty times that of a lock file. The lock ends with its process, so it is never stale.
///
/// Observers wait for the close of a file that was opened for writing (``VaultWatch``). So the file is opened for
/// writing, and closed only when the change is visible.
struct FileLock {
    let descriptor: Int32
    /// The number of forks before this process, and of children that it had forked, when the file was opened.
    private let forks = keychain_fork_count()
    private let children = keychain_child_count()

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// How long to wait for a lock.
    struct Wait {
        let timeout: Duration
        let end: ContinuousClock.Instant
        /// Ends the wait when the call ends.
        let gate: CommitGate?

        init(_ timeout: Duration, _ gate: CommitGate? = nil) {
            self.timeout = timeout
            end = .now + timeout
            self.gate = gate
        }

        func hasEnded() throws(KeychainError) -> Bool {
            try gate?.check()
            return ContinuousClock.now >= end
        }
    }

    /// Waits until no other process or thread holds the lock.
    ///
    /// - Returns: `nil` if the file was removed or replaced in the meantime: others may then hold the lock on the new
    ///   file.
    /// - Throws: `busy` when the time is up, and the error with which the gate was closed.
    static func take(_ path: String, flags: Int32, _ wait: Wait) throws(KeychainError) -> FileLock? {
        guard let lock = try open(path, flags) else { return nil }
        do throws(KeychainError) {
            PausePoint.lockFileOpened.reached()
            try lock.take(path, wait)
            PausePoint.lockTaken.reached()
            if try lock.isStill(at: path) { return lock }
            if try wait.hasEnded() { throw busy(path, wait) }
        } catch {
            lock.release()
            throw error
        }
        lock.release()
        return nil
    }

    /// Releases the lock. Closing the file notifies observers of the change.
    func release() {
        // A child that was forked meanwhile has inherited the lock, and would keep it as long as it runs. If the child
        // itself calls this, it must not take the lock from its parent.
        if forks == keychain_fork_count() { flock(descriptor, LOCK_UN) }
        if children != keychain_child_count() { notifyObservers() }
        close(descriptor)
        PausePoint.lockReleased.reached()
    }

    /// As long as a child also has the descriptor open, closing it here notifies no observer. Opens the same file,
    /// which may have lost its path.
    private func notifyObservers() {
        close(Foundation.open("/proc/self/fd/\(descriptor)", O_RDWR | O_CLOEXEC))
    }

    /// Whether the file is still at its path. If it was removed or replaced, others may hold the lock on the new file.
    func isStill(at path: String) throws(KeychainError) -> Bool {
        try FileIdentity(status) == FileSafety.status(path).map(FileIdentity.init)
    }

    /// Whether nothing was ever written to the file.
    var isEmpty: Bool { status.st_size == 0 }

    /// Opens and closes the file as a writer does, to notify observers; takes no lock.
    ///
    /// - Returns: `false` if it cannot be opened for writing.
    static func touch(_ path: String) -> Bool {
        let descriptor = Foundation.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// - Returns: `nil` if there is no such file.
    private static func open(_ path: String, _ flags: Int32) throws(KeychainError) -> FileLock? {
        let descriptor = Foundation.open(path, flags | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor < 0 else { return FileLock(descriptor: descriptor) }
        let code = errno
        if code == ENOENT { return nil }
        // The file's state may explain the failure better than the system's error.
        if flags & O_DIRECTORY == 0 { _ = try FileSafety.checkFile(path) }
        throw SystemFailure.failure("open", path, code: code)
    }

    private var status: stat {
        var status = stat()
        fstat(descriptor, &status)
        return status
    }

    /// Polls instead of blocking in the kernel: a stopped holder must not block all other programs for ever.
    private func take(_ path: String, _ wait: Wait) throws(KeychainError) {
        var pause: UInt32 = 50
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw SystemFailure.failure("lock", path) }
            if try wait.hasEnded() { throw Self.busy(path, wait) }
            PausePoint.lockWaiting.reached()
            usleep(UInt32.random(in: pause / 2...pause))
            pause = min(pause * 2, 2000)
        }
    }

    static func busy(_ path: String, _ wait: Wait) -> KeychainError {
        guard let holder = LockHolder.find(path) else {
            return KeychainError(
                .busy,
                "Another process has held '\(path)' for \(wait.timeout). To see which, run: fuser '\(path)'. Then try again."
            )
        }
        return KeychainError(.busy, "\(holder) has held '\(path)' for \(wait.timeout). \(holder.advice)")
    }
}
