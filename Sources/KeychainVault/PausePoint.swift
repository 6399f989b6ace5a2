// SPDX-License-Identifier: Apache-2.0
// Places at which tests hold a process, to try what others do meanwhile.

import Synchronization

/// A place in the vault's code between two things that others can come between.
///
/// In a release build reaching one does nothing and costs nothing.
package enum PausePoint: String, Sendable, CaseIterable {
    case sessionOpened, keybagLooked
    case lockFileOpened, lockWaiting, lockTaken, lockReleased
    case beforeBegin, begun, beforeCommit, committed
    case beforeTruncation, truncated
    case betweenBatches, keybagRead, keybagWritten
    case beforeCacheStore, beforeCacheRemoval
    case backupCopied, vaultKept, beforeOverwrite

    #if DEBUG
        private static let handler = Mutex<(@Sendable (PausePoint) -> Void)?>(nil)
    #endif

    /// Calls `handler` at each point that is reached from now on, on the thread that reaches it. Debug builds only.
    package static func observe(_ handler: (@Sendable (PausePoint) -> Void)?) {
        #if DEBUG
            Self.handler.withLock { $0 = handler }
        #endif
    }

    @inline(__always)
    func reached() {
        #if DEBUG
            Self.handler.withLock { $0 }?(self)
        #endif
    }
}
