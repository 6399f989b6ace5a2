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
enum FileLock {
    /// Runs `body` while no other process or thread holds the lock; waits for it at most `timeout`.
    ///
    /// - Throws: `busy` when the time is up.
    static func withLock<Result>(
        _ path: String, flags: Int32, timeout: Duration, _ body: () throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let descriptor = open(path, flags | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            // What lies there may explain it better than the system's word.
            if flags & O_DIRECTORY == 0 { _ = try FileSafety.checkFile(path) }
            throw SystemFailure.failure("open", path, code: code)
        }
        defer {
            close(descriptor)
            PausePoint.lockReleased.reached()
        }
        PausePoint.lockFileOpened.reached()
        try wait(descriptor, path, timeout)
        PausePoint.lockTaken.reached()
        return try body()
    }

    /// Opens and closes the file as a writer does, which is what observers wait for; takes no lock.
    ///
    /// - Returns: `false` if it cannot be opened for writing.
    static func touch(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// Polls instead of blocking in the kernel: a holder that is stopped must not hang every other program for good.
    private static func wait(_ descriptor: Int32, _ path: String, _ timeout: Duration) throws(KeychainError) {
        let deadline = ContinuousClock.now + timeout
        var pause: UInt32 = 50
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw SystemFailure.failure("lock", path) }
            guard ContinuousClock.now < deadline else {
                throw KeychainError(
                    .busy,
                    "Another process has held '\(path)' for \(timeout). See who: fuser '\(path)'. Then try again.")
            }
            PausePoint.lockWaiting.reached()
            usleep(UInt32.random(in: pause / 2...pause))
            pause = min(pause * 2, 2000)
        }
    }
}
