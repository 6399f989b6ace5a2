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
        /// A function that is kept in a generic type by itself would get one more wrapping around it with each access.
        private struct Handler: Sendable {
            let call: @Sendable (PausePoint) -> Void
        }

        private static let handler = Mutex<Handler?>(nil)
    #endif

    /// Calls `handler` at each point that is reached from now on, on the thread that reaches it. Debug builds only.
    package static func observe(_ handler: (@Sendable (PausePoint) -> Void)?) {
        #if DEBUG
            Self.handler.withLock { $0 = handler.map { Handler(call: $0) } }
        #endif
    }

    @inline(__always)
    func reached() {
        #if DEBUG
            Self.handler.withLock { $0 }?.call(self)
        #endif
    }
}
