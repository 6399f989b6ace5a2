// SPDX-License-Identifier: Apache-2.0
// One writer at a time among all processes and threads, with a deadline.

import Foundation
import KeychainEngine
import Synchronization

/// An exclusive `flock` on a file or folder.
///
/// SQLite could arbitrate between writers by itself, but by polling with growing pauses: with eight writing processes
/// the longest wait was twenty times that of a lock file. The lock dies with its process, so it is never stale.
///
/// That a file opened for writing is closed again is also what observers wait for (``VaultWatch``), so it is opened that way
/// and closed only when what was written can be seen.
struct FileLock {
    let descriptor: Int32

    /// How long a lock is waited for.
    struct Wait {
        let timeout: Duration
        let end: ContinuousClock.Instant
        /// Ends the waiting together with the call.
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
    /// - Returns: `nil` if the file was removed or replaced meanwhile: then others may hold the lock of another one.
    /// - Throws: `busy` when the time is up, and what the gate was closed with.
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

    /// Gives the lock up. Closing the file is what tells observers that something was written.
    func release() {
        close(descriptor)
        PausePoint.lockReleased.reached()
    }

    /// Whether the file was neither removed nor replaced since: if it was, others may hold the lock of another one.
    func isStill(at path: String) throws(KeychainError) -> Bool {
        try identity == FileSafety.status(path).map(FileIdentity.init)
    }

    /// Whether nothing was ever written to the file.
    var isEmpty: Bool { status.st_size == 0 }

    /// Opens and closes the file as a writer does, which is what observers wait for; takes no lock.
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
        // What lies there may explain it better than the system's word.
        if flags & O_DIRECTORY == 0 { _ = try FileSafety.checkFile(path) }
        throw SystemFailure.failure("open", path, code: code)
    }

    private var status: stat {
        var status = stat()
        fstat(descriptor, &status)
        return status
    }

    private var identity: FileIdentity? { FileIdentity(status) }

    /// Polls instead of blocking in the kernel: a holder that is stopped must not hang every other program for good.
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

    private static func busy(_ path: String, _ wait: Wait) -> KeychainError {
        guard let holder = LockHolder.find(path) else {
            return KeychainError(
                .busy,
                "Another process has held '\(path)' for \(wait.timeout). See who: fuser '\(path)'. Then try again.")
        }
        return KeychainError(.busy, "\(holder) has held '\(path)' for \(wait.timeout). \(holder.advice)")
    }
}
