// SPDX-License-Identifier: Apache-2.0
// Places where tests pause a process, to test what other processes do in the meantime.

import SecretMemory

/// A place in the vault's code between two steps, where another process can interfere.
///
/// In a release build it does nothing and costs nothing.
package enum PausePoint: String, Sendable, CaseIterable {
    case databaseMissed, sessionOpened, keybagLooked, examinationOpened, rowsRead
    case lockFileOpened, lockWaiting, lockTaken, lockReleased
    case beforeBegin, begun, beforeCommit, committed
    case beforeTruncation, truncated
    case betweenBatches, keybagRead, keybagWritten
    case beforeCacheStore, beforeCacheRemoval
    case vaultFilled, backupCopied, backupChecked, vaultKept, beforeOverwrite

    #if DEBUG
        /// A bare function stored in a generic type would get one more reabstraction wrapper with each access.
        private struct Handler: Sendable {
            let call: @Sendable (PausePoint) -> Void
        }

        private static let handler = Guarded<Handler?>(nil)
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
