// SPDX-License-Identifier: Apache-2.0
// One process at a time exchanges items with other machines.

import Foundation
package import KeychainEngine

/// Held until it is released, or until its process ends.
package final class SyncLock: Sendable {
    private let lock: FileLock

    init(_ lock: FileLock) { self.lock = lock }

    deinit { lock.release() }
}

extension Vault {
    /// Waits until no other process exchanges items of this vault. Writing items does not wait for it.
    ///
    /// - Throws: `busy` at the timeout.
    package func lockForSync(_ timeout: Duration) throws(KeychainError) -> SyncLock {
        let path = location.folder + "/sync.lock"
        let wait = FileLock.Wait(timeout)
        while true {
            if let lock = try FileLock.take(path, flags: O_RDWR, wait) { return SyncLock(lock) }
            let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw SystemFailure.failure("create", path) }
            // A strict umask would leave a file that its owner cannot open.
            fchmod(descriptor, 0o600)
            Foundation.close(descriptor)
        }
    }
}
